// What ranks that meet in collectives spend their time on, and whom they wait for.
// For `sprig profile` (recorded times) and `sprig simulate` (played ones).
#pragma once
#include "lib/Machine/Simulator.h"
#include <vector>

namespace sprig::machine {

/// What one rank did. It comes to meetings as often as the others do, in the same order; of each it meets all or some.
struct RankSpans {
  std::vector<Span> computing;  ///< in any order
  std::vector<Span> meetings;   ///< each from when the rank came until it had the result
  std::vector<int> firsts = {}; ///< of each of them the first of the ranks that met there; empty: all did, in each
};

struct RankTimes {
  double computing = 0;
  double communicating = 0; ///< in collectives, waiting for others included
  double exposed = 0;       ///< the part of it with no computation of the rank beside it
  double waiting = 0;       ///< in collectives, until the last rank came
  double idle = 0;          ///< in none of them
};

struct RanksTime {
  double ns = 0;
  std::vector<RankTimes> ranks;
  /// Who came last the most, by the time that others waited for it; -1: nobody waited for a hundredth of the time.
  int straggler = -1;
  double stragglerNs = 0; ///< that each of the others waited for it, on average
};

/// Within `whole`. Of ranks that met more often than another one, what is beyond that counts for nobody's waiting.
RanksTime ranksTime(Span whole, const std::vector<RankSpans> &ranks);

} // namespace sprig::machine
