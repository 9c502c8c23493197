// Names of collectives and of algorithms, pieces of buffers, and which algorithm does what.
#include "runtime/collective/Collective.h"

#include <algorithm>
#include <initializer_list>

namespace sprig::rt::collective {
namespace {

constexpr std::string_view kKinds[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
                                       "gather",     "scatter",        "all_to_all", "barrier",   "part"};
constexpr std::string_view kAlgorithms[] = {"star", "split", "tree", "ring", "bidirectional", "rings", "hierarchy"};

constexpr unsigned bits(std::initializer_list<Algorithm> algorithms) {
  unsigned set = 0;
  for (Algorithm algorithm : algorithms) set |= 1u << unsigned(algorithm);
  return set;
}

// By Kind.
constexpr unsigned kDone[] = {
    bits({Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional,
          Algorithm::rings, Algorithm::hierarchy}),
    bits({Algorithm::split, Algorithm::ring}),                 // reduceScatter
    bits({Algorithm::split, Algorithm::ring}),                 // allGather
    bits({Algorithm::star, Algorithm::tree, Algorithm::ring}), // broadcast
    bits({Algorithm::star, Algorithm::tree, Algorithm::ring}), // reduce
    bits({Algorithm::star}),                                   // gather
    bits({Algorithm::star}),                                   // scatter
    bits({Algorithm::split}),                                  // allToAll
    bits({Algorithm::tree}),                                   // barrier
    bits({Algorithm::split}),                                  // part
};

} // namespace

std::string_view nameOf(Kind kind) { return kKinds[size_t(kind)]; }
std::string_view nameOf(Algorithm algorithm) { return kAlgorithms[size_t(algorithm)]; }

bool findAlgorithm(std::string_view name, Algorithm &algorithm) {
  auto found = std::find(std::begin(kAlgorithms), std::end(kAlgorithms), name);
  if (found == std::end(kAlgorithms)) return false;
  algorithm = Algorithm(found - std::begin(kAlgorithms));
  return true;
}

Form formOf(Kind kind) {
  switch (kind) {
  case Kind::reduceScatter:
  case Kind::scatter:
  case Kind::part: return Form::toPart;
  case Kind::allGather:
  case Kind::gather: return Form::fromPart;
  case Kind::allToAll: return Form::apart;
  case Kind::allReduce:
  case Kind::broadcast:
  case Kind::reduce:
  case Kind::barrier: break;
  }
  return Form::inPlace;
}

bool isRooted(Kind kind) {
  return kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
}

bool does(Algorithm algorithm, Kind kind) { return kDone[size_t(kind)] >> unsigned(algorithm) & 1; }

Algorithm chooseAlgorithm(Kind kind, int ranks, int64_t bytes) {
  constexpr int64_t kSmall = 16 * 1024; // where the bytes of a piece cost less than the rounds
  switch (kind) {
  case Kind::allReduce: return ranks == 1 || bytes <= kSmall ? Algorithm::tree : Algorithm::ring;
  case Kind::reduceScatter:
  case Kind::allGather: return Algorithm::ring;
  case Kind::broadcast:
  case Kind::reduce:
  case Kind::barrier: return Algorithm::tree;
  case Kind::gather:
  case Kind::scatter: return Algorithm::star;
  case Kind::allToAll:
  case Kind::part: return Algorithm::split;
  }
  return Algorithm::ring;
}

std::string algorithmsOf(Kind kind) {
  std::string names;
  for (size_t i = 0; i < std::size(kAlgorithms); ++i)
    if (does(Algorithm(i), kind)) names.append(names.empty() ? "" : ", ").append(kAlgorithms[i]);
  return names;
}

Range piecesOf(int64_t elements, uint32_t pieces, uint32_t first, uint32_t count) {
  int64_t each = elements / pieces, larger = elements % pieces;
  auto begin = [&](int64_t piece) { return piece * each + std::min(piece, larger); };
  return {begin(first), begin(int64_t(first) + count)};
}

Range pieceOf(int64_t elements, uint32_t pieces, uint32_t index) { return piecesOf(elements, pieces, index, 1); }

int64_t exchangedRows(int64_t rows, uint32_t ranks, uint32_t rank) {
  return int64_t(ranks) * pieceOf(rows, ranks, rank).size();
}

bool exchanges(int64_t from, int64_t to, uint32_t ranks, uint32_t rank) {
  return to == exchangedRows(from, ranks, rank) || from == exchangedRows(to, ranks, rank);
}

} // namespace sprig::rt::collective
