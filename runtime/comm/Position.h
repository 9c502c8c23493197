// Where a rank is in its collectives, and what those that wait for it are told.
#ifndef SPRIG_RUNTIME_COMM_POSITION_H
#define SPRIG_RUNTIME_COMM_POSITION_H

#include "runtime/comm/Transport.h"

#include <chrono>

namespace sprig::rt::comm {

struct Position {
  Call call;
  uint64_t number = 0;  // of the call, the same on all ranks that make it: of those of the group that were begun, or
                        // of a part's
  uint64_t counted = 0; // of them, with what was said about one, those that people make
  uint64_t ofGroup = 0; // calls of the whole group that were begun
  // The call's own, which may be gone with the rank when others are told where it was.
  std::string file, partText;
  bool isInside = false, hasLeft = false, isAnnounced = false;

  void enter(const Call &next);
  // "barrier at train.cpp:12"
  std::string callText() const;
  // "rank 1 is at its collective 3, barrier at train.cpp:12"
  std::string text(int rank) const;
};

// Of two ranks at calls of one number that do not match; whichever order they come in.
Status differ(int rank, const Position &position, int otherRank, const Position &other);
// Of a rank that waits for one that makes no more calls, after so many.
Status hasEnded(int rank, const Position &position, int peer, uint64_t counted);
// `where` says where every rank is.
Status hasWaited(int rank, int peer, std::chrono::nanoseconds timeout, std::string_view where);

} // namespace sprig::rt::comm

#endif
