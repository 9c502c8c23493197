// kernel.matmul_packed with an epilogue.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct MatmulPackedEmitter : ContractionEmitter<kernel::MatmulPackedOp> {
  KernelPlan planOf(kernel::MatmulPackedOp op, const Epilogue &epilogue) const override {
    return gemm(op).plan(epilogue);
  }

  void emitOp(KernelBuilder &kernel, kernel::MatmulPackedOp op, Epilogue &epilogue) const override {
    Value left = kernel.operandBuffer(op.getLhs());
    Type element = epilogue.rootType.getElementType();
    if (op.getLowest()) {
      gemm(op).emit(kernel, epilogue, left, NibblePanels(kernel, op), element);
      return;
    }
    epilogue.beginWithBias();
    gemm(op).emit(kernel, epilogue, left, kernel.operandBuffer(op.getPanels()), element);
  }

private:
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
