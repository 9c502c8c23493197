// nn.pool_grad, channels last: lanes are channels, and each window in turn gives its cotangent to the elements of the
// window. Windows in row-major order are the order of sums; of a half type, which rounds once, the loops take care.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/Kernels/Evaluator.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

namespace {
/// Channels of a tile.
constexpr int64_t kBlock = 4 * kLanes;

class PoolGradKernel {
public:
  PoolGradKernel(KernelBuilder &kernel, ir::PoolGradOp op)
      : k(kernel), op(op), dims(op.getWindow().size()), channels(shapeOf(op.getOperand()).back()),
        elementType(elementTypeOf(op.getOperand())), operand(flatOperand(k, op.getOperand())),
        cotangent(flatOperand(k, op.getCotangent())), result(k.flat(k.resultBuffer(0))) {
    window = {op.getWindow(),
              op.getStrides(),
              op.getDilations(),
              op.getPadding(),
              shapeOf(op.getOperand()).slice(1, dims),
              shapeOf(op.getCotangent()).slice(1, dims)};
    apart = true;
    for (size_t d = 0; d < dims; ++d) {
      apart &= window.sizes[d] == window.strides[d] && window.dilations[d] == 1 && window.padding[d] == 0;
      apart &= window.outputs[d] * window.strides[d] == window.inputs[d];
    }
  }

  void emit() {
    Evaluator evaluator(k, kLanes);
    int64_t blocks = llvm::divideCeil(channels, kBlock), last = channels - (blocks - 1) * kBlock;
    int64_t inputs = product(window.inputs), outputs = product(window.outputs);
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, {shapeOf(op.getOperand())[0], blocks});
      Value channel = k.mul(at[1], kBlock);
      Value to = k.add(k.mul(at[0], inputs * channels), channel),
            from = k.add(k.mul(at[0], outputs * channels), channel);
      k.ifLast(at[1], blocks, last != kBlock, [&](bool isLast) {
        int64_t count = isLast ? last : kBlock;
        if (!apart) clear(to, inputs, count);
        k.loop(k.index(0), k.index(outputs), 1, [&](Value output) {
          Position place;
          for (Value index : k.delinearize(output, window.outputs)) place.push_back({index, 0});
          Value row = k.add(from, k.mul(output, channels));
          for (int64_t first = 0; first < count; first += kLanes)
            giveBack(evaluator, place, k.add(row, first), k.add(to, first),
                     count - first < kLanes ? k.mask(count - first) : Value());
        });
      });
    });
  }

private:
  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes) result *= size;
    return result;
  }

  void clear(Value to, int64_t positions, int64_t count) {
    Value zero = k.zero(elementType, kLanes);
    k.loop(k.index(0), k.index(positions), 1, [&](Value position) {
      for (int64_t first = 0; first < count; first += kLanes)
        k.store(zero, result, k.add(k.add(to, k.mul(position, channels)), first), elementType,
                count - first < kLanes ? k.mask(count - first) : Value());
    });
  }

  // One window's cotangent, for one vector of channels.
  void giveBack(Evaluator &evaluator, ArrayRef<Coordinate> place, Value from, Value to, Value mask) {
    bool isMax = op.getKind() == ir::ReduceKind::max;
    auto offset = [&](ValueRange places) { return k.add(to, k.mul(k.linearize(places, window.inputs), channels)); };
    auto number = [&](ValueRange taps) {
      Value tap = k.linearize(taps, window.sizes);
      return k.splat(arith::IndexCastOp::create(k.b, k.loc, k.b.getI32Type(), tap));
    };
    Value g = k.loadVector(cotangent, from, elementType, mask), first;
    if (isMax) {
      Value none = k.splat(arith::ConstantIntOp::create(k.b, k.loc, -1, 32));
      Value zero = k.zero(k.b.getI32Type(), kLanes);
      first =
          evaluator.windowLoop(window, place, ValueRange{k.zero(elementType, kLanes), none},
                               [&](ValueRange taps, ValueRange places, ValueRange carried) -> SmallVector<Value> {
                                 Value element = k.loadVector(operand, offset(places), elementType, mask);
                                 Value better = arith::OrIOp::create(
                                     k.b, k.loc, precedes(k, elementType, /*largest=*/true, element, carried[0]),
                                     arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, carried[1], zero));
                                 return {arith::SelectOp::create(k.b, k.loc, better, element, carried[0]),
                                         arith::SelectOp::create(k.b, k.loc, better, number(taps), carried[1])};
                               })[1];
    }
    evaluator.windowLoop(window, place, {}, [&](ValueRange taps, ValueRange places, ValueRange) -> SmallVector<Value> {
      Value value = g, at = offset(places);
      if (isMax) {
        Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, first, number(taps));
        value = arith::SelectOp::create(k.b, k.loc, here, g, k.zero(elementType, kLanes));
      }
      if (!apart) value = arith::AddFOp::create(k.b, k.loc, k.loadVector(result, at, elementType, mask), value);
      k.store(value, result, at, elementType, mask);
      return {};
    });
  }

  KernelBuilder &k;
  ir::PoolGradOp op;
  size_t dims;
  int64_t channels;
  Type elementType;
  Value operand, cotangent, result;
  Window window;
  bool apart; // every element is in one window
};

class PoolGradEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "pool_grad"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::PoolGradOp>(dispatch);
    return op && op.getChannelsLast() && !isHalf(elementTypeOf(op.getOperand()));
  }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::PoolGradOp>(dispatch);
    ArrayRef<int64_t> shape = shapeOf(op.getOperand());
    KernelPlan plan;
    if (op.getResult().getType().getNumElements() == 0) return plan;
    int64_t blocks = llvm::divideCeil(shape.back(), kBlock);
    plan.tiles = shape[0] * blocks;
    // Blocks of channels have a part of every position.
    auto samples = [&](Value value) -> SmallVector<TileStep> {
      int64_t size = cast<RankedTensorType>(value.getType()).getNumElements() / shape[0];
      return {{size, 0, size}, {0, 0, size}};
    };
    TileRanges ranges(dispatch, {shape[0], blocks});
    ranges.operands([&](OpOperand &use) { return samples(use.get()); });
    ranges.result(0, samples(op.getResult()));
    plan.ranges = ranges.take();
    return plan;
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    if (plan(dispatch).tiles) PoolGradKernel(k, singleOp<ir::PoolGradOp>(dispatch)).emit();
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createPoolGradEmitter() { return std::make_unique<PoolGradEmitter>(); }
