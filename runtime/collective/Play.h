// What the programs of all ranks do together, without any data: whether each message is awaited, nobody waits forever
// and nothing is overwritten that is on its way, what every piece holds in the end, and what was sent.
// For tests of programs and for whoever takes programs that somebody else wrote.
#ifndef SPRIG_RUNTIME_COLLECTIVE_PLAY_H
#define SPRIG_RUNTIME_COLLECTIVE_PLAY_H

#include "runtime/collective/Collective.h"

namespace sprig::rt::collective {

struct Played {
  std::string wrong; // empty: nothing; else the rank, its step and what is wrong with it
  // Of each rank and piece, which value it holds: "x3" is what rank 3 began with, "(x0+x1)" a sum in its order,
  // "mean(...)" one that was finished. Of a piece of another index, as of allToAll, "x3.0".
  std::vector<std::vector<std::string>> holds;
  // Rounds: the longest chain of messages, of which a lane sends one at a time and can begin with one that it has.
  uint64_t rounds = 0;
  std::vector<uint64_t> messages;   // that each rank sends
  std::vector<uint64_t> piecesSent; // the same, in pieces
};

// One program of each rank, in order.
Played play(const std::vector<Program> &programs);

// What is wrong with a result of this kind, of this many ranks: a piece, what it holds and what was expected; empty:
// nothing. The order of a sum has to be the same on all ranks that hold it.
std::string wrongWith(const Plan &plan, const Played &played);

} // namespace sprig::rt::collective

#endif
