// kernel.matmul_narrow with an epilogue.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Contraction/NarrowPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class MatmulNarrowEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "matmul_narrow"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    return gemm(cast<kernel::MatmulNarrowOp>(epilogue.root)).plan(epilogue);
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::MatmulNarrowOp>(epilogue.root);
    gemm(op).emit(kernel, epilogue, kernel.operandBuffer(cast<BlockArgument>(op.getLhs())), NarrowPanels(kernel, op),
                  epilogue.rootType.getElementType());
    return success();
  }

private:
  static std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<kernel::MatmulNarrowOp>(op); });
  }
  static PackedGemm gemm(kernel::MatmulNarrowOp op) {
    ArrayRef<int64_t> left = op.getLhs().getType().getShape();
    int64_t rows = 1;
    for (int64_t size : left.drop_back()) rows *= size;
    return {rows, int64_t(op.getColumns()), left.back(), /*interleave=*/1, int64_t(op.getBits())};
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createMatmulNarrowEmitter() {
  return std::make_unique<MatmulNarrowEmitter>();
}
