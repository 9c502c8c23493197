// Walks over the positions of a loop group: lanes along the innermost dimension, single rows, rows side by side.
#include "lib/Target/CPU/Kernels/Elementwise/LoopNest.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

LoopNest::LoopNest(KernelBuilder &kernel, const LoopGroup &group)
    : k(kernel), group(group), evaluator(kernel, group), yielded(group.yielded) {
  position.assign(group.runs.size(), Coordinate{evaluator.zero, 0});
  for (auto [i, run] : llvm::enumerate(group.runs)) (run.reduced ? reducedRuns : keptRuns).push_back(i);
  laneRun = static_cast<int64_t>(group.runs.size()) - (group.blockRows ? 2 : 1);
  bool innerKept = group.blockRows || (!group.runs.empty() && !group.runs.back().reduced);
  if (innerKept) keptRuns.pop_back();
}

void LoopNest::emit() {
  k.forTiles([&](Value tile) {
    Value outerBegin = k.mul(k.div(tile, group.innerTiles), group.outerChunk);
    Value outerEnd = k.min(k.add(outerBegin, group.outerChunk), k.index(group.outerSize));
    if (group.outerSize == 1) outerEnd = k.index(1), outerBegin = k.index(0);
    k.loop(outerBegin, outerEnd, 1, [&](Value outer) {
      SmallVector<int64_t> sizes;
      for (int64_t run : keptRuns) sizes.push_back(group.runs[run].size);
      for (auto [run, index] : llvm::zip_equal(keptRuns, k.delinearize(outer, sizes))) position[run] = {index, 0};
      if (!group.blockRows && (group.runs.empty() || group.runs.back().reduced))
        row();
      else
        innerRun(tile);
    });
  });
}

// The innermost kept run: vectors of rows side by side or blocks of rows, the last one perhaps not whole.
void LoopNest::innerRun(Value tile) {
  int64_t lanes = group.blockRows ? group.blockRows : group.lanes, size = group.innerSize;
  Value whole = k.index(size / lanes * lanes), begin = k.index(0), end = whole, innerTile;
  if (group.innerTiles > 1) {
    innerTile = group.outerSize == 1 ? tile : k.rem(tile, group.innerTiles);
    begin = k.mul(innerTile, group.innerChunk);
    if (group.innerChunk == lanes && size % lanes == 0) return vectorsAt(begin, 1);
    end = k.min(k.add(begin, group.innerChunk), whole);
  }
  if (int64_t unroll = chooseUnroll(); unroll > 1) {
    Value step = k.mul(k.div(k.sub(end, begin), lanes * unroll), lanes * unroll), middle = k.add(begin, step);
    k.loop(begin, middle, lanes * unroll, [&](Value i) { vectorsAt(i, unroll); });
    begin = middle;
  }
  k.loop(begin, end, lanes, [&](Value i) { vectorsAt(i, 1); });
  int64_t rest = size % lanes;
  if (rest == 0) return;
  auto tail = [&] {
    if (group.blockRows) return rowBlock(whole, rest);
    evaluator.setActive(rest);
    vectorsAt(whole, 1);
    evaluator.setActive(lanes);
  };
  if (group.innerTiles == 1) return tail();
  Value isLast = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, innerTile, k.index(group.innerTiles - 1));
  k.ifThen(isLast, tail);
}

// `count` vectors from position i on. Without reductions all are computed before the first is stored.
void LoopNest::vectorsAt(Value i, int64_t count) {
  if (group.blockRows) return rowBlock(i, group.blockRows);
  int64_t step = group.lanes == 1 ? 0 : 1;
  if (!group.reductions.empty() && count > 1) return columnSums(i, count);
  if (!group.reductions.empty()) {
    position[laneRun] = {i, step};
    return row();
  }
  Evaluator::Scope scope(evaluator);
  SmallVector<Value> values, offsets;
  for (int64_t n = 0; n < count; ++n) {
    position[laneRun] = {k.add(i, n * group.lanes), step};
    for (Value value : yielded) values.push_back(evaluator.vectorAt(value, position));
    offsets.push_back(offsetOfPosition());
  }
  for (int64_t n = 0; n < count; ++n)
    for (auto [r, value] : llvm::enumerate(yielded))
      k.store(values[n * yielded.size() + r], k.flat(k.resultBuffer(r)), offsets[n], elementOf(value),
              evaluator.activeMask());
}

int64_t LoopNest::chooseUnroll() const {
  if (group.lanes == 1) return 1;
  if (!group.reductions.empty() && !group.reducesColumns()) return 1;
  // Columns want whole lines of all operands more than registers.
  int64_t operations = group.reductions.empty() ? group.ops.size() : 0;
  int64_t unroll = operations <= 4 ? 4 : operations <= 12 ? 2 : 1;
  // Where a vector takes two of 16 registers, four of them at once would spend the loop on spills.
  if (k.target.lanes() < group.lanes) unroll = std::max<int64_t>(unroll / 2, 1);
  while (unroll > 1 && group.innerChunk < unroll * group.lanes) unroll /= 2;
  return unroll;
}

// One row, or `lanes` rows side by side: a pass for each level of reductions, and one for the results.
void LoopNest::row() {
  Evaluator::Scope scope(evaluator);
  for (int64_t level = 0; level < group.levels; ++level) {
    evaluator.level = level;
    defineRowValues(level);
    reducePass(level);
  }
  evaluator.level = group.levels;
  if (group.levels) defineRowValues(group.levels);
  SmallVector<unsigned> full = fullResults();
  for (unsigned i = 0; i < yielded.size(); ++i)
    if (!llvm::is_contained(full, i)) storeRow(i);
  if (full.empty() || group.isSinglePass()) return;
  forReduced([&](Value) { store(full); });
}

// The results that have a value for each element of a row.
SmallVector<unsigned> LoopNest::fullResults() const {
  SmallVector<unsigned> full;
  for (auto [i, value] : llvm::enumerate(yielded))
    if (!group.levels || !group.isRow(value)) full.push_back(i);
  return full;
}

// Elementwise values of rows, as soon as the reductions that they need are known: once, outside of the passes.
void LoopNest::defineRowValues(int64_t level) {
  for (Operation *op : group.ops) {
    Value value = op->getResult(0);
    if (!isa<ElementwiseOpInterface>(op) || !group.isRow(value) || group.levelNeeded(value) != level - 1) continue;
    // What feeds a view or a gather may look like a row and lie elsewhere.
    if (!group.merged && level == 0) continue;
    Position rowPosition = evaluator.broadcastPosition(value, rowOnly());
    evaluator.define(value, evaluator.at(value, rowPosition));
  }
}

Position LoopNest::rowOnly() {
  Position result = position;
  for (int64_t run : reducedRuns) result[run] = {evaluator.zero, 0};
  return result;
}

SmallVector<ir::ReduceOp> LoopNest::reductionsOf(int64_t level) const {
  SmallVector<ir::ReduceOp> reductions;
  for (ir::ReduceOp reduce : group.reductions)
    if (group.levelNeeded(reduce.getResult()) == level) reductions.push_back(reduce);
  return reductions;
}

// One step of a reduction; lanes that do not count leave the accumulator as it is.
Value LoopNest::step(ir::ReduceOp reduce, Value accumulator) {
  Type elementType = elementOf(reduce.getOperand());
  Value operand = evaluator.vectorAt(reduce.getOperand(), position);
  Value stepped = reductionStep(k, reduce.getKind(), elementType, accumulator, operand, isSoftmaxShift(reduce));
  Value mask = group.innerReduced ? evaluator.activeMask() : Value();
  return mask ? Value(arith::SelectOp::create(k.b, k.loc, mask, stepped, accumulator)) : stepped;
}

// All reductions of a level in one pass over the row.
void LoopNest::reducePass(int64_t level) {
  SmallVector<ir::ReduceOp> reductions = reductionsOf(level);
  SmallVector<Value> totals = reduceColumns(
      reductions, /*count=*/1, [](int64_t) {},
      [&] {
        keepValues(level);
        if (SmallVector<unsigned> full = fullResults(); group.isSinglePass() && !full.empty()) store(full);
      });
  for (auto [reduce, accumulator] : llvm::zip_equal(reductions, totals)) {
    Type elementType = elementOf(reduce.getOperand());
    Value total = group.innerReduced ? reductionTree(k, reduce.getKind(), elementType, accumulator) : accumulator;
    evaluator.define(reduce.getResult(), k.round(total, elementType));
  }
}

// Leaves to later passes what this one has computed and they would compute again.
void LoopNest::keepValues(int64_t level) {
  for (auto &[value, offset] : group.kept) {
    if (firstPass(value) != level) continue;
    k.store(evaluator.vectorAt(value, position), evaluator.scratchRow(value), evaluator.scratchIndex(position),
            elementOf(value));
  }
}

void LoopNest::forReduced(llvm::function_ref<void(Value)> body) {
  forReduced({}, reducedRuns, [&](ValueRange) {
    body(Value());
    return SmallVector<Value>{};
  });
}

// The reduced dimensions in ascending order, lanes along the innermost one where that is reduced.
SmallVector<Value> LoopNest::forReduced(ValueRange initial, ArrayRef<int64_t> runs, Body body) {
  if (runs.empty()) {
    Evaluator::Scope scope(evaluator);
    return body(initial);
  }
  int64_t run = runs.front(), size = group.runs[run].size;
  bool lanesHere = group.innerReduced && run == laneRun;
  int64_t step = lanesHere ? group.lanes : 1;
  auto inner = [&](Value i, ValueRange carried) {
    position[run] = {i, lanesHere ? 1 : 0};
    return forReduced(carried, runs.drop_front(), body);
  };
  int64_t whole = size / step * step;
  SmallVector<Value> values = k.loop(k.index(0), k.index(whole), step, initial, inner);
  if (whole == size) return values;
  evaluator.setActive(size - whole);
  values = inner(k.index(whole), values);
  evaluator.setActive(group.lanes);
  return values;
}

void LoopNest::storeRow(unsigned result) {
  Value value = yielded[result];
  Value computed = evaluator.at(value, evaluator.broadcastPosition(value, rowOnly()));
  Value offset = evaluator.zero;
  for (auto [run, coordinate] : llvm::zip_equal(group.runs, position))
    if (!run.reduced) offset = k.add(k.mul(offset, run.size), coordinate.base);
  bool vectors = group.blockRows || (!group.innerReduced && group.lanes > 1);
  if (vectors) computed = evaluator.asVector(computed);
  k.store(computed, k.flat(k.resultBuffer(result)), offset, elementOf(value),
          vectors ? evaluator.activeMask() : Value());
}

// All of the results at this position are computed before the first is stored: it may take an operand's bytes.
void LoopNest::store(ArrayRef<unsigned> results) {
  SmallVector<Value> values;
  for (unsigned result : results) values.push_back(evaluator.vectorAt(yielded[result], position));
  if (target) {
    Value row = k.add(target->firstRow, evaluator.blockRow);
    return k.store(values.front(), target->buffer, k.add(k.mul(row, target->stride), position.back().base),
                   elementOf(yielded[results.front()]));
  }
  for (auto [result, value] : llvm::zip_equal(results, values))
    k.store(value, k.flat(k.resultBuffer(result)), offsetOfPosition(), elementOf(yielded[result]),
            evaluator.activeMask());
}

Value LoopNest::offsetOfPosition() {
  Value offset = evaluator.zero;
  for (auto [run, coordinate] : llvm::zip_equal(group.runs, position))
    offset = k.add(k.mul(offset, run.size), coordinate.base);
  return offset;
}
