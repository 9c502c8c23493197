#include "tools/sprig/quantize/Judge.h"
#include <cmath>

namespace sprig::cli {

const data::Array &valueOf(const std::string &name, const std::vector<data::Array> &results,
                           const CalibrationCall &call) {
  for (const data::Array &array : results)
    if (array.name == name) return array;
  return call.inputs.at(name);
}

std::string Judge::unfit(const CalibrationCall &call, const data::Array &output) const {
  std::string name = "output '" + output.name + "'";
  if (!ClassCount::fits(output, call.samples))
    return "labels not used: " + name + " is " + data::describe(output) + ", no row of numbers for each of " +
           std::to_string(call.samples) + " samples";
  if (data.folders && data.folders != output.shape[1])
    return "labels not used: the images are in " + std::to_string(data.folders) +
           (data.folders == 1 ? " folder, and " : " folders, and ") + name + " has " + std::to_string(output.shape[1]) +
           " classes";
  return "";
}

Judge::Judge(const CalibrationData &data, const Run &floatModel) : data(data) {
  int64_t labelled = 0;
  for (const CalibrationCall &call : data.calls) {
    wanted.push_back(floatModel(call));
    labelled += int64_t(call.labels.size());
    if (!call.labels.empty() && withoutLabels.empty()) withoutLabels = unfit(call, wanted.back()[0]);
  }
  if (withoutLabels.empty() && labelled && labelled < data.samples)
    withoutLabels = "labels not used: " + std::to_string(data.samples - labelled) + " of the " +
                    std::to_string(data.samples) + " samples have none";
  if (!withoutLabels.empty()) return;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const CalibrationCall &call = data.calls[i];
    const data::Array &first = wanted[i][0];
    for (int64_t label : call.labels)
      if (label < 0 || label >= first.shape[1])
        badInput("the samples have a label " + std::to_string(label) + "; output '" + first.name +
                 "' has the classes 0 to " + std::to_string(first.shape[1] - 1));
  }
}

Loss Judge::judge(const Run &quantized) const {
  std::vector<ArrayLoss> outputs(wanted[0].size());
  ArrayLoss all;
  ClassCount classes;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const CalibrationCall &call = data.calls[i];
    std::vector<data::Array> results = quantized(call);
    for (size_t k = 0; k < outputs.size(); ++k) {
      const data::Array &got = valueOf(wanted[i][k].name, results, call);
      outputs[k].add(wanted[i][k], got);
      all.add(wanted[i][k], got);
    }
    const data::Array &first = wanted[i][0];
    const std::vector<int64_t> none, &labels = withoutLabels.empty() ? call.labels : none;
    int64_t samples = !labels.empty() ? call.samples : !first.shape.empty() ? first.shape[0] : 0;
    if (ClassCount::fits(first, samples)) classes.add(first, valueOf(first.name, results, call), labels);
  }
  Loss loss{{}, classes.result(), all.decibels()};
  for (size_t k = 0; k < outputs.size(); ++k)
    loss.outputs.push_back({wanted[0][k].name, outputs[k].decibels(), outputs[k].largest(), outputs[k].sizesDiffer()});
  return loss;
}

bool ClassCount::fits(const data::Array &output, int64_t samples) {
  return data::isFloat(output.dtype) && output.shape.size() == 2 && output.shape[0] == samples && output.shape[1] > 1;
}

static int64_t largestOf(const data::Array &array, int64_t row) {
  int64_t columns = array.shape[1], best = 0;
  for (int64_t i = 0; i < columns; ++i) {
    if (std::isnan(array.at(row * columns + i))) return -1;
    if (array.at(row * columns + i) > array.at(row * columns + best)) best = i;
  }
  return best;
}

void ClassCount::add(const data::Array &reference, const data::Array &other, const std::vector<int64_t> &labels) {
  for (int64_t row = 0; row < reference.shape[0]; ++row) {
    int64_t a = largestOf(reference, row), b = other.shape == reference.shape ? largestOf(other, row) : -1;
    ++samples;
    classed += a >= 0;
    same += a >= 0 && a == b;
    if (labels.empty()) continue;
    ++labelled;
    before += a == labels[size_t(row)];
    after += b == labels[size_t(row)];
  }
}

std::optional<ClassLoss> ClassCount::result() const {
  if (classed == 0) return std::nullopt;
  ClassLoss loss{{}, {}, double(same) / double(classed)};
  if (labelled == samples) {
    loss.before = double(before) / double(samples);
    loss.after = double(after) / double(samples);
  }
  return loss;
}

} // namespace sprig::cli
