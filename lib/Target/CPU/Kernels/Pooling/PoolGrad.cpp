// nn.pool_grad, channels last: lanes are channels, and each window in turn gives its cotangent to the elements of the
// window. Windows in row-major order are the order of sums; of a half type, which rounds once, the loops take care.
// Where no element is in two windows, which most pools are, nothing is added up and every tap has a place that is
// known.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/Kernels/Evaluator.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// Channels of a tile.
constexpr int64_t kBlock = 4 * kLanes;
/// Of a window that is spelled out.
constexpr int64_t kTaps = 16;

class PoolGradKernel {
public:
  PoolGradKernel(KernelBuilder &kernel, ir::PoolGradOp op)
      : k(kernel), op(op), dims(op.getWindow().size()), channels(shapeOf(op.getOperand()).back()),
        elementType(elementOf(op.getOperand())), operand(k.flatOperand(op.getOperand())),
        cotangent(k.flatOperand(op.getCotangent())), result(k.flat(k.resultBuffer(0))) {
    window = {op.getWindow(),
              op.getStrides(),
              op.getDilations(),
              op.getPadding(),
              shapeOf(op.getOperand()).slice(1, dims),
              shapeOf(op.getCotangent()).slice(1, dims)};
    apart = product(window.sizes) <= kTaps;
    covers = true;
    for (size_t d = 0; d < dims; ++d) {
      apart &= window.sizes[d] <= window.strides[d] && window.dilations[d] == 1 && window.padding[d] == 0;
      apart &= (window.outputs[d] - 1) * window.strides[d] + window.sizes[d] <= window.inputs[d];
      covers &= window.sizes[d] == window.strides[d] && window.outputs[d] * window.strides[d] == window.inputs[d];
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
        if (!apart || !covers) clear(to, inputs, count);
        auto give = [&](ArrayRef<Coordinate> place) {
          Value output = k.linearize(bases(place), window.outputs), row = k.add(from, k.mul(output, channels));
          for (int64_t first = 0; first < count; first += kLanes) {
            Value mask = count - first < kLanes ? k.mask(count - first) : Value();
            Value source = k.add(row, first), target = k.add(to, first);
            apart ? giveBackApart(place, source, target, mask) : giveBack(evaluator, place, source, target, mask);
          }
        };
        forOutputs(give);
      });
    });
  }

private:
  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes) result *= size;
    return result;
  }

  static SmallVector<Value> bases(ArrayRef<Coordinate> place) {
    return llvm::map_to_vector(place, [](const Coordinate &at) { return at.base; });
  }

  // One loop for each dimension: no division for every window.
  void forOutputs(llvm::function_ref<void(ArrayRef<Coordinate>)> body, Position place = {}) {
    if (place.size() == dims) return body(place);
    k.loop(k.index(0), k.index(window.outputs[place.size()]), 1, [&](Value index) {
      Position inner = place;
      inner.push_back({index, 0});
      forOutputs(body, inner);
    });
  }

  void clear(Value to, int64_t positions, int64_t count) {
    Value zero = k.zero(elementType, kLanes);
    k.loop(k.index(0), k.index(positions), 1, [&](Value position) {
      for (int64_t first = 0; first < count; first += kLanes)
        k.store(zero, result, k.add(k.add(to, k.mul(position, channels)), first), elementType,
                count - first < kLanes ? k.mask(count - first) : Value());
    });
  }

  // One window's cotangent, for one vector of channels, to elements that are in no other window.
  void giveBackApart(ArrayRef<Coordinate> place, Value from, Value to, Value mask) {
    SmallVector<Value> corner;
    for (size_t d = 0; d < dims; ++d) corner.push_back(k.mul(place[d].base, window.strides[d]));
    Value start = k.add(to, k.mul(k.linearize(corner, window.inputs), channels));
    SmallVector<Value> places;
    for (int64_t tap = 0; tap < product(window.sizes); ++tap) {
      int64_t offset = 0, rest = tap, stride = channels;
      for (size_t d = dims; d-- > 0; rest /= window.sizes[d], stride *= window.inputs[d])
        offset += rest % window.sizes[d] * stride;
      places.push_back(k.add(start, offset));
    }
    Value g = k.loadVector(cotangent, from, elementType, mask);
    if (op.getKind() != ir::ReduceKind::max) {
      for (Value at : places) k.store(g, result, at, elementType, mask);
      return;
    }
    auto number = [&](size_t tap) { return k.splat(arith::ConstantIntOp::create(k.b, k.loc, tap, 32)); };
    Value best, first;
    for (auto [tap, at] : llvm::enumerate(places)) {
      Value element = k.loadVector(operand, at, elementType, mask);
      if (best) {
        Value better = precedes(k, elementType, /*largest=*/true, element, best);
        best = arith::SelectOp::create(k.b, k.loc, better, element, best);
        first = arith::SelectOp::create(k.b, k.loc, better, number(tap), first);
      } else {
        best = element, first = number(tap);
      }
    }
    for (auto [tap, at] : llvm::enumerate(places)) {
      Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, first, number(tap));
      k.store(arith::SelectOp::create(k.b, k.loc, here, g, k.zero(elementType, kLanes)), result, at, elementType, mask);
    }
  }

  // The same to elements of several windows, or in the padding.
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
      value = arith::AddFOp::create(k.b, k.loc, k.loadVector(result, at, elementType, mask), value);
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
  bool apart;  // no element is in two windows, and no window in the padding
  bool covers; // every element is in one
};

struct PoolGradEmitter : SingleOpEmitter<ir::PoolGradOp> {
  bool takes(ir::PoolGradOp op) const override { return op.getChannelsLast() && !isHalf(elementOf(op.getOperand())); }
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::PoolGradOp op) const override {
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
  void emitOp(KernelBuilder &k, ir::PoolGradOp op) const override {
    if (op.getResult().getType().getNumElements()) PoolGradKernel(k, op).emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createPoolGradEmitter() { return std::make_unique<PoolGradEmitter>(); }
