#include "runtime/collective/Play.h"

#include <algorithm>
#include <deque>
#include <map>

namespace sprig::rt::collective {
namespace {

struct Message {
  uint32_t piece, count;
  uint64_t round;
  std::vector<std::string> values;
  size_t sender, number; // which of its messages
};

// Ranks run in turn, each as far as it comes. A rank that overwrites pieces which it has sent waits until they have
// been taken, as one does that hands out its own memory.
class Player {
public:
  explicit Player(const std::vector<Program> &programs) : programs(programs), ranks(programs.size()) {
    result.holds.resize(ranks);
    result.messages.assign(ranks, 0);
    result.piecesSent.assign(ranks, 0);
    inputs.resize(ranks);
    for (size_t rank = 0; rank < ranks; ++rank) {
      const Program &program = programs[rank];
      std::string name = "x" + std::to_string(rank);
      for (uint32_t piece = 0; piece < program.pieces; ++piece)
        inputs[rank].push_back(program.isApart ? name + "." + std::to_string(piece) : name);
      result.holds[rank] = program.isApart ? std::vector<std::string>(program.pieces, "?") : inputs[rank];
    }
    at.assign(ranks, 0);
    taken.resize(ranks);
    clocks.resize(ranks);
    for (size_t rank = 0; rank < ranks; ++rank) clocks[rank].assign(programs[rank].lanes, 0);
  }

  Played run() {
    for (bool moved = true; moved && result.wrong.empty();) {
      moved = false;
      for (size_t rank = 0; rank < ranks; ++rank)
        while (result.wrong.empty() && advance(rank)) moved = true;
    }
    if (result.wrong.empty()) checkEnd();
    return std::move(result);
  }

private:
  std::string placeOf(size_t rank) const {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(at[rank]);
  }
  bool fail(size_t rank, const std::string &what) {
    result.wrong = placeOf(rank) + ": " + what;
    return false;
  }

  // Whether these pieces of the rank are in a message that nobody has taken.
  bool isOnItsWay(size_t rank, const Step &step) const {
    if (programs[rank].isApart) return false;
    for (const Sent &sent : taken[rank])
      if (!sent.isTaken && sent.piece < step.piece + step.count && step.piece < sent.piece + sent.count) return true;
    return false;
  }

  // False where the rank has to wait, or has ended.
  bool advance(size_t rank) {
    const Program &program = programs[rank];
    if (at[rank] == program.steps.size()) return false;
    const Step &step = program.steps[at[rank]];
    if (step.lane >= program.lanes) return fail(rank, "there is no lane " + std::to_string(step.lane));
    if (uint64_t(step.piece) + step.count > program.pieces)
      return fail(rank, "there is no piece " + std::to_string(step.piece + step.count - 1));
    std::vector<std::string> &holds = result.holds[rank];
    uint64_t &clock = clocks[rank][step.lane];
    bool isLocal = step.kind == Step::Kind::finish || step.kind == Step::Kind::keep;
    if (!isLocal && (step.peer < 0 || size_t(step.peer) >= ranks || size_t(step.peer) == rank))
      return fail(rank, "its peer " + std::to_string(step.peer) + " is no other rank");
    if (step.kind != Step::Kind::send && isOnItsWay(rank, step)) return false;
    switch (step.kind) {
    case Step::Kind::send: {
      const std::vector<std::string> &from = program.isApart ? inputs[rank] : holds;
      channels[{rank, size_t(step.peer)}].push_back(
          {step.piece,
           step.count,
           ++clock,
           {from.begin() + step.piece, from.begin() + step.piece + step.count},
           rank,
           taken[rank].size()});
      taken[rank].push_back({step.piece, step.count, false});
      ++result.messages[rank];
      result.piecesSent[rank] += step.count;
      result.rounds = std::max(result.rounds, clock);
      break;
    }
    case Step::Kind::receive:
    case Step::Kind::reduce: {
      std::deque<Message> &channel = channels[{size_t(step.peer), rank}];
      if (channel.empty()) return false;
      Message message = std::move(channel.front());
      channel.pop_front();
      if (message.count != step.count || (!program.isApart && message.piece != step.piece))
        return fail(rank, "awaits pieces " + std::to_string(step.piece) + " to " +
                              std::to_string(step.piece + step.count) + ", rank " + std::to_string(step.peer) +
                              " sends " + std::to_string(message.piece) + " to " +
                              std::to_string(message.piece + message.count));
      taken[message.sender][message.number].isTaken = true;
      clock = std::max(clock, message.round);
      for (uint32_t i = 0; i < step.count; ++i) {
        std::string &piece = holds[step.piece + i];
        piece = step.kind == Step::Kind::receive ? message.values[i] : "(" + message.values[i] + "+" + piece + ")";
      }
      break;
    }
    case Step::Kind::finish:
      for (uint32_t i = 0; i < step.count; ++i) holds[step.piece + i] = "mean" + holds[step.piece + i];
      break;
    case Step::Kind::keep:
      for (uint32_t i = 0; i < step.count; ++i) holds[step.piece + i] = inputs[rank][step.piece + i];
      break;
    }
    ++at[rank];
    return true;
  }

  void checkEnd() {
    for (size_t rank = 0; rank < ranks; ++rank)
      if (at[rank] < programs[rank].steps.size()) {
        const Step &step = programs[rank].steps[at[rank]];
        fail(rank, "waits forever " + std::string(step.kind == Step::Kind::send ? "to send to" : "for") + " rank " +
                       std::to_string(step.peer));
        return;
      }
    for (const auto &[pair, channel] : channels)
      if (!channel.empty()) {
        result.wrong = "rank " + std::to_string(pair.second) + " never takes what rank " + std::to_string(pair.first) +
                       " has sent it";
        return;
      }
  }

  struct Sent {
    uint32_t piece, count;
    bool isTaken;
  };
  const std::vector<Program> &programs;
  size_t ranks;
  Played result;
  std::vector<std::vector<std::string>> inputs;
  std::vector<size_t> at;
  std::vector<std::vector<Sent>> taken;
  std::vector<std::vector<uint64_t>> clocks;
  std::map<std::pair<size_t, size_t>, std::deque<Message>> channels;
};

// Whether the text names each of the ranks once, and nothing else.
bool addsEachOnce(const std::string &text, int ranks) {
  std::vector<int> seen(size_t(ranks), 0);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != 'x') continue;
    size_t number = 0, digits = 0;
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, ++digits)
      number = number * 10 + size_t(text[i] - '0');
    if (!digits || number >= size_t(ranks) || seen[number]++) return false;
  }
  return std::count(seen.begin(), seen.end(), 1) == ranks;
}

} // namespace

Played play(const std::vector<Program> &programs) { return Player(programs).run(); }

std::string wrongWith(const Plan &plan, const Played &played) {
  if (!played.wrong.empty()) return played.wrong;
  size_t ranks = size_t(plan.ranks), root = size_t(plan.root);
  // Of a sum the first one that should hold it, by piece.
  std::vector<std::string> sums;
  for (size_t rank = 0; rank < ranks; ++rank)
    for (size_t piece = 0; piece < played.holds[rank].size(); ++piece) {
      const std::string &holds = played.holds[rank][piece];
      bool isOwn = piece == rank, isSum = false;
      std::string expected;
      switch (plan.kind) {
      case Kind::allReduce: isSum = true; break;
      case Kind::reduceScatter:
        if (!isOwn) continue;
        isSum = true;
        break;
      case Kind::reduce:
        if (rank != root) continue;
        isSum = true;
        break;
      case Kind::allGather: expected = "x" + std::to_string(piece); break;
      case Kind::broadcast: expected = "x" + std::to_string(root); break;
      case Kind::gather:
        if (rank != root) continue;
        expected = "x" + std::to_string(piece);
        break;
      case Kind::scatter:
        if (!isOwn) continue;
        expected = "x" + std::to_string(root);
        break;
      case Kind::allToAll: expected = "x" + std::to_string(piece) + "." + std::to_string(rank); break;
      case Kind::part:
      case Kind::barrier: continue;
      }
      sums.resize(std::max(sums.size(), piece + 1));
      if (isSum) {
        bool isWhole = holds.starts_with("mean") && !holds.starts_with("meanmean") && addsEachOnce(holds, plan.ranks);
        if (isWhole && sums[piece].empty()) sums[piece] = holds;
        expected = isWhole ? sums[piece] : "a sum of all ranks, finished once";
      }
      if (holds != expected)
        return "rank " + std::to_string(rank) + ", piece " + std::to_string(piece) + " is " + holds + ", expected " +
               expected;
    }
  return "";
}

} // namespace sprig::rt::collective
