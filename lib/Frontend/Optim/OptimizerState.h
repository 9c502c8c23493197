// What the handles of an optimizer share, and the updates' graphs, which are made once for each kind of parameter.
// For the implementation of sprig/optim.h.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Training/TrainConfig.h"
#include "sprig/optim.h"
#include <set>

namespace sprig::optim {

/// How one kind of parameter is updated. Inputs and outputs: frontend::optimizerUpdate.
struct Update {
  frontend::Graph graph;
  std::vector<frontend::OptimizerSlot> slots;
  bool countsSteps = false; ///< whether it depends on the number of the step
};
/// Made once for each configuration, weight decay and type; valid for good.
const Update &updateFor(const training::OptimizerConfig &config, double weightDecay, const TensorType &type);

/// Whether parameters are still those of their module.
class Belonging {
public:
  Belonging() = default;
  Belonging(const Parameters &given);
  /// Throws for `what` ("Optimizer::update") where a parameter left its module, or the module has a new one.
  void check(const std::vector<Parameter> &parameters, const char *what, Source at);
  /// Says once of each layer that the loss of these parameters' last gradients reaches it and nobody trains it: no
  /// optimizer has its parameters, gradients were not asked for them, and no module that it is below has others that
  /// are trained.
  void reportUntrained(const std::vector<Parameter> &parameters, const char *what, Source at) const;

private:
  std::weak_ptr<nn::Module::State> module;
  uint64_t made = 0, checked = 0; ///< times of frontend::structureClock()
};

/// As the schedule `plateau`; throws for `place` what cannot be.
training::ScheduleConfig scheduleOf(const PlateauOptions &options, const std::string &place);
/// Lowers the rates of all groups by a schedule of kind plateau; whether one fell.
bool lowerRates(const Optimizer &optimizer, const training::ScheduleConfig &schedule, Source at);

/// Sets each of these states to what is given under its name; throws for `what` where names or types differ.
void loadNamed(const std::vector<std::pair<std::string, Parameter>> &named, const nn::StateDict &given,
               const std::string &what, Source at);

/// The values of these states under their names.
nn::StateDict valuesOf(const std::vector<std::pair<std::string, Parameter>> &named);

/// Throws for `what` a parameter that is not there, no float, or among `seen`, which then has it.
void requireTrained(const Parameter &parameter, std::set<Parameter::Cell *> &seen, const std::string &what, Source at);

struct Optimizer::State {
  struct Row {
    Parameter parameter;
    size_t group;
    double weightDecay;
    const Update *update;
    std::vector<Parameter> slots;
    /// i64: steps that left the parameter alone; not defined where the update is the same at every step.
    Parameter skipped;
    bool hasSkipped = false; ///< whether there was one
  };
  training::OptimizerConfig config; ///< without lr and weight decay, which are no part of an update's graph
  std::vector<Parameter> parameters;
  std::vector<Row> rows;
  std::vector<Parameter> lr; ///< of each group: f64 scalars
  Parameter steps;           ///< i64 scalar
  std::optional<Schedule> schedule;
  std::shared_ptr<const frontend::Graph> rate; ///< the schedule's
  double clipNorm = 0, clipValue = 0;
  Belonging belonging;
  uint64_t settings = 0; ///< equal for equal schedules, clippings and rows with hasSkipped

  bool isUpdated(size_t row, std::span<const Tensor> gradients) const {
    return gradients[row].defined() && rows[row].parameter.trainable();
  }
  void noteSkipped(Row &row);
  /// Bounded as clipNorm and clipValue say.
  std::vector<Tensor> clipped(std::vector<Tensor> gradients, Source at) const;
  /// "schedule none, clipNorm 1, clipValue 0"
  std::string settingsText() const;
};

/// Names for parameters in a state: their own, or "parameter.3" where one has none or two have the same.
std::vector<std::string> stateNames(const std::vector<Parameter> &parameters);

/// "train.cpp:12: optim::adam", for errors of settings.
std::string placeOf(Source at, const std::string &what);

} // namespace sprig::optim
