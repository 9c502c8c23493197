// Timing that is honest: clocks that wait for the work they time.
// For programs. Operations return before they have run, so a clock of the host alone times how long it took to ask for
// them. Everything here synchronizes where it starts and where it stops.
#pragma once
#include "sprig/function.h"
#include <chrono>
#include <memory>
#include <string>

namespace sprig {

/// A stopwatch that can be started again and again.
class SPRIG_API Timer {
public:
  /// Starts at once.
  Timer() { start(); }
  /// Waits for what was recorded before, and starts.
  void start();
  /// Waits for what was recorded since, and returns the seconds; they count for sum() and avg().
  double stop();
  double sum() const { return total; }
  /// Of the times that were stopped; 0 when none was.
  double avg() const { return count ? total / double(count) : 0; }
  int stops() const { return count; }

private:
  std::chrono::steady_clock::time_point began;
  double total = 0;
  int count = 0;
};

/// A point in the order of the work. Recording one does not wait; asking for the time between two does.
class SPRIG_API Event {
public:
  Event();
  /// Puts the point after everything recorded so far.
  void record();
  /// Whether the work before it has run. Never waits. False before record().
  bool reached() const;
  /// Returns when it is reached.
  void synchronize(Source at = Source::here()) const;
  /// Milliseconds of the executor's clock from this point to a later one. Waits for both.
  double elapsed(const Event &later, Source at = Source::here()) const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

/// Prints "description: 0.0123 sec" to standard output when it goes, for all work that was recorded while it lived.
class SPRIG_API Benchmark {
public:
  explicit Benchmark(std::string description = "done");
  ~Benchmark();
  Benchmark(const Benchmark &) = delete;
  Benchmark &operator=(const Benchmark &) = delete;

private:
  std::string description;
  Timer timer;
};

} // namespace sprig
