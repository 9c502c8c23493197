// The state-strategy pass: shardings of steps by the name of a strategy.
#define GEN_PASS_DEF_STATESTRATEGY
#include "lib/Shard/Passes.h"
#include "dialects/NN/Attributes.h"
#include "lib/Shard/StateShardings.h"
#include "lib/Shard/Strategy/Strategy.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::shard;

namespace {

struct StateStrategy : sprig::impl::StateStrategyBase<StateStrategy> {
  using StateStrategyBase::StateStrategyBase;

  void runOnOperation() override {
    if (!strategy.empty() && failed(state())) return signalPassFailure();
    dropMarks(getOperation());
    if (strategy.empty())
      for (auto function : getOperation().getOps<func::FuncOp>()) function->removeAttr(ir::kPassesAttr);
  }

private:
  LogicalResult state() {
    ModuleOp module = getOperation();
    auto found = llvm::find_if(strategies(), [&](const Strategy &each) { return each.name.name == strategy; });
    if (found == strategies().end()) {
      auto names = llvm::map_range(strategies(), [](const Strategy &each) { return StringRef(each.name.name); });
      return module.emitError() << "there is no strategy '" << strategy << "'; there are " << llvm::join(names, ", ");
    }
    if (!mesh.empty())
      if (llvm::Error error = stateShardings(module, mesh, {}))
        return module.emitError() << llvm::toString(std::move(error));
    auto meshes = module.getOps<ir::dist::MeshOp>();
    if (meshes.empty()) return module.emitError() << "strategy '" << strategy << "' needs a dist.mesh";
    StrategyOptions options;
    options.weights.assign(weights.begin(), weights.end());
    return found->state(module, Mesh(*meshes.begin()), options);
  }
};

} // namespace
