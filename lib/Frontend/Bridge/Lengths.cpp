// growingGraph: graphs of one function at several lengths, as one for all of them.
#include "lib/Lengths/Passes.h"
#include "dialects/NN/Attributes.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Frontend/Bridge/Lower.h"
#include "lib/Lengths/Sample.h"
#include "lib/Pipeline/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

static func::FuncOp lower(bridge::Workspace &work, const Graph &graph, const std::string &name) {
  bridge::Lowering lowering(work.context());
  func::FuncOp function = lowering.makeFunction(*work.module, name, {graph.types.data(), graph.inputCount});
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  SmallVector<Value> arguments(function.getArguments().begin(), function.getArguments().end());
  SmallVector<Value> values = lowering.lowerNodes(b, graph, arguments);
  SmallVector<Value> outputs = bridge::outputsOf(graph, values);
  func::ReturnOp::create(b, function.getLoc(), outputs);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), ValueRange(outputs).getTypes()));
  return function;
}

static void mask(ModuleOp module) {
  DiagnosticText diagnostics(module.getContext());
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createMaskLengths());
  if (succeeded(passes.run(module))) return;
  std::string text = diagnostics.take();
  throw Error(ErrorKind::unsupported, text.empty() ? "a pass of the compiler failed" : bridge::withoutOpNames(text));
}

GrowingGraph frontend::growingGraph(std::span<const std::pair<int64_t, const Graph *>> lengths,
                                    const std::string &axis) {
  bridge::Workspace work;
  func::FuncOp main;
  for (auto [length, graph] : lengths) {
    func::FuncOp function = lower(work, *graph, "length" + std::to_string(length));
    setLengthSample(function, {axis, lengths.back().first, lengths.front().first, length, 0});
    if (!main) main = function;
  }
  mask(*work.module);
  bridge::GraphReader reader;
  for (Value argument : main.getArguments()) reader.addInput(argument);
  Block &body = main.getBody().front();
  reader.addOperations(body);
  GrowingGraph result{reader.finish(body.getTerminator()->getOperands()), {}};
  auto stated = main->getAttrOfType<DictionaryAttr>(ir::kLengthsAttr);
  for (auto port : stated.getAs<ArrayAttr>("outputs").getAsRange<DenseI64ArrayAttr>()) {
    std::vector<GrowingDim> &dims = result.outputs.emplace_back();
    for (int64_t i = 0; i < port.size(); i += 4)
      dims.push_back({int(port[i]), {port[i + 1], port[i + 2], port[i + 3]}});
  }
  return result;
}
