// Recorded graphs as ONNX models.
// For the front-end's exportOnnx. What has no form in ONNX is thrown as sprig::Error (unsupported) that names the
// operation, its layer and its line; nothing is written then.
#pragma once
#include "lib/Graph/Graph.h"
#include <functional>
#include <span>
#include <string>

namespace sprig::onnxexport {

/// An input of the graph that is a parameter: an initializer of the model.
struct Initializer {
  uint32_t input = 0;
  std::string name;
  const void *bytes = nullptr; ///< of the input's type
};

struct GraphExport {
  const graph::Graph *graph = nullptr;
  /// With a symbolic batch: the same function recorded with another one, and the two sizes. They differ in nothing but
  /// in sizes that are multiples of the batch.
  const graph::Graph *other = nullptr;
  int64_t batch = 0, otherBatch = 0;
  std::string batchName = "batch";

  std::vector<Initializer> initializers;
  std::vector<std::string> inputs, outputs; ///< names: of inputs that are no initializers, in order
  std::string name;                         ///< of the model's graph
  int opset = 17;                           ///< 17 to 21
  /// A composite operation as primitives: a graph of the node's operands and results; null for a primitive.
  std::function<std::shared_ptr<const graph::Graph>(const graph::GraphNode &node, std::span<const TensorType> operands,
                                                    std::span<const TensorType> results)>
      decompose;
};

constexpr int kOldestOpset = 17, kNewestOpset = 21;

/// The bytes of a ModelProto.
std::string exportGraph(const GraphExport &graph);

} // namespace sprig::onnxexport
