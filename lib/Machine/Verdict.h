// What bounds a run: where its time went, each moment counted once, and what would make it quicker.
// For `sprig profile` (recorded time) and `sprig simulate` (played time). docs/profiling.md has the rules in words.
#pragma once
#include "lib/Machine/Simulator.h"
#include <span>
#include <string>
#include <vector>

namespace sprig::machine {

/// A moment is computation where any device computes, else communication where a collective of ranks goes on, else a
/// copy where any does, else a wait for data where the caller waits for some; what is left goes to handing work over
/// and to the runtime itself.
struct TimeShares {
  double ns = 0; ///< in all: the sum of the others
  double computation = 0, copies = 0, data = 0, handOff = 0;
  double communication = 0;

  TimeShares &operator+=(const TimeShares &other);
  double of(double part) const { return ns > 0 ? part / ns : 0; }
};

/// Spans of each kind, in any order, within `whole`; what lies outside of it does not count.
TimeShares timeShares(Span whole, std::vector<Span> computing, std::vector<Span> copying, std::vector<Span> waiting,
                      std::vector<Span> meeting = {});

enum class Bound { computation, copies, data, handOff, communication };
const char *nameOf(Bound bound); ///< "hand-off"

/// The largest of communication, copies, data and hand-offs where it takes a fifth of the time or more, else
/// computation.
Bound boundBy(const TimeShares &shares);
/// What to change, by name.
std::string remedyFor(Bound bound);
/// Parts as whole percents of their sum, which add up to 100: those that lose most by rounding down get one more. Zeros
/// where the sum is 0. Parts are 0 or more.
std::vector<int> wholePercents(std::span<const double> parts);

/// "bound by data: 81 % of the time goes to waiting for data, ..."
std::string verdictText(const TimeShares &shares);

/// Of a training run, in seconds: all of it, waiting for data, and computing.
TimeShares sharesOfRun(double all, double waiting, double computing);
/// Of a training run of so many steps: a line where the data are what bounds it, else "".
std::string dataWarning(const TimeShares &shares, int64_t steps);

/// How busy a device is: below 80 % of the time it is starved of work, above 90 % saturated.
enum class Pressure { starved, between, saturated };
Pressure pressureOf(double busyShare);
const char *nameOf(Pressure pressure);

} // namespace sprig::machine
