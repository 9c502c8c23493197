#define GEN_PASS_DEF_ALLOWTF32
#include "lib/Transforms/Passes.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/KernelDispatch.h"

using namespace mlir;
using namespace sprig;

static bool isProductOfF32(Operation &op) {
  // Sums of parts are fused as products are, and are none.
  bool isProduct = fusionKind(&op) == FusionKind::contraction && !isa<kernel::SumPartsOp>(op);
  isProduct |= isa<kernel::ConvFilterGradPartsOp, kernel::MatmulPartsOp>(op);
  return isProduct && getElementTypeOrSelf(op.getResult(0).getType()).isF32();
}

namespace {
struct AllowTf32Pass : sprig::impl::AllowTf32Base<AllowTf32Pass> {
  void runOnOperation() override {
    getOperation().walk([](kernel::DispatchOp dispatch) {
      if (llvm::any_of(dispatch.getBody().front(), isProductOfF32)) dispatch.setTf32(true);
    });
  }
};
} // namespace
