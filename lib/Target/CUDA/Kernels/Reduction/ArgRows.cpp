// nn.arg_reduce along the innermost dimension: a warp a row, or, of short rows, a thread each, whose rows the block has
// copied to shared memory. So neighbouring threads read neighbours.
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/Kernels/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct ArgRowForm {
  static std::optional<ArgRowForm> of(kernel::DispatchOp dispatch);

  ir::ArgReduceOp op;
  int64_t rows, length;

  static constexpr int64_t kThreads = 128;
  bool isShort() const { return length <= kWarp; }
  int64_t rowsPerBlock() const { return isShort() ? kThreads : kThreads / kWarp; }
};

class ArgRowKernel {
public:
  ArgRowKernel(GpuBuilder &kernel, const ArgRowForm &form)
      : k(kernel), form(form), op(form.op), elementType(elementOf(op.getOperand())),
        source(k.flatOperand(op.getOperand())) {}

  void emit(Value tile) {
    Value firstRow = k.mul(tile, form.rowsPerBlock());
    form.isShort() ? emitShort(firstRow) : emitLong(firstRow);
  }

private:
  struct Best {
    Value element, index;
  };

  // The better one of different elements, whatever the order in which they come.
  Best better(Best a, Best b) {
    Value isBefore = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, a.index, b.index);
    return later(choose(isBefore, a, b), choose(isBefore, b, a));
  }
  // The better one, of which `next` comes later in the row.
  Best later(Best best, Best next) { return choose(replacesBest(k, op, next.element, best.element), next, best); }
  Best choose(Value condition, Best a, Best b) {
    return {arith::SelectOp::create(k.b, k.loc, condition, a.element, b.element),
            arith::SelectOp::create(k.b, k.loc, condition, a.index, b.index)};
  }

  Value isBelow(Value index, int64_t bound) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, k.index(bound));
  }
  void ifThere(Value row, llvm::function_ref<void()> body) {
    form.rows % form.rowsPerBlock() ? k.ifThen(isBelow(row, form.rows), body) : body();
  }
  void store(Best best, Value row) {
    Value index = arith::IndexCastUIOp::create(k.b, k.loc, k.b.getI64Type(), best.index);
    memref::StoreOp::create(k.b, k.loc, index, k.flat(k.resultBuffer(0)), row);
  }

  void emitShort(Value firstRow) {
    int64_t count = form.kThreads * form.length, total = form.rows * form.length;
    Value shared = k.sharedBuffer({count}, storageType(elementType)), begin = k.mul(firstRow, form.length);
    for (int64_t at = 0; at < count; at += form.kThreads) {
      Value i = k.add(k.thread(), at), from = k.add(begin, i);
      auto copy = [&] { k.store(k.load(source, from, elementType), shared, i, elementType); };
      total % count ? k.ifThen(isBelow(from, total), copy) : copy();
    }
    k.barrier();
    // Rows whose length is even begin at a bank of others: those begin at other elements.
    int64_t apart = std::gcd(form.length, kWarp);
    Value own = k.mul(k.thread(), form.length);
    Value turn = k.div(k.rem(k.thread(), kWarp), kWarp / apart), row = k.add(firstRow, k.thread());
    ifThere(row, [&] {
      Best best;
      for (int64_t i = 0; i < form.length; ++i) {
        Value index = k.add(turn, i);
        if (apart > 1)
          index = arith::SelectOp::create(k.b, k.loc, isBelow(index, form.length), index,
                                          k.sub(index, k.index(form.length)));
        Best next{k.load(shared, k.add(own, index), elementType), index};
        best = i == 0 ? next : apart > 1 ? better(best, next) : later(best, next);
      }
      store(best, row);
    });
  }

  void emitLong(Value firstRow) {
    Value lane = k.rem(k.thread(), kWarp), row = k.add(firstRow, k.div(k.thread(), kWarp));
    // Warps without a row come along with the last one.
    Value base = k.mul(form.rows % form.rowsPerBlock() ? k.min(row, k.index(form.rows - 1)) : row, form.length);
    auto elementAt = [&](Value i) { return k.load(source, k.add(base, i), elementType); };
    SmallVector<Value> start{elementAt(lane), lane};
    SmallVector<Value> found =
        k.loop(k.add(lane, kWarp), k.index(form.length), kWarp, start, [&](Value i, ValueRange carried) {
          Best best = later({carried[0], carried[1]}, {elementAt(i), i});
          return SmallVector<Value>{best.element, best.index};
        });
    Type i32 = k.b.getI32Type();
    Best best{found[0], arith::IndexCastUIOp::create(k.b, k.loc, i32, found[1])};
    for (int64_t distance = kWarp / 2; distance >= 1; distance /= 2)
      best = better(best, {k.shuffleXor(best.element, distance), k.shuffleXor(best.index, distance)});
    best.index = arith::IndexCastUIOp::create(k.b, k.loc, k.b.getIndexType(), best.index);
    ifThere(row, [&] { k.ifThen(isBelow(lane, 1), [&] { store(best, row); }); });
  }

  GpuBuilder &k;
  const ArgRowForm form;
  ir::ArgReduceOp op;
  const Type elementType;
  const Value source;
};

struct ArgRowEmitter : GpuEmitter {
  StringRef name() const override { return "arg_rows"; }
  bool matches(kernel::DispatchOp dispatch) const override { return ArgRowForm::of(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ArgRowForm form = *ArgRowForm::of(dispatch);
    return {int64_t(llvm::divideCeil(form.rows, form.rowsPerBlock())), form.kThreads};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    ArgRowKernel(k, *ArgRowForm::of(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::optional<ArgRowForm> ArgRowForm::of(kernel::DispatchOp dispatch) {
  auto op = singleOp<ir::ArgReduceOp>(dispatch);
  if (!op) return std::nullopt;
  AxisView view(shapeOf(op.getOperand()), op.getAxis());
  // Places in a row are counted by 32 bits.
  if (view.inner != 1 || view.length < 1 || view.length > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return ArgRowForm{op, view.outer, view.length};
}

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuArgRowEmitter() { return std::make_unique<ArgRowEmitter>(); }
