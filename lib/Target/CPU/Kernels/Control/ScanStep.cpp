#include "lib/Target/CPU/Kernels/Control/ScanStep.h"
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;
using ir::RowView;

ScanScratch::ScanScratch(ir::ScanOp scan, const ir::ScanStages &stages, int64_t blockRows) {
  auto add = [&](Value value, bool carried) {
    int64_t stride = llvm::alignTo(RowView::of(value).columns, kLanes);
    // A vector that starts inside of the last row may end after it.
    int64_t elements = blockRows * stride + kLanes;
    if (!places.insert({value, {bytes, stride, elements, carried}}).second) return;
    bytes += llvm::alignTo((carried ? 2 : 1) * elements * storageBytes(elementOf(value)), 64);
  };
  for (Value carried : scan.getCarriedArguments()) add(carried, true);
  for (const ir::ScanStage &stage : stages.stages) {
    for (ir::ReduceOp reduction : stage.reductions) add(reduction.getResult(), false);
    for (Operation *product : stage.products) add(product->getResult(0), false);
    for (Value kept : stage.kept) add(kept, false);
  }
  halvesOffset = bytes;
  for (const ir::ScanStage &stage : stages.stages)
    for (Operation *product : stage.products)
      if (Value left = ir::Product::of(product)->lhs; elementOf(left).isInteger(8))
        halvesBytes = std::max(halvesBytes, HalvedRows::bytes(RowView::of(left).columns, blockRows));
  bytes += llvm::alignTo(halvesBytes, 64);
}

ScanStep::ScanStep(KernelBuilder &kernel, ir::ScanOp scan, const ir::ScanStages &stages, const ScanScratch &scratch)
    : ScanRow(kernel, stages), k(kernel), scan(scan), scratch(scratch) {
  for (auto &[value, place] : scratch.places) {
    auto type = MemRefType::get({(place.carried ? 2 : 1) * place.elements}, storageType(elementOf(value)));
    buffers[value] = {k.scratchBuffer(place.byteOffset, type), place};
  }
}

void ScanStep::setBlock(Value first, int64_t count) {
  firstRow = first;
  rows = count;
}

Value ScanStep::copyOffset(const Buffer &buffer, bool next) {
  if (!buffer.place.carried) return k.index(0);
  return k.mul(next ? otherParity : parity, buffer.place.elements);
}

std::optional<unsigned> ScanStep::resultOf(unsigned yielded) {
  Operation *yield = scan->getBlock()->getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (value == scan.getResult(yielded)) return i;
  return std::nullopt;
}

int64_t ScanStep::rowsOf(Value value) const { return RowView::of(value).rows == 1 && stages.rows > 1 ? 1 : rows; }

Value ScanStep::rowOf(Value value) { return RowView::of(value).rows == 1 && stages.rows > 1 ? k.index(0) : here.row; }

void ScanStep::forVectors(int64_t count, int64_t columns, llvm::function_ref<void()> body) {
  int64_t whole = columns / kLanes * kLanes;
  auto at = [&](Position position) {
    here = position;
    startPlace();
    body();
  };
  k.loop(k.index(0), k.index(count), 1, [&](Value row) {
    k.loop(k.index(0), k.index(whole), kLanes, [&](Value column) { at({row, column, Value()}); });
    if (whole < columns) at({row, k.index(whole), k.mask(columns - whole)});
  });
}

void ScanStep::loadInitial() {
  parity = k.index(0);
  for (auto [i, argument] : llvm::enumerate(scan.getCarriedArguments())) {
    Value from = k.flatOperand(scan.getInitial()[i]);
    const Buffer &to = buffers.find(argument)->second;
    int64_t columns = RowView::of(argument).columns;
    Type type = elementOf(argument);
    forVectors(columns, [&] {
      Value at = k.add(k.mul(k.add(firstRow, here.row), columns), here.column);
      Value value = k.loadVector(from, at, type, here.mask);
      k.store(value, to.buffer, k.add(k.mul(here.row, to.place.stride), here.column), type);
    });
  }
}

void ScanStep::storeLast(Value copy) {
  parity = copy;
  for (auto [i, argument] : llvm::enumerate(scan.getCarriedArguments())) {
    std::optional<unsigned> result = resultOf(i);
    if (!result) continue;
    Value to = k.flat(k.resultBuffer(*result));
    const Buffer &from = buffers.find(argument)->second;
    int64_t columns = RowView::of(argument).columns;
    Type type = elementOf(argument);
    forVectors(columns, [&] {
      Value at = k.add(copyOffset(from, false), k.add(k.mul(here.row, from.place.stride), here.column));
      Value value = k.loadVector(from.buffer, at, type);
      k.store(value, to, k.add(k.mul(k.add(firstRow, here.row), columns), here.column), type, here.mask);
    });
  }
}

void ScanStep::emit(Value step, Value copy) {
  time = step;
  parity = copy;
  otherParity = k.sub(k.index(1), copy);
  for (unsigned stage = 0; stage < stages.stages.size(); ++stage) {
    currentStage = stage;
    for (ir::ReduceOp reduction : stages.stages[stage].reductions) emitReduction(reduction);
    for (Operation *product : stages.stages[stage].products) emitProduct(product);
    emitElementwise(stage);
  }
}

// Rows on their own, or all rows of the block to one number: in that case the block has all that there are.
void ScanStep::emitReduction(ir::ReduceOp op) {
  Value operand = op.getOperand(), result = op.getResult();
  const Buffer &to = buffers.find(result)->second;
  Type type = elementOf(operand);
  ir::ReduceKind kind = op.getKind();
  const int64_t columns = RowView::of(operand).columns, whole = columns / kLanes * kLanes;
  Value identity = reductionIdentity(k, kind, type, kLanes);
  auto ofRow = [&](Value row, Value sofar) {
    auto step = [&](Value column, Value mask, Value sums) {
      here = {row, column, mask};
      startPlace();
      Value read = at(operand);
      if (mask) read = arith::SelectOp::create(k.b, k.loc, mask, read, identity);
      return reductionStep(k, kind, type, sums, read);
    };
    sofar = k.loop(k.index(0), k.index(whole), kLanes, sofar, [&](Value column, ValueRange sums) {
      return SmallVector<Value>{step(column, Value(), sums[0])};
    })[0];
    return whole < columns ? step(k.index(whole), k.mask(columns - whole), sofar) : sofar;
  };
  auto store = [&](Value row, Value partials) {
    k.store(reductionTree(k, kind, type, partials), to.buffer, k.mul(row, to.place.stride), type);
  };
  const int64_t count = rowsOf(operand);
  if (rowsOf(result) == count)
    return k.loop(k.index(0), k.index(count), 1, [&](Value row) { store(row, ofRow(row, identity)); });
  store(k.index(0), k.loop(k.index(0), k.index(count), 1, identity,
                           [&](Value row, ValueRange sums) { return SmallVector<Value>{ofRow(row, sums[0])}; })[0]);
}

// All rows of the block times the panels, a group of panels after the other.
void ScanStep::emitProduct(Operation *op) {
  auto product = *ir::Product::of(op);
  int64_t depth = RowView::of(product.lhs).columns, columns = RowView::of(op->getResult(0)).columns;
  Type type = elementOf(op->getResult(0)), factor = elementOf(product.rhs);
  const Buffer &to = buffers.find(op->getResult(0))->second;
  ContractionLoop loop;
  Value leftBase;
  if (auto found = buffers.find(product.lhs); found != buffers.end()) {
    loop.left = found->second.buffer;
    loop.leftRowStride = found->second.place.stride;
    leftBase = copyOffset(found->second, false);
  } else { // a slice of an input, or an invariant
    auto argument = cast<BlockArgument>(product.lhs);
    loop.left = k.flatOperand(scan->getOperand(argument.getArgNumber()));
    loop.leftRowStride = depth;
    leftBase = k.mul(firstRow, depth);
    if (argument.getArgNumber() < scan.getNumInputs()) leftBase = k.add(leftBase, k.mul(time, stages.rows * depth));
  }
  auto panels = cast<RankedTensorType>(product.rhs.getType());
  const int64_t interleave = kernel::interleaveIn(panels.getShape());
  kernel::PanelPlaces places{depth, depth, interleave};
  loop.right = k.flatOperand(scan->getOperand(cast<BlockArgument>(product.rhs).getArgNumber()));
  loop.elementType = type;
  loop.takeSteps(k.index(depth / interleave), interleave, depth % interleave);
  const int64_t panelSize = places.size(), halfPanel = kLanes * interleave;
  int64_t vectors = llvm::divideCeil(columns, kLanes);
  int64_t step = std::min(chooseTileVectors(k.target, type, rows), std::max<int64_t>(vectors, 1));
  // One row of weights that the first-level cache does not hold waits for the second, not for its chains: smaller
  // groups leave more of the last ones there.
  constexpr int64_t kFirstLevel = 24 << 10, kEnoughVectors = 4;
  if (rows == 1 && depth * columns * storageBytes(factor) > kFirstLevel) step = std::min(step, kEnoughVectors);
  std::optional<HalvedRows> halved;
  if (interleave == 4 && scratch.halvesBytes && HalvedRows::areFor(k.target, rows)) {
    halved.emplace(k, k.scratchBuffer(scratch.halvesOffset, HalvedRows::type(k, depth, rows)), depth);
    halved->take(loop.left, leftBase, loop.leftRowStride, rows);
    step = std::min(HalvedRows::vectors(k.target), std::max<int64_t>(vectors, 1));
  }

  // `count` vectors of columns from `column` on, a multiple of the panel width or half of it.
  auto strip = [&](Value panel, Value column, int64_t count) {
    loop.rightOffsets.clear();
    for (int64_t j = 0; j < count; ++j) loop.rightOffsets.push_back(j / 2 * panelSize + j % 2 * halfPanel);
    loop.rightBase = panel;
    int64_t tileRows = halved ? 1 : maxTileRows(k.target, type, count, loop.leftRowStride, interleave);
    forRowTiles(k, k.index(0), splitRows(rows, tileRows), [&](Value row, int64_t registerRows) {
      loop.leftBase = k.add(leftBase, k.mul(row, loop.leftRowStride));
      SmallVector<Value> sums =
          halved ? halved->contract(row, loop.right, loop.rightBase, loop.rightOffsets, loop.rightStep)
                 : emitContraction(k, loop, zeroTile(k, type, registerRows, count));
      for (int64_t i = 0; i < registerRows; ++i)
        for (int64_t j = 0; j < count; ++j)
          k.store(k.round(sums[i * count + j], type), to.buffer,
                  k.add(k.mul(k.add(row, i), to.place.stride), k.add(column, j * kLanes)), type);
    });
  };
  // Whole groups of panels in a loop, then what is left; one vector at a time goes through the halves of each panel.
  int64_t groupVectors = std::max<int64_t>(step, 2), groups = vectors / groupVectors;
  auto group = [&](Value index, int64_t count) {
    Value panel = k.mul(index, groupVectors / 2 * panelSize), column = k.mul(index, groupVectors * kLanes);
    for (int64_t j = 0; j < count; j += step)
      strip(k.add(panel, j / 2 * panelSize + j % 2 * halfPanel), k.add(column, j * kLanes), std::min(step, count - j));
  };
  // Every other step goes from the last to the first, to find in the first-level cache what the step before read last.
  int64_t rest = vectors - groups * groupVectors;
  if (!groups) return group(k.index(0), rest);
  auto isParity = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, parity, k.index(number));
  };
  Value isForward = isParity(0), isBackward = isParity(1);
  auto emitRest = [&] { group(k.index(groups), rest); };
  if (rest) k.ifThen(isBackward, emitRest);
  k.loop(k.index(0), k.index(groups), 1, [&](Value index) {
    Value fromEnd = k.sub(k.index(groups - 1), index);
    group(arith::SelectOp::create(k.b, k.loc, isBackward, fromEnd, index), groupVectors);
  });
  if (rest) k.ifThen(isForward, emitRest);
}

// What this stage keeps, and in the last one what the step yields: values of one width in one loop.
void ScanStep::emitElementwise(unsigned stage) {
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<std::function<void()>>> loops; // by rows and width
  auto add = [&](Value value, std::function<void(Value, int64_t)> store) {
    forParts(value, [&](Value part, int64_t column) {
      loops[{rowsOf(value), RowView::of(part).columns}].push_back([=] { store(part, column); });
    });
  };
  for (Value value : stages.stages[stage].kept)
    add(value, [this, value](Value part, int64_t column) { store(part, value, column); });
  if (stage + 1 == stages.stages.size())
    for (auto [i, value] : llvm::enumerate(scan.getStep().getTerminator()->getOperands()))
      if (i < scan.getNumCarried() || resultOf(i))
        add(value, [this, i = i](Value part, int64_t column) { storeYield(part, i, column); });
  for (auto &[size, stores] : loops)
    forVectors(size.first, size.second, [&stores] {
      for (auto &store : stores) store();
    });
}

// A part of a row ends where the next one begins; a whole row goes on as padding.
Value ScanStep::maskFor(Value part, Value value) { return part == value ? Value() : here.mask; }

void ScanStep::store(Value part, Value value, int64_t column) {
  const Buffer &to = buffers.find(value)->second;
  Value place = k.add(k.mul(here.row, to.place.stride), k.add(here.column, column));
  k.store(at(part), to.buffer, place, elementOf(value), maskFor(part, value));
}

void ScanStep::storeYield(Value part, unsigned index, int64_t column) {
  Value value = scan.getStep().getTerminator()->getOperand(index), computed = at(part);
  Type type = elementOf(value);
  Value inRow = k.add(here.column, column);
  if (index < scan.getNumCarried()) {
    const Buffer &to = buffers.find(scan.getCarriedArguments()[index])->second;
    Value row = k.add(copyOffset(to, true), k.mul(here.row, to.place.stride));
    return k.store(computed, to.buffer, k.add(row, inRow), type, maskFor(part, value));
  }
  Value row = k.add(k.mul(time, stages.rows), k.add(firstRow, here.row));
  k.store(computed, k.flat(k.resultBuffer(*resultOf(index))), k.add(k.mul(row, RowView::of(value).columns), inRow),
          type, here.mask);
}

Value ScanStep::load(Value value, int64_t shift) {
  auto found = buffers.find(value);
  if (found == buffers.end()) return readTensor(cast<BlockArgument>(value), shift);
  const Buffer &from = found->second;
  Value row = k.add(copyOffset(from, false), k.mul(rowOf(value), from.place.stride));
  Type type = elementOf(value);
  if (RowView::of(value).columns == 1) return k.splat(k.load(from.buffer, row, type));
  return k.loadVector(from.buffer, k.add(row, k.add(here.column, shift)), type);
}

Value ScanStep::readTensor(BlockArgument argument, int64_t shift) {
  RowView view = RowView::of(argument);
  Value buffer = k.flatOperand(scan->getOperand(argument.getArgNumber()));
  Value row = view.rows == 1 ? k.index(0) : k.add(firstRow, here.row);
  if (argument.getArgNumber() < scan.getNumInputs()) row = k.add(row, k.mul(time, view.rows));
  Value base = k.mul(row, view.columns);
  Type type = elementOf(argument);
  if (view.columns == 1) return k.splat(k.load(buffer, base, type));
  return k.loadVector(buffer, k.add(base, k.add(here.column, shift)), type, here.mask);
}
