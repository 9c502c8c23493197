// A float model run on samples for the ranges of its tensors.
// For quantize.
#pragma once
#include "lib/Quantize/Observer.h"
#include "lib/Quantize/WriteStatic.h"
#include "tools/sprig/quantize/CalibrationData.h"
#include "tools/sprig/quantize/CompiledModel.h"
#include "tools/sprig/quantize/QuantizeModel.h"

namespace sprig::cli {

/// The model's bytes with values of it as further outputs.
std::string withOutputs(const quantize::Graph &graph, const std::vector<std::string> &values);

class Calibrator {
public:
  Calibrator(const QuantizeOptions &options, const quantize::Graph &graph, const CalibrationData &data);

  /// Sees all numbers of the plan's tensors. Gives those that are no f32: a plan that knows of them has the same
  /// tensors or fewer.
  std::set<std::string> see(const quantize::Plan &plan);
  /// Of the tensors that others of the plan have their range of.
  std::map<std::string, quantize::Range> ranges(const quantize::Plan &plan, const quantize::QuantizerType &type);
  /// Of the operands of its layers.
  quantize::ChannelMeans means(const quantize::Plan &plan);

private:
  template <typename Body> void each(const std::vector<std::string> &values, Body body);

  const QuantizeOptions &options;
  const quantize::Graph &graph;
  const CalibrationData &data;
  std::optional<CompiledModel> watched;
  std::map<std::string, quantize::Observer> observers;
};

} // namespace sprig::cli
