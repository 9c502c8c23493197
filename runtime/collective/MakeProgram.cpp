// The programs of all algorithms. A writer appends the steps of one rank; what is made of several (a star is a
// reduction and a broadcast) is appended one after the other.
#include "runtime/collective/Collective.h"

#include <algorithm>
#include <numeric>

namespace sprig::rt::collective {
namespace {

// Pieces that travel together, as a ring or a root sees them: number i of them.
struct Pieces {
  uint32_t first = 0, each = 1;
  uint32_t begin(int i) const { return first + uint32_t(i) * each; }
};

class Writer {
public:
  Writer(const Plan &plan, Program &program) : plan(plan), program(program), rank(program.rank), ranks(plan.ranks) {}

  void write();

private:
  void step(Step::Kind kind, int peer, uint32_t piece, uint32_t count, uint8_t lane = 0) {
    program.steps.push_back({kind, lane, peer, piece, count});
  }
  void all(Step::Kind kind, int peer) { step(kind, peer, 0, program.pieces); }

  void reduceToRoot();
  void broadcastFromRoot();
  void scatterSplit();
  void gatherSplit();
  void chainToRoot();
  void chainFromRoot();
  void exchange();
  void ringsOf(const std::vector<std::vector<int>> &rings);
  void hierarchy();
  void reduceAround(const std::vector<int> &ring, Pieces pieces, int shift, uint8_t lane);
  void gatherAround(const std::vector<int> &ring, Pieces pieces, int shift, uint8_t lane);
  void interleave(size_t begin, uint8_t lanes);
  std::vector<int> inOrder() const {
    std::vector<int> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  const Plan &plan;
  Program &program;
  int rank, ranks;
};

int wrap(int number, int count) { return ((number % count) + count) % count; }

// To the root and from it: by the star one rank after the other, so the root adds them up in order, by the tree in
// rounds. In round k ranks that are an odd multiple of 2^k from the root send to the even one before.
void Writer::reduceToRoot() {
  int place = wrap(rank - plan.root, ranks);
  auto at = [&](int other) { return wrap(other + plan.root, ranks); };
  if (plan.algorithm == Algorithm::star) {
    if (place) return all(Step::Kind::send, plan.root);
    for (int other = 1; other < ranks; ++other) all(Step::Kind::reduce, at(other));
  } else {
    for (int64_t far = 1; far < ranks; far *= 2) {
      if (place % (2 * far)) return all(Step::Kind::send, at(int(place - far)));
      if (place + far < ranks) all(Step::Kind::reduce, at(int(place + far)));
    }
  }
  all(Step::Kind::finish, -1);
}

void Writer::broadcastFromRoot() {
  int place = wrap(rank - plan.root, ranks);
  auto at = [&](int other) { return wrap(other + plan.root, ranks); };
  if (plan.algorithm == Algorithm::star) {
    if (place) return all(Step::Kind::receive, plan.root);
    for (int other = 1; other < ranks; ++other) all(Step::Kind::send, at(other));
    return;
  }
  int64_t far = 1;
  while (far < ranks) far *= 2;
  for (; far; far /= 2) {
    if (place % (2 * far) == far) all(Step::Kind::receive, at(int(place - far)));
    if (place % (2 * far) == 0 && place + far < ranks) all(Step::Kind::send, at(int(place + far)));
  }
}

// Piece i is rank i's. In each round every rank sends to another one, so nobody is waited for by all.
void Writer::scatterSplit() {
  for (int far = 1; far < ranks; ++far) {
    int to = wrap(rank + far, ranks);
    step(Step::Kind::send, to, uint32_t(to), 1);
  }
  for (int far = 1; far < ranks; ++far) step(Step::Kind::reduce, wrap(rank - far, ranks), uint32_t(rank), 1);
  step(Step::Kind::finish, -1, uint32_t(rank), 1);
}

void Writer::gatherSplit() {
  for (int far = 1; far < ranks; ++far) step(Step::Kind::send, wrap(rank + far, ranks), uint32_t(rank), 1);
  for (int far = 1; far < ranks; ++far) {
    int from = wrap(rank - far, ranks);
    step(Step::Kind::receive, from, uint32_t(from), 1);
  }
}

// A chain that ends at the root, or begins there: piece by piece, so that all links carry at once.
void Writer::chainToRoot() {
  int place = wrap(rank - plan.root, ranks);
  for (uint32_t piece = 0; piece < program.pieces; ++piece) {
    if (place + 1 < ranks) step(Step::Kind::reduce, wrap(rank + 1, ranks), piece, 1);
    if (place) step(Step::Kind::send, wrap(rank - 1, ranks), piece, 1);
  }
  if (!place) all(Step::Kind::finish, -1);
}

void Writer::chainFromRoot() {
  int place = wrap(rank - plan.root, ranks);
  for (uint32_t piece = 0; piece < program.pieces; ++piece) {
    if (place) step(Step::Kind::receive, wrap(rank - 1, ranks), piece, 1);
    if (place + 1 < ranks) step(Step::Kind::send, wrap(rank + 1, ranks), piece, 1);
  }
}

void Writer::exchange() {
  program.isApart = true;
  step(Step::Kind::keep, -1, uint32_t(rank), 1);
  for (int far = 1; far < ranks; ++far) {
    int to = wrap(rank + far, ranks), from = wrap(rank - far, ranks);
    step(Step::Kind::send, to, uint32_t(to), 1);
    step(Step::Kind::receive, from, uint32_t(from), 1);
  }
}

// Place p of the ring begins with pieces p - shift and ends with the sum of pieces p - shift + 1.
void Writer::reduceAround(const std::vector<int> &ring, Pieces pieces, int shift, uint8_t lane) {
  int count = int(ring.size()), place = int(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  int next = ring[size_t(wrap(place + 1, count))], before = ring[size_t(wrap(place - 1, count))];
  for (int round = 0; round + 1 < count; ++round) {
    step(Step::Kind::send, next, pieces.begin(wrap(place - shift - round, count)), pieces.each, lane);
    step(Step::Kind::reduce, before, pieces.begin(wrap(place - shift - round - 1, count)), pieces.each, lane);
  }
}

// Place p begins with pieces p - shift.
void Writer::gatherAround(const std::vector<int> &ring, Pieces pieces, int shift, uint8_t lane) {
  int count = int(ring.size()), place = int(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  int next = ring[size_t(wrap(place + 1, count))], before = ring[size_t(wrap(place - 1, count))];
  for (int round = 0; round + 1 < count; ++round) {
    step(Step::Kind::send, next, pieces.begin(wrap(place - shift - round, count)), pieces.each, lane);
    step(Step::Kind::receive, before, pieces.begin(wrap(place - shift - round - 1, count)), pieces.each, lane);
  }
}

// Steps from `begin` on are lanes of equal length, one after the other; takes them in turn, so that one thread that
// runs them in their order has all lanes under way.
void Writer::interleave(size_t begin, uint8_t lanes) {
  std::vector<Step> apart(program.steps.begin() + int64_t(begin), program.steps.end());
  size_t length = apart.size() / lanes;
  for (size_t i = 0; i < apart.size(); ++i) program.steps[begin + i] = apart[i % lanes * length + i / lanes];
}

// Each ring has as many pieces as there are ranks.
void Writer::ringsOf(const std::vector<std::vector<int>> &rings) {
  program.lanes = uint8_t(rings.size());
  for (size_t i = 0; i < rings.size(); ++i) {
    const std::vector<int> &ring = rings[i];
    Pieces pieces{uint32_t(i) * uint32_t(ranks), 1};
    int place = int(std::find(ring.begin(), ring.end(), rank) - ring.begin());
    reduceAround(ring, pieces, 0, uint8_t(i));
    step(Step::Kind::finish, -1, pieces.begin(wrap(place + 1, ranks)), 1, uint8_t(i));
    gatherAround(ring, pieces, -1, uint8_t(i));
  }
  interleave(0, program.lanes);
}

void Writer::hierarchy() {
  int here = plan.perMachine, machines = ranks / here, machine = rank / here, place = rank % here;
  std::vector<int> neighbours, partners;
  for (int i = 0; i < here; ++i) neighbours.push_back(machine * here + i);
  for (int i = 0; i < machines; ++i) partners.push_back(i * here + place);
  Pieces ofMachine{0, uint32_t(machines)};
  reduceAround(neighbours, ofMachine, 0, 0);
  Pieces ofPlace{ofMachine.begin(wrap(place + 1, here)), 1};
  reduceAround(partners, ofPlace, 0, 0);
  step(Step::Kind::finish, -1, ofPlace.begin(wrap(machine + 1, machines)), 1);
  gatherAround(partners, ofPlace, -1, 0);
  gatherAround(neighbours, ofMachine, -1, 0);
}

void Writer::write() {
  bool isSplit = plan.algorithm == Algorithm::split, isRing = plan.algorithm == Algorithm::ring;
  std::vector<int> order = inOrder();
  program.pieces = uint32_t(ranks);
  switch (plan.kind) {
  case Kind::allReduce:
    switch (plan.algorithm) {
    case Algorithm::star:
    case Algorithm::tree:
      program.pieces = 1;
      reduceToRoot();
      return broadcastFromRoot();
    case Algorithm::split: scatterSplit(); return gatherSplit();
    case Algorithm::ring: return ringsOf({order});
    case Algorithm::bidirectional:
      program.pieces = 2 * uint32_t(ranks);
      return ringsOf({order, {order.rbegin(), order.rend()}});
    case Algorithm::rings: program.pieces = uint32_t(plan.rings.size()) * uint32_t(ranks); return ringsOf(plan.rings);
    case Algorithm::hierarchy: return hierarchy();
    }
    return;
  case Kind::reduceScatter:
    if (isSplit) return scatterSplit();
    reduceAround(order, {}, 1, 0);
    return step(Step::Kind::finish, -1, uint32_t(rank), 1);
  case Kind::allGather: return isSplit ? gatherSplit() : gatherAround(order, {}, 0, 0);
  case Kind::broadcast:
    if (isRing) return chainFromRoot();
    program.pieces = 1;
    return broadcastFromRoot();
  case Kind::reduce:
    if (isRing) return chainToRoot();
    program.pieces = 1;
    return reduceToRoot();
  case Kind::gather:
    if (rank != plan.root) return step(Step::Kind::send, plan.root, uint32_t(rank), 1);
    for (int far = 1; far < ranks; ++far) {
      int from = wrap(rank + far, ranks);
      step(Step::Kind::receive, from, uint32_t(from), 1);
    }
    return;
  case Kind::scatter:
    if (rank != plan.root) return step(Step::Kind::receive, plan.root, uint32_t(rank), 1);
    for (int far = 1; far < ranks; ++far) {
      int to = wrap(rank + far, ranks);
      step(Step::Kind::send, to, uint32_t(to), 1);
    }
    return;
  case Kind::allToAll: return exchange();
  case Kind::part: return;
  case Kind::barrier:
    program.pieces = 0;
    reduceToRoot();
    program.steps.erase(std::remove_if(program.steps.begin(), program.steps.end(),
                                       [](const Step &step) { return step.kind == Step::Kind::finish; }),
                        program.steps.end());
    return broadcastFromRoot();
  }
}

constexpr size_t kMostRings = 16; // lanes are numbered by bytes, and more than a node has links is nonsense

std::string wrongWith(const Plan &plan, int rank) {
  auto text = [](int64_t number) { return std::to_string(number); };
  if (plan.ranks < 1) return "expected at least one rank, found " + text(plan.ranks);
  if (rank < 0 || rank >= plan.ranks) return "rank " + text(rank) + " is none of " + text(plan.ranks);
  if (plan.root < 0 || plan.root >= plan.ranks) return "root " + text(plan.root) + " is no rank of " + text(plan.ranks);
  if (!does(plan.algorithm, plan.kind))
    return std::string(nameOf(plan.kind)) + " has no algorithm '" + std::string(nameOf(plan.algorithm)) +
           "'; it has: " + algorithmsOf(plan.kind);
  if (plan.algorithm == Algorithm::hierarchy && (plan.perMachine < 1 || plan.ranks % plan.perMachine))
    return text(plan.ranks) + " ranks are no whole number of machines with " + text(plan.perMachine) + " each";
  if (plan.algorithm != Algorithm::rings) return "";
  if (plan.rings.empty() || plan.rings.size() > kMostRings)
    return "expected 1 to " + text(kMostRings) + " rings, found " + text(int64_t(plan.rings.size()));
  for (const std::vector<int> &ring : plan.rings) {
    std::vector<int> sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    bool isWhole = int(sorted.size()) == plan.ranks;
    for (int i = 0; isWhole && i < plan.ranks; ++i) isWhole = sorted[size_t(i)] == i;
    if (!isWhole) return "a ring has to have each of the " + text(plan.ranks) + " ranks once";
  }
  return "";
}

} // namespace

bool makeProgram(const Plan &plan, int rank, Program &program, std::string &why) {
  why = wrongWith(plan, rank);
  if (!why.empty()) return false;
  program = {};
  program.rank = rank;
  Writer(plan, program).write();
  return true;
}

} // namespace sprig::rt::collective
