// ZeRO 1 (arXiv:1910.02054): data parallelism whose ranks each hold a piece of the optimizer's tensors, make that piece
// of the gradient's sum, update that piece of the parameter, and gather the pieces.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/Strategy/StatePieces.h"
#include "lib/Shard/Strategy/Strategy.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

LogicalResult stateZero(ModuleOp module, const Mesh &mesh, const StrategyOptions &options) {
  auto shardingOf = [&](RankedTensorType type) {
    Sharding sharding = Sharding::replicated(type);
    unsigned axis = *mesh.axisNamed("data");
    if (isStateDivided(type.getNumElements(), mesh.sizeOf(axis))) sharding.flat = {axis};
    return sharding;
  };
  llvm::StringSet<> trained;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (auto names = op->getAttrOfType<ArrayAttr>(ir::kGradientsAttr))
        for (StringAttr name : names.getAsRange<StringAttr>()) trained.insert(name);
    });
  if (failed(stateSamples(module, mesh, options, shardingOf))) return failure();
  for (auto param : module.getOps<ir::ParamOp>())
    if (param->hasAttr(ir::kOptimizerStateAttr))
      param->setAttr(dist::kShardingAttr, mesh.write(shardingOf(param.getTensorType())));
  for (auto function : module.getOps<func::FuncOp>())
    for (auto set : llvm::make_early_inc_range(function.getBody().getOps<ir::SetParamOp>())) {
      auto type = cast<RankedTensorType>(set.getValue().getType());
      if (!trained.contains(set.getParam()) || shardingOf(type).flat.empty()) continue;
      OpBuilder b(set.getValue().getDefiningOp());
      stateValue(b, set.getValue(), mesh, Sharding::replicated(type), set.getParam());
    }
  return success();
}

} // namespace sprig::shard
