#include "tools/sprig/train/TrainSet.h"
#include "tools/sprig/Report.h"
#include <algorithm>

namespace sprig::cli {
namespace {

// NAME=FILE, where NAME is an input's; a file's own name may have an equals sign.
size_t inputOf(const std::string &argument, const std::vector<InputSpec> &specs, std::string &file) {
  for (size_t i = 0; i < specs.size(); ++i)
    if (argument.starts_with(specs[i].name + "=")) {
      file = argument.substr(specs[i].name.size() + 1);
      return i;
    }
  file = argument;
  return specs.size() == 1 ? 0 : specs.size();
}

std::string listed(const std::vector<InputSpec> &specs) {
  std::string text;
  for (const InputSpec &spec : specs) text += "\n  " + describe(spec);
  return text;
}

// The sample's shape as far as the model fixes it; symbolic dimensions take what the data have.
data::Intake intakeOf(const InputSpec &spec, const data::Samples &samples, const std::string &modelPath) {
  auto type = dtypeOf(spec.dtype);
  if (!type || spec.dims.empty())
    badInput(modelPath + ": input '" + describe(spec) + "' takes no samples along a first dimension");
  std::vector<int64_t> shape, own = samples.sampleShape();
  for (size_t d = 1; d < spec.dims.size(); ++d)
    shape.push_back(spec.dims[d].size ? *spec.dims[d].size : d - 1 < own.size() ? own[d - 1] : 1);
  return {*type, shape, true};
}

} // namespace

TrainData openTrainData(const std::vector<std::string> &inputs, const std::string &targets,
                        const std::vector<InputSpec> &specs, const std::string &what, const std::string &modelPath) {
  std::vector<std::optional<data::Samples>> found(specs.size());
  for (const std::string &argument : inputs) {
    std::string file;
    size_t input = inputOf(argument, specs, file);
    if (input == specs.size())
      badUse(what + " " + argument + ": the model has several inputs, expected NAME=FILE\ninputs:" + listed(specs));
    if (found[input]) badUse(what + ": input '" + specs[input].name + "' is given twice");
    found[input] = data::Samples::open(file);
    checkFits(*found[input], intakeOf(specs[input], *found[input], modelPath),
              "input '" + specs[input].name + "' of " + modelPath);
  }
  TrainData data;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!found[i])
      badUse("input '" + specs[i].name + "' has no samples (" + what + " " +
             (specs.size() == 1 ? "" : specs[i].name + "=") + "FILE)\ninputs:" + listed(specs));
    data.inputs.push_back(std::move(*found[i]));
  }
  data.targets = data::Samples::open(targets);
  for (const data::Samples &input : data.inputs) checkCounts(input, *data.targets);
  return data;
}

void checkTargets(const TrainData &data, data::DType type, const std::vector<int64_t> &sample,
                  const std::vector<int64_t> &classes, const std::vector<training::LossConfig> &losses) {
  checkFits(*data.targets, {type, sample, false}, "the loss");
  // Of several outputs the targets lie side by side, where only the step itself can tell which is a class.
  if (classes.size() != 1 || classes[0] == 0) return;
  const std::optional<int64_t> &ignored = losses[0].ignoreIndex;
  checkClasses(*data.targets, classes[0], ignored ? &*ignored : nullptr);
}

std::vector<int64_t> partSizes(int64_t samples, int64_t each, bool dropLast) {
  std::vector<int64_t> sizes;
  if (samples >= each) sizes.push_back(each);
  if (samples % each && !dropLast) sizes.push_back(samples % each);
  return sizes;
}

} // namespace sprig::cli
