#include "lib/Target/Kernels/Slices.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "lib/Target/Kernels/SingleOp.h"

using namespace mlir;
using namespace sprig;

void sprig::accumulate(ElementBuilder &k, ir::CumulativeOp op, Value from, Value to, Value base, Value mask,
                       int64_t lanes) {
  AxisView view(shapeOf(op.getOperand()), op.getAxis());
  Type elementType = elementOf(op.getOperand());
  Value start = reductionIdentity(k, op.getKind(), elementType, lanes);
  k.loop(k.index(0), k.index(view.length), 1, start, [&](Value i, ValueRange carried) -> SmallVector<Value> {
    Value along = op.getReverse() ? k.sub(k.index(view.length - 1), i) : i;
    Value offset = k.add(base, k.mul(along, view.inner));
    Value element = lanes > 1 ? k.loadVector(from, offset, elementType, mask) : k.load(from, offset, elementType);
    Value next = reductionStep(k, op.getKind(), elementType, carried[0], element);
    k.store(op.getExclusive() ? carried[0] : next, to, offset, elementType, mask);
    return {next};
  });
}

void sprig::keepBest(ElementBuilder &k, ir::TopKOp op, Value from, Value values, Value indices, Value slice) {
  AxisView view(shapeOf(op.getOperand()), op.getAxis());
  Type elementType = elementOf(op.getOperand()), i64 = k.b.getI64Type();
  int64_t count = op.getK();
  Value outer = k.div(slice, view.inner), inner = k.rem(slice, view.inner);
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
}

Value sprig::replacesBest(ElementBuilder &k, ir::ArgReduceOp op, Value next, Value best) {
  Type elementType = elementOf(op.getOperand());
  Value beyond = isBeyond(k, elementType, op.getKind() == ir::ReduceKind::max, op.getLastIndex(), next, best);
  if (!isa<FloatType>(elementType)) return beyond;
  Value better = arith::OrIOp::create(k.b, k.loc, beyond, isNan(k, next));
  Value open = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ORD, best, best);
  return arith::AndIOp::create(k.b, k.loc, better, open);
}

Value sprig::firstMaximum(Evaluator &scalars, ir::ArgMaxPoolOp op, Value from, Value plane, Value output) {
  ElementBuilder &k = scalars.k;
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), outputs = shapeOf(op.getResult());
  Type elementType = elementOf(op.getOperand()), i64 = k.b.getI64Type();
  size_t dims = sizes.size() - 2;
  Window window{op.getWindow(),  op.getStrides(),     op.getDilations(),
                op.getPadding(), sizes.drop_front(2), outputs.drop_front(2)};
  Value base = k.mul(plane, AxisView(sizes, /*axis=*/1).inner);
  Position place;
  for (Value index : k.delinearize(output, window.outputs)) place.push_back({index, 0});
  Value none = arith::ConstantIntOp::create(k.b, k.loc, -1, 64);
  return scalars.windowLoop(window, place, ValueRange{k.zero(computeType(elementType)), none},
                            [&](ValueRange, ValueRange places, ValueRange carried) -> SmallVector<Value> {
                              Value offset = k.add(base, k.linearize(places, window.inputs));
                              Value element = k.load(from, offset, elementType), position = offset;
                              if (op.getColumnMajor()) {
                                position = k.index(0);
                                for (size_t d = dims; d-- > 0;)
                                  position = k.add(k.mul(position, window.inputs[d]), places[d]);
                                position = k.add(base, position);
                              }
                              Value index = arith::IndexCastOp::create(k.b, k.loc, i64, position);
                              Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, carried[1],
                                                                    arith::ConstantIntOp::create(k.b, k.loc, 0, 64));
                              Value better = arith::OrIOp::create(
                                  k.b, k.loc, isFirst, precedes(k, elementType, /*largest=*/true, element, carried[0]));
                              return {arith::SelectOp::create(k.b, k.loc, better, element, carried[0]),
                                      arith::SelectOp::create(k.b, k.loc, better, index, carried[1])};
                            })[1];
}

Value sprig::scatterInto(ElementBuilder &k, ir::ScatterKind kind, Type elementType, Value old, Value update) {
  switch (kind) {
  case ir::ScatterKind::none: return update;
  case ir::ScatterKind::add: return reductionStep(k, ir::ReduceKind::sum, elementType, old, update);
  case ir::ScatterKind::mul: return reductionStep(k, ir::ReduceKind::prod, elementType, old, update);
  case ir::ScatterKind::max: return reductionStep(k, ir::ReduceKind::max, elementType, old, update);
  case ir::ScatterKind::min: return reductionStep(k, ir::ReduceKind::min, elementType, old, update);
  }
  llvm_unreachable("all kinds of scatters are above");
}
