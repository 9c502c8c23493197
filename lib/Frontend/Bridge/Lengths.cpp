// growingGraph: graphs of one function at several lengths, as one for all of them.
#include "lib/Lengths/Passes.h"
#include "dialects/NN/Attributes.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Lengths/Sample.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

GrowingGraph frontend::growingGraph(std::span<const std::pair<int64_t, const Graph *>> lengths,
                                    const std::string &axis) {
  bridge::Workspace work;
  func::FuncOp main;
  for (auto [length, graph] : lengths) {
    func::FuncOp function =
        bridge::Lowering(work.context()).addFunction(*work.module, "length" + std::to_string(length), *graph);
    setLengthSample(function, {axis, lengths.back().first, lengths.front().first, length, 0});
    if (!main) main = function;
  }
  PassManager passes(work.context());
  passes.enableVerifier(false);
  passes.addPass(createMaskLengths());
  bridge::runPasses(passes, *work.module);
  GrowingGraph result{bridge::graphOf(main.getBody().front()), {}};
  auto stated = main->getAttrOfType<DictionaryAttr>(ir::kLengthsAttr);
  for (auto port : stated.getAs<ArrayAttr>("outputs").getAsRange<DenseI64ArrayAttr>()) {
    std::vector<GrowingDim> &dims = result.outputs.emplace_back();
    for (int64_t i = 0; i < port.size(); i += 4)
      dims.push_back({int(port[i]), {port[i + 1], port[i + 2], port[i + 3]}});
  }
  return result;
}
