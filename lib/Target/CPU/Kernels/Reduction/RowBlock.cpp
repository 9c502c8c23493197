// Rows in blocks: their partial results go to scratch memory as one vector a row, so that the trees over them and the
// arithmetic on one value a row (means, roots, reciprocals) are vectors of rows, and no row waits for its own tree.
#include "lib/Target/CPU/Kernels/Elementwise/LoopNest.h"
#include "dialects/NN/NNReduction.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// Shorter rows are spelled out vector by vector; of longer ones, several run side by side to hide the latency of sums.
static constexpr int64_t kMostVectors = 8, kRowsTogether = 4;

void LoopNest::emitRows(Value first, int64_t count, Value root, LoopEvaluator::Rows source, LoopEvaluator::Rows target,
                        Columns columns) {
  this->columns = columns;
  SmallVector<int64_t> sizes;
  for (const DimRun &run : ArrayRef(group.runs).drop_back()) sizes.push_back(run.size);
  SmallVector<Value> indices = k.delinearize(first, sizes);
  for (auto [run, index] : llvm::enumerate(indices)) position[run] = {index, 0};
  int64_t whole = count / group.blockRows * group.blockRows;
  auto block = [&](Value row, int64_t rows) {
    LoopEvaluator::Rows from = source, to = target;
    from.firstRow = k.add(source.firstRow, row);
    to.firstRow = k.add(target.firstRow, row);
    evaluator.provide(root, from);
    this->target = to;
    rowBlock(k.add(indices.back(), row), rows);
  };
  k.loop(k.index(0), k.index(whole), group.blockRows, [&](Value row) { block(row, group.blockRows); });
  if (whole < count) block(k.index(whole), count - whole);
}

void LoopNest::rowBlock(Value first, int64_t rows) {
  Evaluator::Scope scope(evaluator);
  for (int64_t level = 0; level <= group.levels; ++level) {
    evaluator.level = level;
    defineBlockRows(first, rows, level);
    if (level < group.levels) reduceBlock(first, rows, level);
  }
  storeBlock(first, rows);
}

// Elementwise values of rows, as vectors of rows.
void LoopNest::defineBlockRows(Value first, int64_t rows, int64_t level) {
  position[laneRun] = {first, 1};
  position.back() = {evaluator.zero, 0};
  evaluator.setActive(rows);
  for (Operation *op : group.ops) {
    Value value = op->getResult(0);
    if (!isa<ElementwiseOpInterface>(op) || !group.isRow(value) || group.levelNeeded(value) != level - 1) continue;
    defineRow(value, evaluator.vectorAt(value, evaluator.broadcastPosition(value, position)), rows);
  }
  evaluator.setActive(group.lanes);
}

Value LoopNest::slotBuffer(Value row) {
  auto type = MemRefType::get({kLanes}, computeType(elementOf(row)));
  return k.scratchBuffer(group.rowSlots.lookup(row), type);
}

void LoopNest::defineRow(Value row, Value computed, int64_t rows) {
  evaluator.define(row, computed);
  if (group.rowSlots.count(row)) vector::StoreOp::create(k.b, k.loc, computed, slotBuffer(row), k.index(0));
}

// What is known of a row when its elements are computed: its own values, as scalars.
void LoopNest::enterRow(Value first, Value row) {
  position[laneRun] = {k.add(first, row), 0};
  evaluator.blockRow = row;
  for (auto &[value, offset] : group.rowSlots)
    if (group.levelNeeded(value) < evaluator.level)
      evaluator.define(value, memref::LoadOp::create(k.b, k.loc, slotBuffer(value), row));
}

void LoopNest::forRows(int64_t rows, int64_t together, llvm::function_ref<void(ArrayRef<Value>)> body) {
  auto emit = [&](Value row, int64_t count) {
    Evaluator::Scope scope(evaluator);
    SmallVector<Value> list;
    for (int64_t i = 0; i < count; ++i) list.push_back(k.add(row, i));
    body(list);
    evaluator.blockRow = {};
  };
  int64_t whole = rows / together * together;
  k.loop(k.index(0), k.index(whole), together, [&](Value row) { emit(row, together); });
  if (whole < rows) emit(k.index(whole), rows - whole);
}

// The vectors of a row in ascending order.
SmallVector<Value> LoopNest::forVectors(ValueRange initial, Body body) {
  int64_t length = rowLength(), whole = length / kLanes * kLanes;
  auto at = [&](Value column, ValueRange carried) {
    position.back() = {column, 1};
    return body(carried);
  };
  SmallVector<Value> values(initial);
  if (length <= kMostVectors * kLanes && !columns.end) {
    for (int64_t column = 0; column < whole; column += kLanes) values = at(k.index(column), values);
  } else {
    Value begin = columns.begin ? columns.begin : k.index(0), end = k.index(whole);
    if (columns.end) end = k.min(columns.end, end);
    values = k.loop(begin, end, kLanes, values, [&](Value column, ValueRange carried) {
      Evaluator::Scope scope(evaluator);
      return at(column, carried);
    });
  }
  if (whole == length) return values;
  evaluator.setActive(length - whole);
  values = at(k.index(whole), values);
  evaluator.setActive(group.lanes);
  return values;
}

// All reductions of a level: partial results of each row, then the trees of all rows at once.
void LoopNest::reduceBlock(Value first, int64_t rows, int64_t level) {
  SmallVector<ir::ReduceOp> reductions = reductionsOf(level);
  constexpr int64_t kBytes = kLanes * kLanes * 8; // as LoopGroup::chooseBlocks counts them
  SmallVector<Value> partials, identities;
  for (auto [i, reduce] : llvm::enumerate(reductions)) {
    Type elementType = elementOf(reduce.getOperand());
    auto type = MemRefType::get({kLanes * kLanes}, computeType(elementType));
    partials.push_back(k.scratchBuffer(group.partialsOffset + static_cast<int64_t>(i) * kBytes, type));
    identities.push_back(reductionIdentity(k, reduce.getKind(), elementType, kLanes));
  }
  forRows(rows, rowLength() <= kMostVectors * kLanes ? 1 : kRowsTogether, [&](ArrayRef<Value> together) {
    SmallVector<Value> accumulators;
    for (size_t i = 0; i < together.size(); ++i) accumulators.append(identities);
    accumulators = forVectors(accumulators, [&](ValueRange carried) {
      SmallVector<Value> next;
      for (auto [i, row] : llvm::enumerate(together)) {
        enterRow(first, row);
        for (auto [j, reduce] : llvm::enumerate(reductions))
          next.push_back(step(reduce, carried[i * reductions.size() + j]));
        keepValues(level);
      }
      return next;
    });
    for (auto [i, row] : llvm::enumerate(together))
      for (auto [j, partial] : llvm::enumerate(partials))
        vector::StoreOp::create(k.b, k.loc, accumulators[i * reductions.size() + j], partial, k.mul(row, kLanes));
  });
  for (auto [reduce, partial] : llvm::zip_equal(reductions, partials)) {
    Type elementType = elementOf(reduce.getOperand());
    auto type = VectorType::get({kLanes}, computeType(elementType));
    SmallVector<Value> lines;
    for (int64_t row = 0; row < kLanes; ++row) // rows that are not there repeat the last one
      lines.push_back(row < rows ? Value(vector::LoadOp::create(k.b, k.loc, type, partial, k.index(row * kLanes)))
                                 : lines.back());
    Value total = reductionTrees(k, reduce.getKind(), elementType, lines, isSoftmaxShift(reduce));
    defineRow(reduce.getResult(), k.round(total, elementType), rows);
  }
}

void LoopNest::storeBlock(Value first, int64_t rows) {
  SmallVector<unsigned> full;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (!group.isRow(value)) {
      full.push_back(i);
      continue;
    }
    position[laneRun] = {first, 1};
    position.back() = {evaluator.zero, 0};
    evaluator.setActive(rows);
    storeRow(i);
    evaluator.setActive(group.lanes);
  }
  if (full.empty()) return;
  forRows(rows, 1, [&](ArrayRef<Value> row) {
    forVectors({}, [&](ValueRange) {
      enterRow(first, row.front());
      store(full);
      return SmallVector<Value>{};
    });
  });
}
