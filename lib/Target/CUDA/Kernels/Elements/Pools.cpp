// nn.pool without padding, with what follows it: a thread computes some neighbours of a row and reads the rows under
// their windows 128 or 64 bits at once, so neighbouring threads read neighbours.
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct PoolForm {
  static std::optional<PoolForm> of(kernel::DispatchOp dispatch);

  ir::PoolOp op;
  int64_t own;   // neighbours of a thread
  int64_t width; // elements of an access
  int64_t span;  // elements of a row under the thread's windows
  int64_t items; // of all threads
};
} // namespace

std::optional<PoolForm> PoolForm::of(kernel::DispatchOp dispatch) {
  ir::PoolOp op = poolOf(dispatch);
  if (!op || op.getChannelsLast() || op.getDilations().back() != 1) return std::nullopt;
  ArrayRef<int64_t> in = shapeOf(op.getOperand()), out = shapeOf(op.getResult()), window = op.getWindow();
  if (llvm::product_of(in) == 0 || llvm::product_of(out) == 0) return std::nullopt;
  for (size_t d = 0; d < window.size(); ++d)
    if (op.getPadding()[d] ||
        (out[2 + d] - 1) * op.getStrides()[d] + (window[d] - 1) * op.getDilations()[d] >= in[2 + d])
      return std::nullopt;
  // Rows and accesses are written out.
  constexpr int64_t kMostRows = 8, kMostAccesses = 4;
  if (llvm::product_of(window.drop_back()) > kMostRows) return std::nullopt;
  for (int64_t width : {4, 2})
    for (int64_t own : {1, 2, 4}) {
      int64_t stride = op.getStrides().back(), span = (own - 1) * stride + window.back();
      if (in.back() % width || out.back() % own || own * stride % width) continue;
      if (llvm::divideCeil(span, width) <= kMostAccesses)
        return PoolForm{op, own, width, span, llvm::product_of(out) / own};
    }
  return std::nullopt;
}

namespace {
struct PoolEmitter : ContractionEmitter {
  StringRef name() const override { return "pool"; }
  bool matches(kernel::DispatchOp dispatch) const override { return PoolForm::of(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    GpuPlan plan;
    plan.tiles = llvm::divideCeil(PoolForm::of(dispatch)->items, plan.threads);
    return plan;
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    PoolForm form = *PoolForm::of(dispatch);
    Epilogue epilogue(k, form.op, form.own);
    k.forThreads(tile, form.items, 1, [&](Value i) {
      Value first = k.mul(i, form.own);
      SmallVector<Value> position = k.delinearize(first, shapeOf(form.op.getResult()));
      epilogue.store(pool(k, form, position), position, first);
    });
    return success();
  }

private:
  static SmallVector<Value> pool(GpuBuilder &k, const PoolForm &form, ArrayRef<Value> position) {
    ir::PoolOp op = form.op;
    ArrayRef<int64_t> in = shapeOf(op.getOperand()), window = op.getWindow(), strides = op.getStrides();
    Type type = elementOf(op.getResult());
    SmallVector<Value> begin(position);
    for (size_t d = 0; d < window.size(); ++d) begin[2 + d] = k.mul(position[2 + d], strides[d]);
    Value origin = k.linearize(begin, in), buffer = k.flatOperand(op.getOperand());
    SmallVector<Value> totals(form.own, reductionIdentity(k, op.getKind(), type, 1));
    // Taps in row-major order; rows of them by number.
    for (int64_t row = 0; row < llvm::product_of(window.drop_back()); ++row) {
      int64_t offset = 0, rest = row, distance = in.back();
      for (size_t d = window.size() - 1; d-- > 0; distance *= in[2 + d], rest /= window[d])
        offset += rest % window[d] * op.getDilations()[d] * distance;
      SmallVector<Value> elements;
      for (int64_t at = 0; at < form.span; at += form.width) {
        Value vector = k.loadVector(buffer, k.add(origin, offset + at), type, {}, form.width);
        for (int64_t lane = 0; lane < form.width; ++lane)
          elements.push_back(vector::ExtractOp::create(k.b, k.loc, vector, lane));
      }
      for (int64_t j = 0; j < form.own; ++j)
        for (int64_t tap = 0; tap < window.back(); ++tap)
          totals[j] = reductionStep(k, op.getKind(), type, totals[j], elements[j * strides.back() + tap]);
    }
    return totals;
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuPoolEmitter() { return std::make_unique<PoolEmitter>(); }
