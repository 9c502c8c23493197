// nn.matmul_packed with an epilogue.
#include "lib/Conversion/NNToCPU/Emitters.h"
#include "lib/Conversion/NNToCPU/PackedGemm.h"

using namespace mlir;
using namespace sprig;

namespace {
class MatmulPackedEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "matmul_packed"; }
  bool matches(nn::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(nn::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<nn::MatmulPackedOp>(epilogue.root);
    return gemm(op).plan(epilogue, op.getFlops(), op.getBytes());
  }

  LogicalResult emit(nn::DispatchOp dispatch, KernelBuilder &kernel) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<nn::MatmulPackedOp>(epilogue.root);
    gemm(op).emit(kernel, epilogue, kernel.operandBuffer(cast<BlockArgument>(op.getLhs())),
                  kernel.operandBuffer(cast<BlockArgument>(op.getPanels())), epilogue.rootType.getElementType());
    return success();
  }

private:
  static std::optional<Epilogue> analyze(nn::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<nn::MatmulPackedOp>(op); });
  }
  static PackedGemm gemm(nn::MatmulPackedOp op) {
    auto result = cast<RankedTensorType>(op.getResult().getType());
    int64_t columns = result.getShape().back(), rows = 1;
    for (int64_t size : result.getShape().drop_back()) rows *= size;
    return {rows, columns, cast<RankedTensorType>(op.getPanels().getType()).getDimSize(1)};
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createMatmulPackedEmitter() { return std::make_unique<MatmulPackedEmitter>(); }
