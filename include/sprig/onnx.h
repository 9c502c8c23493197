// Export of inference functions as ONNX models, which other tools read and Sprig's compiler reads back.
// For programs. What the operators become stands in docs/onnx-export.md.
//
//   net.eval();
//   sprig::exportOnnx("net.onnx", net, {{DType::f32, {-1, 784}}}, {.inputs = {"image"}, .outputs = {"scores"}});
#pragma once
#include "sprig/package.h"

namespace sprig {

struct OnnxOptions {
  /// The version of the operators, 17 to 21. What it has no operator for is written as an expression of others, or is
  /// an error that says so.
  int opset = 17;
  /// Names of inputs and outputs; what is not named is called input0, output0, ...
  std::vector<std::string> inputs = {}, outputs = {};
  /// What a size of -1 in inputs is called in the model.
  std::string batch = "batch";
  /// The name of the model's graph.
  std::string name = "main";
};

/// The model's bytes.
SPRIG_API std::vector<uint8_t> onnxBytes(const PackageBuilder::Body &body, const std::vector<TensorType> &inputs,
                                         const OnnxOptions &options = {}, Source at = Source::here());
SPRIG_API void writeOnnx(const std::string &path, const PackageBuilder::Body &body,
                         const std::vector<TensorType> &inputs, const OnnxOptions &options, Source at);

/// Records f on inputs of these types and writes what it computes. Parameters become initializers under their own
/// names, with the values that they have now. With a size of -1 the model takes any batch: f is recorded with two, and
/// nothing but sizes that are multiples of the batch may differ.
/// Throws Error (unsupported) for what an ONNX model of an inference cannot say (parameters that are set, random
/// numbers, gradients' own operations), with the operation, its layer and its line. The file appears whole or not at
/// all.
template <typename F>
void exportOnnx(const std::string &path, const F &f, const std::vector<TensorType> &inputs,
                const OnnxOptions &options = {}, Source at = Source::here()) {
  writeOnnx(path, PackageBuilder::bodyOf(f, inputs.size(), "exportOnnx", at), inputs, options, at);
}
/// The same into memory, say for compile(Model::bytes(...)).
template <typename F>
std::vector<uint8_t> exportOnnxBytes(const F &f, const std::vector<TensorType> &inputs, const OnnxOptions &options = {},
                                     Source at = Source::here()) {
  return onnxBytes(PackageBuilder::bodyOf(f, inputs.size(), "exportOnnx", at), inputs, options, at);
}

} // namespace sprig
