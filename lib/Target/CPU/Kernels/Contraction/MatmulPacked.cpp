// nn.matmul_packed with an epilogue.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNStructure.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"

using namespace mlir;
using namespace sprig;

namespace {
class MatmulPackedEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "matmul_packed"; }
  bool matches(ir::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(ir::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<ir::MatmulPackedOp>(epilogue.root);
    return gemm(op).plan(epilogue);
  }

  LogicalResult emit(ir::DispatchOp dispatch, KernelBuilder &kernel) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<ir::MatmulPackedOp>(epilogue.root);
    gemm(op).emit(kernel, epilogue, kernel.operandBuffer(cast<BlockArgument>(op.getLhs())),
                  kernel.operandBuffer(cast<BlockArgument>(op.getPanels())), epilogue.rootType.getElementType());
    return success();
  }

private:
  static std::optional<Epilogue> analyze(ir::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<ir::MatmulPackedOp>(op); });
  }
  static PackedGemm gemm(ir::MatmulPackedOp op) {
    auto result = cast<RankedTensorType>(op.getResult().getType());
    int64_t columns = result.getShape().back(), rows = 1;
    for (int64_t size : result.getShape().drop_back()) rows *= size;
    return {rows, columns, cast<RankedTensorType>(op.getPanels().getType()).getDimSize(1)};
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createMatmulPackedEmitter() { return std::make_unique<MatmulPackedEmitter>(); }
