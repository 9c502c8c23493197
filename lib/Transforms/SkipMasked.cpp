#define GEN_PASS_DEF_SKIPMASKED
#include "lib/Transforms/Passes.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/AttentionBand.h"

using namespace mlir;
using namespace sprig;

static bool isBanded(ir::MatmulOp product) {
  std::string why;
  std::optional<ir::Attention> attention = ir::matchAttention(product, why);
  return attention && ir::bandOf(*attention);
}

namespace {
struct SkipMaskedPass : sprig::impl::SkipMaskedBase<SkipMaskedPass> {
  void runOnOperation() override {
    getOperation().walk([](kernel::DispatchOp dispatch) {
      if (llvm::any_of(dispatch.getBody().front().getOps<ir::MatmulOp>(), isBanded)) dispatch.setSkipMasked(true);
    });
  }
};
} // namespace
