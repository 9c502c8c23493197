// The decompose pass: composites to primitives, by interface.
#define GEN_PASS_DEF_DECOMPOSE
#include "lib/Transforms/Passes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNReduction.h"

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
      for (DecomposableOpInterface op : composites)
        if (failed(decomposeInPlace(op))) return signalPassFailure();
    }
    // Ranks have added up their parts: sums that differ in names alone are the same again.
    getOperation().walk([](ir::ReduceOp sum) { sum->removeDiscardableAttr(ir::kSumAttr); });
  }
};
} // namespace
