#include "tools/sprig/quantize/Judge.h"
#include "sprig/error.h"

namespace sprig::cli {

const data::Array &valueOf(const std::string &name, const std::vector<data::Array> &results,
                           const CalibrationCall &call) {
  for (const data::Array &array : results)
    if (array.name == name) return array;
  return call.inputs.at(name);
}

Judge::Judge(const CalibrationData &data, const Run &floatModel) : data(data) {
  for (const CalibrationCall &call : data.calls) {
    wanted.push_back(floatModel(call));
    const data::Array &first = wanted.back()[0];
    if (!ClassCount::fits(first, int64_t(call.labels.size()))) continue;
    for (int64_t label : call.labels)
      if (label < 0 || label >= first.shape[1])
        throw Error(ErrorKind::badInput, "the samples have a label " + std::to_string(label) + "; output '" +
                                             first.name + "' has the classes 0 to " +
                                             std::to_string(first.shape[1] - 1));
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
    int64_t samples = !call.labels.empty() ? int64_t(call.labels.size()) : !first.shape.empty() ? first.shape[0] : 0;
    if (ClassCount::fits(first, samples)) classes.add(first, valueOf(first.name, results, call), call.labels);
  }
  Loss loss{{}, classes.result(), all.decibels()};
  for (size_t k = 0; k < outputs.size(); ++k)
    loss.outputs.push_back({wanted[0][k].name, outputs[k].decibels(), outputs[k].largest()});
  return loss;
}

} // namespace sprig::cli
