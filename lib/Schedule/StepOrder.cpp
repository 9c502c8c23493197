#include "lib/Schedule/StepOrder.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>

using namespace llvm;

namespace sprig {

/// Collectives that no other one of their repetition needs a result of.
static SmallVector<bool> findLate(ArrayRef<StepCommand> commands) {
  SmallVector<bool> feeds(commands.size(), false), late(commands.size(), false);
  for (unsigned index = unsigned(commands.size()); index-- > 0;) {
    const StepCommand &command = commands[index];
    late[index] = command.isCollective && !feeds[index];
    if (!command.isCollective && !feeds[index]) continue;
    for (unsigned earlier : command.before) feeds[earlier] |= commands[earlier].step == command.step;
  }
  return late;
}

/// One repetition after the other, each with its late collectives behind the first `turn` in the reverse order.
static SmallVector<unsigned> turnedCollectives(ArrayRef<StepCommand> commands, ArrayRef<bool> late, uint64_t turn) {
  SmallVector<SmallVector<unsigned>> steps;
  for (auto [index, command] : enumerate(commands)) {
    if (index == 0 || commands[index - 1].step != command.step) steps.emplace_back();
    if (command.isCollective) steps.back().push_back(unsigned(index));
  }
  SmallVector<unsigned> order;
  for (ArrayRef<unsigned> own : steps) {
    auto mayTurn = [&](unsigned i) {
      const StepCommand &command = commands[own[i]];
      return late[own[i]] && command.mayTurn && command.step != commands.back().step;
    };
    for (unsigned i : ir::dist::turnedOrder(unsigned(own.size()), mayTurn, turn)) order.push_back(own[i]);
  }
  return order;
}

SmallVector<unsigned> collectiveOrder(ArrayRef<StepCommand> commands, uint64_t turn) {
  SmallVector<bool> late = findLate(commands);
  SmallVector<unsigned> turned = turnedCollectives(commands, late, turn), queue; // queue: the late ones of it
  SmallVector<size_t> place(commands.size(), 0); // of late ones in the queue, counted from 1
  for (unsigned index : turned)
    if (late[index]) {
      queue.push_back(index);
      place[index] = queue.size();
    }
  // How far the queue has to be through before a command.
  SmallVector<size_t> needs(commands.size(), 0);
  for (auto [index, command] : enumerate(commands))
    for (unsigned earlier : command.before) needs[index] = std::max({needs[index], needs[earlier], place[earlier]});
  SmallVector<unsigned> order;
  size_t through = 0, ofThisStep = 0; // the latter: as far as the queue has this repetition's before the prompt one
  auto goTo = [&](size_t end) {
    for (; through < end; ++through) order.push_back(queue[through]);
  };
  for (unsigned index : turned) {
    if (late[index]) {
      ofThisStep = place[index];
      continue;
    }
    bool isBehindOwn = ofThisStep && commands[queue[ofThisStep - 1]].step == commands[index].step;
    goTo(std::max(needs[index], isBehindOwn ? ofThisStep : 0));
    // One may travel while what this one is made of is computed.
    if (through < ofThisStep && commands[queue[through]].step < commands[index].step) goTo(through + 1);
    order.push_back(index);
  }
  goTo(queue.size());
  return order;
}

namespace {
/// A play of the commands: one lane that computes, one for late collectives.
class Play {
public:
  Play(ArrayRef<StepCommand> commands, ArrayRef<unsigned> collectives, double handOff)
      : commands(commands), collectives(collectives), handOff(handOff), late(findLate(commands)),
        waitsFor(commands.size(), 0), ends(commands.size(), 0), later(commands.size()) {
    for (auto [index, command] : enumerate(commands)) {
      waitsFor[index] = unsigned(command.before.size());
      for (unsigned earlier : command.before) later[earlier].push_back(unsigned(index));
      if (command.before.empty() && !command.isCollective) ready.push_back(unsigned(index));
    }
  }

  SmallVector<unsigned> run() {
    while (order.size() < commands.size()) {
      if (mayGo() && late[collectives[next]])
        travel(collectives[next]);
      else
        compute();
    }
    return std::move(order);
  }

private:
  bool mayGo() const { return next < collectives.size() && waitsFor[collectives[next]] == 0; }

  /// When all that it needs is there.
  double readyAt(unsigned index) const {
    double at = 0;
    for (unsigned earlier : commands[index].before)
      at = std::max(at, ends[earlier] + (late[earlier] != late[index] ? handOff : 0));
    return at;
  }

  void take(unsigned index, double end) {
    ends[index] = end;
    order.push_back(index);
    for (unsigned follower : later[index])
      if (--waitsFor[follower] == 0 && !commands[follower].isCollective) ready.push_back(follower);
  }

  void travel(unsigned index) {
    ++next;
    laneFree = std::max(laneFree, readyAt(index)) + commands[index].seconds;
    take(index, laneFree);
  }

  // A collective that something waits for at once holds up the lane.
  void compute() {
    SmallVector<unsigned> candidates(ready);
    if (mayGo()) candidates.push_back(collectives[next]);
    assert(!candidates.empty() && "collectives are in an order that dependences allow");
    auto startOf = [&](unsigned index) {
      return std::max({now, readyAt(index), commands[index].isCollective ? laneFree : 0});
    };
    unsigned chosen = *std::min_element(candidates.begin(), candidates.end(), [&](unsigned a, unsigned b) {
      return std::pair(startOf(a), a) < std::pair(startOf(b), b);
    });
    now = startOf(chosen) + commands[chosen].seconds;
    if (commands[chosen].isCollective) {
      ++next;
      laneFree = now;
    } else {
      erase(ready, chosen);
    }
    take(chosen, now);
  }

  ArrayRef<StepCommand> commands;
  ArrayRef<unsigned> collectives;
  double handOff;
  SmallVector<bool> late;
  SmallVector<unsigned> waitsFor;
  SmallVector<double> ends;
  SmallVector<SmallVector<unsigned>> later;
  SmallVector<unsigned> ready, order; // ready: of those that compute
  size_t next = 0;                    // of the collectives
  double now = 0, laneFree = 0;
};
} // namespace

SmallVector<unsigned> stepOrder(ArrayRef<StepCommand> commands, ArrayRef<unsigned> collectives, double handOff) {
  return Play(commands, collectives, handOff).run();
}

} // namespace sprig
