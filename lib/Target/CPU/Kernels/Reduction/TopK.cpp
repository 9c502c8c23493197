// nn.top_k: inserts each element into the sorted list of the best so far, which lies in the results.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;

namespace {
class TopKEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "top_k"; }
  bool matches(kernel::DispatchOp dispatch) const override { return singleOp<ir::TopKOp>(dispatch) != nullptr; }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::TopKOp>(dispatch);
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    KernelPlan plan;
    plan.tiles = op.getK() == 0 ? 0 : view.outer * view.inner;
    if (plan.tiles == 0) return plan;
    auto columns = [&](int64_t length) -> SmallVector<TileStep> {
      return {{length * view.inner, 0, length * view.inner}, {1, 0, (length - 1) * view.inner + 1}};
    };
    TileRanges ranges(dispatch, {view.outer, view.inner});
    ranges.operands([&](OpOperand &) { return columns(view.length); });
    for (unsigned result : {0, 1}) ranges.result(result, columns(op.getK()));
    plan.ranges = ranges.take();
    return plan;
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto op = singleOp<ir::TopKOp>(dispatch);
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Type elementType = elementTypeOf(op.getOperand()), i64 = k.b.getI64Type();
    Value from = flatOperand(k, op.getOperand()), values = k.flat(k.resultBuffer(0)),
          indices = k.flat(k.resultBuffer(1));
    int64_t count = op.getK();
    k.forTiles([&](Value tile) {
      Value outer = k.div(tile, view.inner), inner = k.rem(tile, view.inner);
      Value base = k.add(k.mul(outer, view.length * view.inner), inner);
      Value list = k.add(k.mul(outer, count * view.inner), inner);
      auto slot = [&](Value i) { return k.add(list, k.mul(i, view.inner)); };
      auto put = [&](Value i, Value element, Value index) {
        k.store(element, values, slot(i), elementType);
        memref::StoreOp::create(k.b, k.loc, index, indices, slot(i));
      };
      k.loop(k.index(0), k.index(view.length), 1, [&](Value i) {
        Value element = k.load(from, k.add(base, k.mul(i, view.inner)), elementType);
        // From the end of the list, whatever comes after the element moves one place down; the last place falls off.
        auto search = scf::WhileOp::create(
            k.b, k.loc, TypeRange{k.b.getIndexType()}, ValueRange{k.min(i, k.index(count))},
            [&](OpBuilder &, Location loc, ValueRange place) {
              Value inList = arith::CmpIOp::create(k.b, loc, arith::CmpIPredicate::sgt, place[0], k.index(0));
              auto goesOn = scf::IfOp::create(k.b, loc, k.b.getI1Type(), inList, /*withElseRegion=*/true);
              {
                OpBuilder::InsertionGuard guard(k.b);
                k.b.setInsertionPointToStart(goesOn.thenBlock());
                Value before = k.load(values, slot(k.add(place[0], -1)), elementType);
                scf::YieldOp::create(k.b, loc, precedes(k, elementType, op.getLargest(), element, before));
                k.b.setInsertionPointToStart(goesOn.elseBlock());
                scf::YieldOp::create(k.b, loc, Value(arith::ConstantIntOp::create(k.b, loc, 0, 1)));
              }
              scf::ConditionOp::create(k.b, loc, goesOn.getResult(0), place);
            },
            [&](OpBuilder &, Location loc, ValueRange place) {
              Value above = k.add(place[0], -1);
              Value fits = arith::CmpIOp::create(k.b, loc, arith::CmpIPredicate::slt, place[0], k.index(count));
              k.ifThen(fits, [&] {
                put(place[0], k.load(values, slot(above), elementType),
                    memref::LoadOp::create(k.b, loc, indices, slot(above)));
              });
              scf::YieldOp::create(k.b, loc, above);
            });
        Value place = search.getResult(0);
        Value fits = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, place, k.index(count));
        k.ifThen(fits, [&] { put(place, element, arith::IndexCastOp::create(k.b, k.loc, i64, i)); });
      });
    });
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createTopKEmitter() { return std::make_unique<TopKEmitter>(); }
