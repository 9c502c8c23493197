// The decompose pass: composites to primitives, by interface.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Transforms/Passes.h"

namespace sprig {
#define GEN_PASS_DEF_DECOMPOSE
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

namespace {
struct DecomposePass : sprig::impl::DecomposeBase<DecomposePass> {
  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> composites;
    auto collect = [&] {
      composites.clear();
      getOperation().walk([&](DecomposableOpInterface op) { composites.push_back(op); });
      return !composites.empty();
    };
    while (collect()) { // a composite may be made of others
      for (DecomposableOpInterface op : composites) {
        OpBuilder builder(op);
        auto values = op.decompose(builder);
        if (failed(values)) {
          op.emitOpError("does not decompose");
          return signalPassFailure();
        }
        op->replaceAllUsesWith(*values);
        op->erase();
      }
    }
    // Ranks have added up their parts: sums that differ in names alone are the same again.
    getOperation().walk([](ir::ReduceOp sum) { sum->removeDiscardableAttr(ir::kSumAttr); });
  }
};
} // namespace
