#include "lib/Data/File.h"
#include "lib/Frontend/Package/PackageForm.h"
#include "lib/Frontend/Package/TrainingMode.h"
#include "lib/Machine/Cpu.h"
#include "sprig/package.h"
#include <algorithm>
#include <set>

namespace sprig {

using namespace frontend;

struct PackageBuilder::Impl {
  struct Function {
    std::string name;
    SaveOptions options;
    std::shared_ptr<Variant> variant;
  };
  std::vector<Function> functions;
  std::vector<std::pair<Parameter, std::string>> names;

  /// The parameter's own name, made different from those of other parameters.
  std::string nameOf(const Parameter &parameter) {
    for (auto &[known, name] : names)
      if (known.same(parameter)) return name;
    std::string base = parameter.name().empty() ? "state" : parameter.name(), name = base;
    auto isTaken = [&](const std::string &candidate) {
      return std::any_of(names.begin(), names.end(), [&](auto &pair) { return pair.second == candidate; });
    };
    for (int i = 1; isTaken(name); ++i) name = base + "." + std::to_string(i);
    names.emplace_back(parameter, name);
    return name;
  }
};

PackageBuilder::PackageBuilder() : impl(std::make_unique<Impl>()) {}
PackageBuilder::~PackageBuilder() = default;
PackageBuilder::PackageBuilder(PackageBuilder &&) noexcept = default;

void PackageBuilder::refuseInputs(size_t given, const char *caller, Source at) {
  fail(at, caller, "the function does not take the " + std::to_string(given) + " inputs whose types are given");
}

PackageBuilder &PackageBuilder::addBody(const std::string &name, const Body &body,
                                        const std::vector<TensorType> &inputs, const SaveOptions &options, Source at) {
  for (const auto &function : impl->functions)
    if (function.name == name) fail(at, "save", "there is a function '" + name + "' already");
  if (size_t end = name.find('\0'); end != std::string::npos)
    fail(at, "save", "the name of the function has a NUL after '" + name.substr(0, end) + "'");
  bool isSymbolic = std::any_of(inputs.begin(), inputs.end(), [](const TensorType &type) {
    return std::find(type.shape.begin(), type.shape.end(), -1) != type.shape.end();
  });
  if (isSymbolic && options.batches.empty()) fail(at, "save", "inputs have a size of -1, but no batches are given");
  std::set<int64_t> batches(options.batches.begin(), options.batches.end());
  if (!isSymbolic) batches = {1};
  for (int64_t batch : batches) {
    if (batch < 1) fail(at, "save", "a batch of " + std::to_string(batch) + "; expected at least 1");
    std::vector<TensorType> bound = inputs;
    for (TensorType &type : bound)
      for (int axis = 0; axis < type.shape.rank(); ++axis)
        if (type.shape[axis] == -1) type.shape[axis] = batch;
    std::shared_ptr<Variant> variant = Variant::record(bound, body, name, at);
    if (!options.training) refuseTrainingMode(*variant, name, at);
    impl->functions.push_back({name, options, std::move(variant)});
  }
  return *this;
}

CompileOptions PackageBuilder::portable() {
  CompileOptions options;
  options.architectures = machine::packagedCpus();
  options.math = MathMode::strict;
  return options;
}

std::vector<uint8_t> PackageBuilder::bytes(const CompileOptions &given, Source at) {
  if (impl->functions.empty()) fail(at, "save", "the package has no function");
  std::vector<PackageForm> forms;
  bool setsState = false;
  for (const auto &function : impl->functions) {
    forms.push_back(packageForm(*function.variant, [&](const Parameter &p) { return impl->nameOf(p); }));
    for (const StateSlot &slot : forms.back().states) setsState |= slot.output >= 0;
  }
  std::vector<PackageEntry> entries;
  for (size_t i = 0; i < forms.size(); ++i) {
    const auto &function = impl->functions[i];
    const SaveOptions &names = function.options;
    entries.push_back({function.name, &forms[i].graph, forms[i].states,
                       portNames(names.inputs, function.variant->inputs.size(), "input", "save", at),
                       portNames(names.outputs, function.variant->results.size(), "output", "save", at)});
  }
  CompileOptions options = given;
  if (options.devices.empty()) { // where the tensors of functions over several are
    std::set<DeviceId> devices;
    for (const auto &function : impl->functions)
      devices.insert(function.variant->devices.begin(), function.variant->devices.end());
    for (DeviceId device : devices) options.devices.push_back(deviceOf(device).name());
  }
  options.freeze = options.freeze && !setsState;
  if (!options.freeze) options.math = MathMode::strict;
  return compilePackage(entries, options);
}

void PackageBuilder::save(const std::string &path, const CompileOptions &given, Source at) {
  CompileOptions options = given;
  if (options.modelName.empty()) options.modelName = path.substr(path.rfind('/') + 1);
  std::vector<uint8_t> content = bytes(options, at);
  data::writeFile(path, {reinterpret_cast<const char *>(content.data()), content.size()});
}

} // namespace sprig
