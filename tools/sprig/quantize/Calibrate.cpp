#include "tools/sprig/quantize/Calibrate.h"
#include "tools/sprig/quantize/Judge.h"
#include <cmath>

namespace sprig::cli {

using namespace quantize;

std::string withOutputs(const Graph &graph, const std::vector<std::string> &values) {
  onnx::ModelProto model = graph.model;
  std::set<std::string> there;
  for (const auto &output : graph.graph().output()) there.insert(output.name());
  for (const std::string &value : values) {
    if (graph.isInput(value) || !there.insert(value).second) continue;
    model.mutable_graph()->add_output()->set_name(value); // of the type that it has
  }
  std::string bytes;
  model.SerializeToString(&bytes);
  return bytes;
}

static CalibrationOptions calibrationOf(const QuantizeOptions &options) {
  Calibration method = options.calibrate == "percentile" ? Calibration::percentile
                       : options.calibrate == "mse"      ? Calibration::mse
                       : options.calibrate == "kl"       ? Calibration::kl
                                                         : Calibration::minmax;
  return {method, options.percentile};
}

static std::set<std::string> rootsOf(const Plan &plan) {
  std::set<std::string> roots;
  for (const auto &[tensor, root] : plan.tensors) roots.insert(root);
  return roots;
}

Calibrator::Calibrator(const QuantizeOptions &options, const Graph &graph, const CalibrationData &data)
    : options(options), graph(graph), data(data) {}

template <typename Body> void Calibrator::each(const std::vector<std::string> &values, Body body) {
  for (const CalibrationCall &call : data.calls) {
    std::vector<data::Array> results = watched->run(call.inputs);
    for (const std::string &value : values) body(value, valueOf(value, results, call));
  }
}

std::set<std::string> Calibrator::see(const Plan &plan) {
  // A plan without one tensor may have others: what a move passed on is then a root itself.
  std::set<std::string> values = rootsOf(plan);
  for (const auto &[tensor, root] : plan.tensors) values.insert(tensor);
  std::vector<std::string> list(values.begin(), values.end());
  watched.emplace(withOutputs(graph, list), graph.file, options.settings);
  std::set<std::string> others;
  each(list, [&](const std::string &value, const data::Array &array) {
    if (array.dtype != data::DType::f32)
      others.insert(value);
    else
      observers[value].see(reinterpret_cast<const float *>(array.bytes.data()), array.elements());
  });
  return others;
}

std::map<std::string, Range> Calibrator::ranges(const Plan &plan, const QuantizerType &type) {
  CalibrationOptions how = calibrationOf(options);
  std::set<std::string> roots = rootsOf(plan);
  std::vector<std::string> uncounted;
  for (const std::string &root : roots)
    if (how.method != Calibration::minmax && observers[root].histogram().empty()) uncounted.push_back(root);
  if (!uncounted.empty())
    each(uncounted, [&](const std::string &value, const data::Array &array) {
      observers.at(value).countAgain(reinterpret_cast<const float *>(array.bytes.data()), array.elements());
    });
  std::map<std::string, Range> result;
  for (const std::string &root : roots) {
    const Observer &seen = observers.at(root);
    if (seen.isEmpty() && seen.notFinite())
      graph.fail(ErrorKind::badInput, "'" + root + "' has no finite number on the calibration data: all " +
                                          std::to_string(seen.notFinite()) +
                                          " of its numbers are NaN or infinite, so it has no range to quantise to");
    result[root] = seen.range(how, type);
  }
  return result;
}

ChannelMeans Calibrator::means(const Plan &plan) {
  std::map<std::string, bool> isConvolution;
  for (const Layer &layer : plan.layers)
    isConvolution.emplace(layer.input, graph.node(layer.node).op_type().starts_with("Conv"));
  std::vector<std::string> values;
  for (const auto &[value, ignored] : isConvolution) values.push_back(value);
  std::map<std::string, std::vector<int64_t>> counts;
  ChannelMeans sums;
  each(values, [&](const std::string &value, const data::Array &array) {
    if (array.shape.size() < 2) return;
    size_t axis = isConvolution[value] ? 1 : array.shape.size() - 1;
    int64_t channels = array.shape[axis], inner = 1;
    for (size_t i = axis + 1; i < array.shape.size(); ++i) inner *= array.shape[i];
    auto &sum = sums[value];
    auto &count = counts[value];
    sum.resize(size_t(channels)), count.resize(size_t(channels));
    const auto *numbers = reinterpret_cast<const float *>(array.bytes.data());
    for (int64_t i = 0, elements = array.elements(); i < elements; ++i)
      if (std::isfinite(numbers[i]))
        sum[size_t(i / inner % channels)] += numbers[i], ++count[size_t(i / inner % channels)];
  });
  for (auto &[value, sum] : sums)
    for (size_t c = 0; c < sum.size(); ++c) sum[c] /= double(std::max<int64_t>(counts[value][c], 1));
  return sums;
}

} // namespace sprig::cli
