// What sprig simulate was asked for, and the program that it plays.
// For sprig simulate.
#pragma once
#include "lib/Machine/Topology.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/Settings.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/train/StepsPerCall.h"
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct SimulateOptions {
  CommonOptions common;
  Settings settings;
  std::string model, topology, writeTopology, trace, svg, entry, train;
  std::vector<std::string> links, allow;
  bool list = false;
  int64_t calls = 0;
  std::string frontEnd, returns, read;
  std::string mesh, ranks, scaling, algorithm, network, bucket, factors, shares; ///< of steps that ranks take together
  int zero = 0;                                                                  ///< as --zero says of them
  bool allowGather = false;                                                      ///< as --allow-gather says of them
  StepsPerCall stepsPerCall;                                                     ///< the same
};

/// Compiles, or loads; nothing is run, so no device needs to be there. Sets the inputs and the entries that were asked
/// for.
Runner loadToPlay(const SimulateOptions &options, const std::optional<machine::Topology> &topology, const Model &model,
                  std::vector<BoundInputs> &entries);

/// Whether the command line is about ranks: a training step on any number of them.
bool isOfRanks(const SimulateOptions &options);
int simulateRanks(const SimulateOptions &options);

} // namespace sprig::cli
