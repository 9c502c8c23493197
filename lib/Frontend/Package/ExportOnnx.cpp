#include "lib/Data/File.h"
#include "lib/Export/ONNX/GraphExport.h"
#include "lib/Frontend/Package/PackageForm.h"
#include "lib/JIT/ProcessEnd.h"
#include "sprig/onnx.h"
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace sprig {

using namespace frontend;

namespace {

/// Neither is 1, which would hide what broadcasts.
constexpr int64_t kBatches[] = {2, 3};

constexpr const char *kWhat = "exportOnnx";

bool isSymbolic(const std::vector<TensorType> &inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const TensorType &type) {
    return std::find(type.shape.begin(), type.shape.end(), -1) != type.shape.end();
  });
}

std::vector<TensorType> withBatch(std::vector<TensorType> inputs, int64_t batch) {
  for (TensorType &type : inputs)
    for (int axis = 0; axis < type.shape.rank(); ++axis)
      if (type.shape[axis] == -1) type.shape[axis] = batch;
  return inputs;
}

/// A function in the form that is exported; parameters have the names that they have in packages.
struct Recorded {
  std::shared_ptr<Variant> variant;
  PackageForm form;

  Recorded(const std::vector<TensorType> &types, const PackageBuilder::Body &body, const std::set<std::string> &taken,
           Source at) {
    variant = Variant::record(types, body, kWhat, at);
    for (GraphNode &node : variant->graph.nodes) // such files name no devices
      std::erase_if(node.attrs, [](const Attr &attr) { return std::strcmp(attr.name, "nn.place") == 0; });
    std::set<std::string> used = taken;
    form = packageForm(*variant, [&](const Parameter &parameter) {
      std::string base = parameter.name().empty() ? "parameter" : parameter.name(), name = base;
      for (int i = 1; !used.insert(name).second; ++i) name = base + "." + std::to_string(i);
      return name;
    });
  }
};

/// A graph that sets a parameter is none of an inference.
void refuseUpdates(const PackageForm &form, Source at) {
  for (const StateSlot &slot : form.states) {
    if (slot.output < 0) continue;
    uint32_t value = form.graph.outputs[size_t(slot.output)];
    Source source = at;
    std::string where;
    for (const GraphNode &node : form.graph.nodes)
      if (value >= node.firstResult && value < node.firstResult + node.resultCount) {
        if (node.source.line) source = node.source;
        where = node.op->text;
        if (node.layer) where += " (layer '" + *node.layer + "')";
      }
    std::string file = source.file;
    unsupported((source.line ? file.substr(file.rfind('/') + 1) + ":" + std::to_string(source.line) + ": " : "") +
                (where.starts_with("nn.") ? where.substr(3)
                 : where.empty()          ? kWhat
                                          : where) +
                ": sets the parameter '" + slot.name +
                "', and ONNX models have no state; for a network, call eval() before it is exported");
  }
}

} // namespace

std::vector<uint8_t> onnxBytes(const PackageBuilder::Body &body, const std::vector<TensorType> &inputs,
                               const OnnxOptions &options, Source at) {
  using namespace onnxexport;
  CompilerUse use; // ONNX's schemas are made at first use, too
  if (options.opset < kOldestOpset || options.opset > kNewestOpset)
    fail(at, kWhat,
         "opset " + std::to_string(options.opset) + "; expected " + std::to_string(kOldestOpset) + " to " +
             std::to_string(kNewestOpset));
  GraphExport what;
  what.inputs = portNames(options.inputs, inputs.size(), "input", kWhat, at);
  std::set<std::string> taken(what.inputs.begin(), what.inputs.end());
  taken.insert(options.outputs.begin(), options.outputs.end());
  bool symbolic = isSymbolic(inputs);
  Recorded first(withBatch(inputs, kBatches[0]), body, taken, at);
  std::optional<Recorded> other;
  if (symbolic) other.emplace(withBatch(inputs, kBatches[1]), body, taken, at);

  what.outputs = portNames(options.outputs, first.variant->results.size(), "output", kWhat, at);
  for (const std::string &name : what.outputs)
    if (std::find(what.inputs.begin(), what.inputs.end(), name) != what.inputs.end())
      fail(at, kWhat, "an input and an output are called '" + name + "'; names are to be different");
  what.graph = &first.form.graph;
  if (symbolic) {
    what.other = &other->form.graph;
    what.batch = kBatches[0];
    what.otherBatch = kBatches[1];
    what.batchName = options.batch;
  }
  for (const StateSlot &slot : first.form.states) what.initializers.push_back({slot.input, slot.name, slot.initial});
  what.name = options.name;
  what.opset = options.opset;
  what.decompose = decompose;
  std::string bytes = exportGraph(what);
  refuseUpdates(first.form, at);
  return {bytes.begin(), bytes.end()};
}

void writeOnnx(const std::string &path, const PackageBuilder::Body &body, const std::vector<TensorType> &inputs,
               const OnnxOptions &options, Source at) {
  std::vector<uint8_t> bytes = onnxBytes(body, inputs, options, at);
  data::writeFile(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

} // namespace sprig
