// kernel.matmul_narrow with an epilogue.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct MatmulNarrowEmitter : ContractionEmitter<kernel::MatmulNarrowOp> {
  KernelPlan planOf(kernel::MatmulNarrowOp op, const Epilogue &epilogue) const override {
    return gemm(op).plan(epilogue);
  }

  void emitOp(KernelBuilder &kernel, kernel::MatmulNarrowOp op, Epilogue &epilogue) const override {
    gemm(op).emit(kernel, epilogue, kernel.operandBuffer(op.getLhs()), NarrowPanels(kernel, op),
                  epilogue.rootType.getElementType());
  }

private:
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
