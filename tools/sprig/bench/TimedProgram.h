// A compiled program with random inputs of its own, which is called again and again.
// For experiments that compare ways to compile or to schedule one model.
#pragma once
#include "tools/sprig/Model.h"
#include "tools/sprig/profile/ProfileSession.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// MLIR text as a model; `name` stands in messages.
Model textModel(std::string name, std::string text);

class TimedProgram {
public:
  /// Compiles, loads and calls once. The same seed of inputs for all.
  TimedProgram(const Model &model, const Settings &settings);

  /// Seconds of one call.
  double once();
  /// Bytes of all outputs of a call.
  std::vector<std::vector<char>> outputs();
  /// Of the program's entry.
  int lanes() const { return int(runner.entryInfo(0).lane_count); }
  double flops() const { return double(runner.entryInfo(0).flops); }
  const Runner &loaded() const { return runner; }
  /// A profile of its calls.
  ProfileResult profile(const SessionOptions &options) { return ProfileSession(runner, call, options, arrays).run(); }

private:
  Runner runner;
  std::map<std::string, data::Array> arrays;
  PreparedCall call;
};

/// The best of so many calls of each, in turn, so that a slow moment of the machine hits all of them; more while they
/// take less than `seconds` together.
std::vector<double> bestInTurn(const std::vector<TimedProgram *> &programs, int rounds, double seconds);

} // namespace sprig::cli
