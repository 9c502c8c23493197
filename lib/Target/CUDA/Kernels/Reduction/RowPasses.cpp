#include "lib/Target/CUDA/Kernels/Reduction/RowPasses.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Target/Kernels/ReductionSteps.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

void RowPasses::enter(ValueRange kept, Value ownPart) {
  part = ownPart;
  places.clear();
  position.assign(group.shape.size(), Coordinate{evaluator.zero, 0});
  // As positions of operands are counted, so that an element is known by one position.
  for (auto [d, index] : llvm::zip_equal(group.keptDims, kept))
    if (group.shape[d] != 1) position[d] = {index, 0};
  rowOnly = position;
}

void RowPasses::reduce() {
  for (int64_t level = 0; level < group.levels; ++level) {
    reduceLevel(level);
    defineRowValues(level);
  }
}

void RowPasses::forElements(llvm::function_ref<void(Value)> body) {
  forElements({}, 1, [&](Value valid, ValueRange) -> SmallVector<Value> {
    body(valid);
    return {};
  });
}

// Element i belongs to part i modulo the number of parts.
SmallVector<Value> RowPasses::forElements(ValueRange initial, int64_t parts, Body body) {
  SmallVector<Value> carried(initial);
  if (group.length == 0) return carried;
  int64_t count = initial.size() / parts;
  auto visit = [&](int64_t ownPart, Value valid, MutableArrayRef<Value> values) {
    values = values.slice(ownPart * count, count);
    llvm::copy(body(valid, values), values.begin());
  };
  if (isStaged()) {
    for (int64_t round = 0; round < rounds(); ++round) {
      if (places.size() <= static_cast<size_t>(round)) places.push_back(placeOf(round));
      for (auto [d, index] : llvm::zip_equal(group.reducedDims, places[round].indices)) position[d] = {index, 0};
      visit(round % parts, places[round].valid, carried);
    }
    return carried;
  }
  auto visitAt = [&](Value i, int64_t ownPart, Value valid, MutableArrayRef<Value> values) {
    Evaluator::Scope scope(evaluator);
    enterElement(i);
    visit(ownPart, valid, values);
  };
  if (parts == 1)
    return k.loop(part, k.index(group.length), threads, initial, [&](Value i, ValueRange values) {
      SmallVector<Value> next(values);
      visitAt(i, 0, Value(), next);
      return next;
    });
  int64_t step = parts * threads;
  return k.loop(part, k.add(part, llvm::alignTo(group.length, step)), step, initial, [&](Value i, ValueRange values) {
    SmallVector<Value> next(values);
    for (int64_t own = 0; own < parts; ++own) {
      Value at = k.add(i, own * threads), valid;
      if (group.length % step) {
        valid = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, at, k.index(group.length));
        at = arith::SelectOp::create(k.b, k.loc, valid, at, part);
      }
      visitAt(at, own, valid, next);
    }
    return next;
  });
}

RowPasses::Place RowPasses::placeOf(int64_t round) {
  Value i = k.add(part, round * threads), valid;
  if ((round + 1) * threads > group.length) {
    valid = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, i, k.index(group.length));
    i = arith::SelectOp::create(k.b, k.loc, valid, i, part);
  }
  return {k.delinearize(i, reducedSizes), valid};
}

void RowPasses::enterElement(Value i) {
  for (auto [d, index] : llvm::zip_equal(group.reducedDims, k.delinearize(i, reducedSizes))) position[d] = {index, 0};
}

void RowPasses::reduceLevel(int64_t level) {
  SmallVector<ir::ReduceOp> reductions;
  SmallVector<Value> start;
  for (ir::ReduceOp reduce : group.reductions) {
    if (group.levelNeeded(reduce.getResult()) != level) continue;
    reductions.push_back(reduce);
    start.push_back(reductionIdentity(k, reduce.getKind(), elementOf(reduce.getOperand()), 1));
  }
  SmallVector<Value> starts;
  for (int64_t i = 0; i < partsOfThread(); ++i) llvm::append_range(starts, start);
  SmallVector<Value> totals = forElements(starts, partsOfThread(), [&](Value valid, ValueRange carried) {
    SmallVector<Value> next;
    for (auto [reduce, old] : llvm::zip_equal(reductions, carried)) {
      Value element = evaluator.at(reduce.getOperand(), position);
      Value stepped = reductionStep(k, reduce.getKind(), elementOf(reduce.getOperand()), old, element);
      next.push_back(valid ? Value(arith::SelectOp::create(k.b, k.loc, valid, stepped, old)) : stepped);
    }
    return next;
  });
  combine(reductions, totals);
  for (auto [reduce, total] : llvm::zip_equal(reductions, totals))
    evaluator.define(reduce.getResult(), k.round(total, elementOf(reduce.getOperand())));
}

// Leaves the reduction of all parts of the row in each of its threads, which have one value of each reduction then.
void RowPasses::combine(ArrayRef<ir::ReduceOp> reductions, SmallVectorImpl<Value> &totals) {
  if (group.parts == 1) return;
  size_t kinds = reductions.size();
  auto step = [&](size_t i, Value a, Value b) {
    ir::ReduceOp reduce = reductions[i % kinds];
    return reductionStep(k, reduce.getKind(), elementOf(reduce.getOperand()), a, b);
  };
  auto acrossLanes = [&](int64_t lanes) {
    for (int64_t distance = lanes / 2; distance >= 1; distance /= 2)
      for (size_t i = 0; i < totals.size(); ++i) totals[i] = step(i, totals[i], k.shuffleXor(totals[i], distance));
  };
  if (group.alongRows) acrossLanes(std::min(threads, kWarp));
  if (group.alongRows && threads <= kWarp) {
    // What other threads of the row would have: the same tree.
    for (size_t half = totals.size() / 2; half >= kinds; half /= 2) {
      for (size_t i = 0; i < half; ++i) totals[i] = step(i, totals[i], totals[half + i]);
      totals.truncate(half);
    }
    return;
  }
  // In shared memory: one value of each warp's worth of parts, or of each part for all rows of the block.
  int64_t count = group.alongRows ? group.parts / kWarp : group.parts,
          rows = group.alongRows ? 1 : group.rowsPerBlock();
  Value lane = k.rem(k.thread(), kWarp), warp = k.div(k.thread(), kWarp);
  SmallVector<Value> buffers, all(totals.begin(), totals.end());
  totals.truncate(kinds);
  for (size_t i = 0; i < kinds; ++i) {
    Type type = totals[i].getType();
    buffers.push_back(k.sharedBuffer({count * rows}, storageType(type)));
    if (!group.alongRows) {
      k.store(totals[i], buffers[i], k.thread(), type);
      continue;
    }
    Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, lane, k.index(0));
    k.ifThen(isFirst, [&] {
      for (int64_t own = 0; own < partsOfThread(); ++own)
        k.store(all[own * kinds + i], buffers[i], k.add(warp, own * (threads / kWarp)), type);
    });
  }
  k.barrier();
  Value column = group.alongRows ? Value() : k.rem(k.thread(), rows);
  for (size_t i = 0; i < kinds; ++i) {
    Type type = totals[i].getType();
    auto get = [&](Value at) { return k.load(buffers[i], at, type); };
    if (group.alongRows) {
      totals[i] = get(k.rem(lane, count));
      continue;
    }
    Value total = get(column);
    for (int64_t p = 1; p < count; ++p) total = step(i, total, get(k.add(column, p * rows)));
    totals[i] = total;
  }
  if (group.alongRows) acrossLanes(count);
}

// Elementwise values of rows, once, as soon as the reductions that they need are known.
void RowPasses::defineRowValues(int64_t level) {
  for (Operation *op : group.ops) {
    Value value = op->getResult(0);
    if (!isa<ElementwiseOpInterface>(op) || !group.isRow(value) || group.levelNeeded(value) != level) continue;
    evaluator.define(value, evaluator.at(value, evaluator.broadcastPosition(value, rowOnly)));
  }
}
