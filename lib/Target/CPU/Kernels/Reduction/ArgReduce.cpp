// nn.arg_reduce: the best element and its index, carried for 16 lanes: across the dimensions after the axis, or along
// the axis itself where that is the innermost dimension.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct ArgReduceEmitter : SingleOpEmitter<ir::ArgReduceOp> {
  bool takes(ir::ArgReduceOp op) const override { return shapeOf(op.getOperand())[op.getAxis()] > 0; }
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::ArgReduceOp op) const override {
    return planOfSlices(dispatch, AxisView(shapeOf(op.getOperand()), op.getAxis()));
  }
  void emitOp(KernelBuilder &k, ir::ArgReduceOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Search search{k, op, elementOf(op.getOperand()), k.flatOperand(op.getOperand())};
    Value to = k.flat(k.resultBuffer(0));
    k.forTiles([&](Value outer) {
      Value base = k.mul(outer, view.length * view.inner);
      if (view.inner == 1)
        memref::StoreOp::create(k.b, k.loc, search.alongRow(base, view.length), to, outer);
      else
        forVectors(k, view.inner, [&](Value offset, Value mask) {
          Value best = search.acrossRows(k.add(base, offset), view, mask);
          Value target = k.add(k.mul(outer, view.inner), offset);
          if (mask)
            vector::MaskedStoreOp::create(k.b, k.loc, to, target, mask, best);
          else
            vector::StoreOp::create(k.b, k.loc, best, to, target);
        });
    });
  }

private:
  struct Search {
    KernelBuilder &k;
    ir::ArgReduceOp op;
    Type elementType;
    Value from;

    Value replaces(Value next, Value best) { return replacesBest(k, op, next, best); }

    Value acrossRows(Value base, const AxisView &view, Value mask) {
      Value first = k.loadVector(from, base, elementType, mask);
      Value zero = k.zero(k.b.getI64Type(), kLanes);
      return k.loop(k.index(1), k.index(view.length), 1, ValueRange{first, zero},
                    [&](Value i, ValueRange carried) -> SmallVector<Value> {
                      Value next = k.loadVector(from, k.add(base, k.mul(i, view.inner)), elementType, mask);
                      Value index = k.splat(arith::IndexCastOp::create(k.b, k.loc, k.b.getI64Type(), i));
                      return choose(replaces(next, carried[0]), {next, index}, carried);
                    })[1];
    }

    SmallVector<Value> choose(Value condition, ValueRange next, ValueRange old) {
      SmallVector<Value> result;
      for (auto [a, b] : llvm::zip_equal(next, old))
        result.push_back(arith::SelectOp::create(k.b, k.loc, condition, a, b));
      return result;
    }

    // Lane l looks at elements l, l + 16, ...; then the lanes are compared one by one.
    Value alongRow(Value base, int64_t length) {
      int64_t used = std::min(length, kLanes), whole = length / kLanes * kLanes, rest = length - whole;
      Type i64 = k.b.getI64Type();
      SmallVector<int64_t> laneNumbers;
      for (int64_t lane = 0; lane < kLanes; ++lane) laneNumbers.push_back(lane);
      auto indexType = VectorType::get({kLanes}, i64);
      Value lanes = arith::ConstantOp::create(k.b, k.loc, indexType,
                                              DenseElementsAttr::get(indexType, ArrayRef<int64_t>(laneNumbers)));
      Value first = k.loadVector(from, base, elementType, used < kLanes ? k.mask(used) : Value());
      auto step = [&](Value i, ValueRange carried, Value mask) {
        Value next = k.loadVector(from, k.add(base, i), elementType, mask);
        Value index = arith::AddIOp::create(k.b, k.loc, lanes, k.splat(arith::IndexCastOp::create(k.b, k.loc, i64, i)));
        Value condition = replaces(next, carried[0]);
        if (mask) condition = arith::AndIOp::create(k.b, k.loc, condition, mask);
        return choose(condition, {next, index}, carried);
      };
      SmallVector<Value> best = k.loop(k.index(kLanes), k.index(whole), kLanes, ValueRange{first, lanes},
                                       [&](Value i, ValueRange carried) { return step(i, carried, Value()); });
      if (rest && whole) best = step(k.index(whole), best, k.mask(rest));
      return acrossLanes(best, used);
    }

    Value acrossLanes(ValueRange best, int64_t used) {
      auto lane = [&](int64_t l) {
        return SmallVector<Value>{vector::ExtractOp::create(k.b, k.loc, best[0], l),
                                  vector::ExtractOp::create(k.b, k.loc, best[1], l)};
      };
      SmallVector<Value> winner = lane(0);
      bool larger = op.getKind() == ir::ReduceKind::max;
      for (int64_t l = 1; l < used; ++l) {
        SmallVector<Value> other = lane(l);
        Value beyond = isBeyond(k, elementType, larger, false, other[0], winner[0]);
        Value worse = isBeyond(k, elementType, larger, false, winner[0], other[0]);
        Value earlier = arith::CmpIOp::create(
            k.b, k.loc, op.getLastIndex() ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, other[1], winner[1]);
        Value better = arith::OrIOp::create(
            k.b, k.loc, beyond,
            arith::AndIOp::create(k.b, k.loc, earlier, arith::XOrIOp::create(k.b, k.loc, worse, trueValue())));
        if (isa<FloatType>(elementType)) {
          // A NaN wins over numbers, and among NaNs the one with the lower index.
          Value otherNan = isNan(k, other[0]), winnerNan = isNan(k, winner[0]);
          Value lower = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, other[1], winner[1]);
          Value bothOrder = arith::SelectOp::create(k.b, k.loc, winnerNan, lower, trueValue());
          Value nanCase = arith::AndIOp::create(k.b, k.loc, otherNan, bothOrder);
          Value numberCase =
              arith::AndIOp::create(k.b, k.loc, better, arith::XOrIOp::create(k.b, k.loc, winnerNan, trueValue()));
          better = arith::SelectOp::create(k.b, k.loc, otherNan, nanCase, numberCase);
        }
        winner = choose(better, other, winner);
      }
      return winner[1];
    }

    Value trueValue() { return arith::ConstantIntOp::create(k.b, k.loc, 1, 1); }
  };
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createArgReduceEmitter() { return std::make_unique<ArgReduceEmitter>(); }
