// What the handles of an optimizer share, and the updates' graphs, which are made once for each kind of parameter.
// For the implementation of sprig/optim.h.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "sprig/optim.h"

namespace sprig::optim {

/// How one kind of parameter is updated. Inputs and outputs: frontend::optimizerUpdate.
struct Update {
  frontend::Graph graph;
  std::vector<std::string> slots;
};
/// Made once for each configuration, weight decay and type; valid for good.
const Update &updateFor(const std::string &config, double weightDecay, const TensorType &type);

struct Optimizer::State {
  struct Row {
    Parameter parameter;
    size_t group;
    const Update *update;
    std::vector<Parameter> slots;
  };
  std::string config; ///< without lr and weight decay, which are no part of an update's graph
  std::vector<Parameter> parameters;
  std::vector<Row> rows;
  std::vector<Parameter> lr; ///< of each group: f64 scalars
  Parameter steps;           ///< i64 scalar
  std::optional<Schedule> schedule;
  std::shared_ptr<const frontend::Graph> rate; ///< the schedule's
  double clipNorm = 0, clipValue = 0;
  uint64_t settings = 0; ///< equal for equal schedules and clippings

  /// "schedule none, clipNorm 1, clipValue 0"
  std::string settingsText() const;
};

/// Names for parameters in a state: their own, or "parameter.3" where one has none or two have the same.
std::vector<std::string> stateNames(const std::vector<Parameter> &parameters);

/// "train.cpp:12: optim::adam", for errors of settings.
std::string placeOf(Source at, const std::string &what);

} // namespace sprig::optim
