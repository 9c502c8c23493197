// kernel.matmul_packed with an epilogue.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Contraction/NibblePanels.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class MatmulPackedEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "matmul_packed"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::MatmulPackedOp>(epilogue.root);
    return gemm(op).plan(epilogue);
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::MatmulPackedOp>(epilogue.root);
    Value left = kernel.operandBuffer(cast<BlockArgument>(op.getLhs()));
    Type element = epilogue.rootType.getElementType();
    if (op.getLowest()) {
      gemm(op).emit(kernel, epilogue, left, NibblePanels(kernel, op), element);
      return success();
    }
    epilogue.beginWithBias();
    gemm(op).emit(kernel, epilogue, left, kernel.operandBuffer(cast<BlockArgument>(op.getPanels())), element);
    return success();
  }

private:
  static std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<kernel::MatmulPackedOp>(op); });
  }
  static PackedGemm gemm(kernel::MatmulPackedOp op) {
    auto result = cast<RankedTensorType>(op.getResult().getType());
    int64_t columns = result.getShape().back(), rows = 1;
    for (int64_t size : result.getShape().drop_back()) rows *= size;
    int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getShape().back();
    auto panels = cast<RankedTensorType>(op.getPanels().getType());
    return {rows, columns, depth, kernel::interleaveIn(panels.getShape()), op.getLowest() ? 4 : 0};
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createMatmulPackedEmitter() {
  return std::make_unique<MatmulPackedEmitter>();
}
