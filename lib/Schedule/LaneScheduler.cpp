#include "lib/Schedule/LaneScheduler.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/ThreadCost.h"
#include "mlir/IR/Builders.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

void LaneScheduler::add(CommandOpInterface command, unsigned group, double seconds, double busySeconds) {
  Task &task = tasks.emplace_back();
  task.command = command;
  task.group = group;
  task.seconds = seconds;
  task.busySeconds = busySeconds;
}

// What one command reads of what another one writes.
static double bytesFetched(const order::Schedule &schedule, const order::Command &reader,
                           const order::Command &writer) {
  auto accessesOf = [&](const order::Command &command) {
    return ArrayRef(schedule.accesses).slice(command.firstAccess, command.accessCount);
  };
  double bytes = 0;
  for (const order::Access &read : accessesOf(reader))
    for (const order::Access &written : accessesOf(writer)) {
      const order::Region &a = schedule.regions[read.region], &b = schedule.regions[written.region];
      if (read.writes || !written.writes || a.space != b.space) continue;
      uint64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
      if (begin < end) bytes += double(end - begin);
    }
  return bytes;
}

void LaneScheduler::depend(const order::Schedule &schedule, ArrayRef<uint32_t> order) {
  for (auto [task, index, before] : llvm::zip_equal(tasks, order, dependences(schedule, order))) {
    for (unsigned earlier : before)
      task.fetched.push_back(bytesFetched(schedule, schedule.commands[index], schedule.commands[order[earlier]]));
    task.before = std::move(before);
  }
}

/// Seconds from an event to the lane that waits for it and has what it reads. What crosses devices has been copied.
double LaneScheduler::handOff(const Task &from, const Task &to, double bytes) const {
  const machine::MachineModel &own = *groups[to.group].machine;
  return from.group == to.group ? own.laneHandOff(bytes) : std::max(groups[from.group].machine->handOff, own.handOff);
}

// Backwards: the commands are in an order in which they can run.
void LaneScheduler::rankTasks() {
  for (Task &task : llvm::reverse(tasks)) {
    task.rank += task.seconds;
    for (auto [earlier, bytes] : llvm::zip_equal(task.before, task.fetched))
      tasks[earlier].rank = std::max(tasks[earlier].rank, handOff(tasks[earlier], task, bytes) + task.rank);
  }
}

// A command's rank is never below that of one that waits for it; of equal ones the earlier comes first.
SmallVector<unsigned> LaneScheduler::byRank() const {
  SmallVector<unsigned> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return tasks[a].rank > tasks[b].rank; });
  return order;
}

double LaneScheduler::startOn(const Task &task, unsigned lane) const {
  double start = sequences[lane].empty() ? 0 : tasks[sequences[lane].back()].end;
  for (auto [earlier, bytes] : llvm::zip_equal(task.before, task.fetched))
    start =
        std::max(start, tasks[earlier].end + (tasks[earlier].lane == lane ? 0 : handOff(tasks[earlier], task, bytes)));
  return start;
}

void LaneScheduler::assign() {
  rankTasks();
  for (unsigned index : byRank()) {
    Task &task = tasks[index];
    unsigned first = firsts[task.group];
    task.lane = first;
    double earliest = startOn(task, first);
    for (unsigned lane = first + 1; lane < first + groups[task.group].lanes; ++lane)
      if (double start = startOn(task, lane); start < earliest) {
        earliest = start;
        task.lane = lane;
      }
    task.end = earliest + task.seconds;
    task.index = sequences[task.lane].size();
    sequences[task.lane].push_back(index);
  }
}

double LaneScheduler::secondsAsGiven() const {
  DenseMap<unsigned, double> laneEnds;
  SmallVector<double> ends;
  double last = 0;
  for (const Task &task : tasks) {
    double start = laneEnds.lookup(task.group);
    for (auto [earlier, bytes] : llvm::zip_equal(task.before, task.fetched)) {
      bool sameLane = tasks[earlier].group == task.group;
      start = std::max(start, ends[earlier] + (sameLane ? 0 : handOff(tasks[earlier], task, bytes)));
    }
    ends.push_back(laneEnds[task.group] = start + task.seconds);
    last = std::max(last, ends.back());
  }
  return last;
}

double LaneScheduler::seconds() const {
  double end = 0;
  // Side by side, commands get no more than there is of a device.
  SmallVector<double> busy(groups.size());
  for (const Task &task : tasks) {
    const LaneGroup &group = groups[task.group];
    if (unsigned units = group.machine->lanesShareDevice() ? 1 : group.threads)
      end = std::max(end, (busy[task.group] += task.busySeconds) / units);
  }
  for (auto [lane, sequence] : llvm::enumerate(sequences)) {
    if (sequence.empty()) continue;
    unsigned group = tasks[sequence.front()].group;
    // The thread of a lane that was not given learns of the call, and the caller of its end. What the caller's arrays
    // hold is not counted: nobody knows whose cache it is in.
    const machine::MachineModel &own = *groups[group].machine;
    double handOff = 0;
    if (lane != firsts[group]) handOff = own.lanesShareDevice() ? 2 * own.laneHandOff(0) : secondsOfHandOff(0, 0, own);
    end = std::max(end, tasks[sequence.back()].end + handOff);
  }
  return end;
}

unsigned LaneScheduler::usedLanes() const {
  return llvm::count_if(sequences, [](const auto &sequence) { return !sequence.empty(); });
}

unsigned LaneScheduler::emit() {
  SmallVector<LaneOp> all(sequences.size());
  for (auto [first, group] : llvm::zip_equal(firsts, groups)) {
    LaneOp lane = group.given;
    for (Operation &op : llvm::make_early_inc_range(lane.getBody().front()))
      if (cast<CommandOpInterface>(op).isEvent()) op.erase();
    OpBuilder b(lane.getContext());
    b.setInsertionPointAfter(lane);
    all[first] = lane;
    for (unsigned i = 1; i < group.lanes; ++i) {
      if (sequences[first + i].empty()) continue;
      LaneOp more = LaneOp::create(b, lane.getLoc(), lane.getDeviceAttr());
      more.getBody().emplaceBlock();
      all[first + i] = more;
    }
  }
  for (auto [lane, sequence] : llvm::zip_equal(all, sequences))
    for (unsigned index : sequence)
      tasks[index].command->moveBefore(&lane.getBody().front(), lane.getBody().front().end());
  DenseMap<unsigned, int64_t> events; // of tasks that others wait for
  placeEvents(all, events);
  return events.size();
}

// In an order in which they can run: what each knows of the others' lanes, so that it waits for what is new alone.
void LaneScheduler::placeEvents(ArrayRef<LaneOp> all, DenseMap<unsigned, int64_t> &events) {
  SmallVector<SmallVector<unsigned>> known(tasks.size()); // commands of each lane that are over after the task
  for (unsigned index : byRank()) {
    Task &task = tasks[index];
    OpBuilder b(task.command);
    SmallVector<unsigned> &mine = known[index];
    mine = task.index ? known[sequences[task.lane][task.index - 1]] : SmallVector<unsigned>(all.size(), 0);
    SmallVector<unsigned> others(task.before);
    // The latest first: it may bring the others.
    llvm::stable_sort(others, [&](unsigned a, unsigned c) { return tasks[a].end > tasks[c].end; });
    for (unsigned other : others) {
      const Task &earlier = tasks[other];
      if (earlier.lane == task.lane || mine[earlier.lane] > earlier.index) continue;
      auto [event, fresh] = events.try_emplace(other, int64_t(events.size()));
      if (fresh) {
        b.setInsertionPointAfter(earlier.command);
        RecordOp::create(b, earlier.command->getLoc(), event->second);
      }
      b.setInsertionPoint(task.command);
      WaitOp::create(b, task.command->getLoc(), event->second);
      for (auto [seen, fromThere] : llvm::zip_equal(mine, known[other])) seen = std::max(seen, fromThere);
    }
    mine[task.lane] = task.index + 1;
  }
}
