// originsInside: a graph in the reference interpreter.
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Lower.h"
#include "lib/Interpreter/NonFinite.h"
#include "lib/Pipeline/Diagnostics.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

std::vector<nonfinite::Origins> frontend::originsInside(const Graph &graph, std::span<const void *const> inputs,
                                                        std::span<const nonfinite::Origins> origins,
                                                        std::string (*describe)(const GraphNode &node)) {
  bridge::Workspace work;
  func::FuncOp function = bridge::Lowering(work.context()).addFunction(*work.module, "main", graph);
  interp::NonFiniteWatcher watcher([&](Operation *op) {
    GraphNode node;
    bridge::Place place = bridge::placeOf(op->getLoc(), {});
    node.op = &opName(op->getName().getStringRef());
    node.source = place.source;
    node.layer = place.layer;
    node.gradientOf = bridge::forwardIn(op->getLoc(), place);
    return describe(node);
  });
  SmallVector<interp::Tensor> arguments;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    ArrayRef<char> bytes(static_cast<const char *>(inputs[i]), size_t(graph.types[i].bytes()));
    arguments.push_back(interp::Tensor::viewBytes(cast<RankedTensorType>(argument.getType()), bytes));
    watcher.set(argument, origins[i]);
  }
  DiagnosticText quiet(work.context());
  interp::RunOptions options{interp::Precision::Rounded, &watcher};
  if (failed(interp::run(function, arguments, options))) return {};
  std::vector<nonfinite::Origins> results;
  for (Value result : function.getBody().front().getTerminator()->getOperands()) results.push_back(watcher.of(result));
  return results;
}
