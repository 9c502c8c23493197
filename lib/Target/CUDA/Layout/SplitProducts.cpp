// The split-products pass: parts of long sums side by side.
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/SumOrder.h"
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/Kernels/Contraction/FilterGradForm.h"
#include "lib/Target/CUDA/Layout/Passes.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace sprig::cuda {
#define GEN_PASS_DEF_SPLITPRODUCTS
#include "lib/Target/CUDA/Layout/Passes.h.inc"
} // namespace sprig::cuda

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct SplitProducts : cuda::impl::SplitProductsBase<SplitProducts> {
  void runOnOperation() override {
    if (getOperation().isExternal()) return;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (auto product = dyn_cast<ir::MatmulOp>(op); product && pays(product)) split(product);
      if (auto gradient = dyn_cast<ir::ConvFilterGradOp>(op); gradient && pays(gradient)) split(gradient);
    }
  }

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  static bool pays(ir::MatmulOp op) {
    RankedTensorType left = typeOf(op.getLhs()), right = typeOf(op.getRhs()), type = typeOf(op.getResult());
    if (!type.getElementType().isF32() || left.getRank() != 2 || right.getRank() != 2) return false;
    int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), depth = right.getDimSize(0);
    // Of both sides the parts lie behind each other.
    if (op.getTransposeRhs() || depth <= kLongestChain) return false;
    if (!op.getTransposeLhs() && (rows != 1 || depth % kChainPart)) return false;
    // Fewer tiles than a large GPU has multiprocessors.
    constexpr int64_t kFew = 8, kTile = 32, kEnough = 128;
    int64_t tile = std::min(rows, columns) <= kFew ? kFew : kTile;
    return llvm::divideCeil(rows, tile) * llvm::divideCeil(columns, tile) < kEnough && type.getNumElements();
  }

  static void split(ir::MatmulOp op) {
    OpBuilder b(op);
    if (typeOf(op.getRhs()).getDimSize(0) % kChainPart)
      return replaceBySum(op, kernel::MatmulPartsOp::create(b, op.getLoc(), op.getLhs(), op.getRhs()));
    auto inParts = [&](Value side, bool stepsInner) -> Value {
      RankedTensorType type = typeOf(side);
      int64_t count = type.getDimSize(stepsInner ? 1 : 0) / kChainPart;
      SmallVector<int64_t> shape = {count, kChainPart, type.getDimSize(1)};
      if (stepsInner) shape = {count, 1, kChainPart}; // of the only row
      return ir::ReshapeOp::create(b, op.getLoc(), type.clone(shape), side);
    };
    bool stepsInner = !op.getTransposeLhs();
    Value parts = ir::MatmulOp::create(b, op.getLoc(), inParts(op.getLhs(), stepsInner), inParts(op.getRhs(), false),
                                       op.getTransposeLhs(), /*transpose_rhs=*/false);
    replaceBySum(op, parts);
  }

  // A block takes a while for each step of its chains, however many there are; parts are computed side by side, written
  // and read again. In nanoseconds, by rates of a large GPU. They take no more memory than what they are made of, or
  // not much.
  static bool pays(ir::ConvFilterGradOp op) {
    std::optional<FilterGradForm> whole = FilterGradForm::of(op);
    if (!whole || whole->depth() <= kLongestChain) return false;
    constexpr double kStep = 10, kInstructions = 28000, kBytes = machine::CudaDevice::kMovedBytes,
                     kLaunch = machine::CudaDevice::kLaunchNanoseconds;
    auto time = [&](const FilterGradForm &form, int64_t steps) {
      double instructions = form.isWorthTiles() ? form.instructions() : kLoopInstructions * form.products();
      return std::max(double(steps) * kStep, instructions / kInstructions);
    };
    FilterGradForm cut = whole->cut();
    int64_t results = cut.parts() * op.getType().getNumElements(), little = 1 << 22;
    int64_t read = typeOf(op.getInput()).getNumElements() + typeOf(op.getCotangent()).getNumElements();
    if (results > std::min<int64_t>(std::max(little, read), std::numeric_limits<int32_t>::max())) return false;
    double apart = time(cut, kChainPart) + 2 * sizeof(float) * double(results) / kBytes + kLaunch;
    return 5 * apart < 4 * time(*whole, whole->depth());
  }

  static void split(ir::ConvFilterGradOp op) {
    OpBuilder b(op);
    replaceBySum(op, kernel::ConvFilterGradPartsOp::create(
                         b, op.getLoc(), op.getInput(), op.getCotangent(), op.getWindowAttr(), op.getStridesAttr(),
                         op.getDilationsAttr(), op.getPaddingAttr(), op.getGroupsAttr(), b.getUnitAttr()));
  }

  static void replaceBySum(Operation *op, Value parts) {
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(kernel::SumPartsOp::create(b, op->getLoc(), parts));
    op->erase();
  }
};
} // namespace
