#include "lib/Target/CUDA/Kernels/Control/ScanStep.h"
#include "lib/Target/Kernels/ControlPlaces.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/MapVector.h"
#include <functional>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;
using ir::RowView;

static kernel::DispatchOp dispatchOf(ir::ScanOp scan) { return cast<kernel::DispatchOp>(scan->getParentOp()); }

GpuScanStep::GpuScanStep(GpuBuilder &kernel, ir::ScanOp scan, const ScanForm &form, Value block)
    : ScanRow(kernel, form.stages), k(kernel), scan(scan), form(form), firstRow(k.mul(block, form.blockRows)) {
  for (auto &[value, place] : form.places)
    buffers[value] = {k.sharedBuffer({place.copies * place.elements}, storageType(elementOf(value))), place};
}

Value GpuScanStep::inBatch(Value row) {
  Value all = k.add(firstRow, row);
  return stages.rows % form.blockRows ? k.min(all, k.index(stages.rows - 1)) : all;
}

Value GpuScanStep::rowIn(const Buffer &buffer, Value row, bool next) {
  Value at = k.mul(row, buffer.place.columns);
  if (buffer.place.copies == 1) return at;
  return k.add(k.mul(next ? k.sub(k.index(1), parity) : parity, buffer.place.elements), at);
}

Value GpuScanStep::flatOperand(BlockArgument argument) {
  return k.flatOperand(scan->getOperand(argument.getArgNumber()));
}

void GpuScanStep::forItems(int64_t count, llvm::function_ref<void(Value)> body) {
  if (count % k.threads == 0)
    return k.loop(k.index(0), k.index(count), k.threads, [&](Value begin) { body(k.add(k.thread(), begin)); });
  if (count > k.threads) return k.loop(k.thread(), k.index(count), k.threads, body);
  Value isThere = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, k.thread(), k.index(count));
  k.ifThen(isThere, [&] { body(k.thread()); });
}

void GpuScanStep::forPlaces(int64_t columns, llvm::function_ref<void()> body, int64_t width) {
  forItems(form.blockRows * columns / width, [&](Value item) {
    Value at = k.mul(item, width);
    here = {k.index(0), at};
    if (form.blockRows > 1) here = {k.div(at, columns), k.rem(at, columns)};
    startPlace();
    body();
  });
}

// LLVM joins accesses to neighbours, and may read the few elements behind a value with them.
void GpuScanStep::fillPadding() {
  for (auto &[value, place] : form.places) {
    int64_t own = form.blockRows * place.columns, padding = place.elements - own;
    if (padding == 0) continue;
    Value buffer = buffers.find(value)->second.buffer;
    Type type = elementOf(value);
    forItems(place.copies * padding, [&, elements = place.elements](Value item) {
      Value at = k.add(k.mul(k.div(item, padding), elements), k.add(k.rem(item, padding), own));
      k.store(k.zero(computeType(type)), buffer, at, type);
    });
  }
}

// Threads that have no part of a product hold the last one's columns.
void GpuScanStep::holdMatrices() {
  for (const ir::ScanStage &stage : stages.stages)
    for (Operation *op : stage.products) {
      if (!form.held.contains(op)) continue;
      auto product = cast<ir::MatmulOp>(op);
      Sides sides = rightOf(product, k.min(k.thread(), k.index(form.partsOf(product) - 1)));
      SmallVector<Value> elements;
      for (int64_t step = 0; step < sides.depth; ++step) {
        Value place = k.add(sides.rightColumn, k.mul(k.index(step), sides.rightStride));
        llvm::append_range(elements,
                           readFew(sides.right, place, sides.tile.columns, sides.type, sides.tile.columns == kQuad));
      }
      held[op] = std::move(elements);
    }
}

void GpuScanStep::loadInitial() {
  fillPadding();
  holdMatrices();
  parity = k.index(1);
  for (auto [argument, initial] : llvm::zip_equal(scan.getCarriedArguments(), scan.getInitial())) {
    Value from = k.flatOperand(initial);
    int64_t columns = RowView::of(argument).columns;
    Type type = elementOf(argument);
    forPlaces(columns, [&, argument = argument] {
      Value at = k.add(k.mul(inBatch(here.row), columns), here.column);
      store(k.load(from, at, type), argument, 0, /*next=*/true);
    });
  }
  k.barrier();
}

void GpuScanStep::storeLast(Value copy) {
  parity = copy;
  for (auto [i, argument] : llvm::enumerate(scan.getCarriedArguments()))
    if (auto result = positionInDispatch(dispatchOf(scan), scan.getResult(i))) {
      int64_t columns = RowView::of(argument).columns;
      forPlaces(columns, [&, argument = argument] {
        storeOutput(at(argument), elementOf(argument), *result, k.index(0), columns, 0);
      });
    }
}

void GpuScanStep::emit(Value step, Value copy) {
  time = step;
  parity = copy;
  fetchInputs();
  for (currentStage = 0; currentStage < stages.stages.size(); ++currentStage) {
    ArrayRef<Operation *> products = stages.stages[currentStage].products;
    for (Operation *op : products) {
      auto product = cast<ir::MatmulOp>(op);
      if (llvm::is_contained(products, product.getLhs().getDefiningOp())) k.barrier();
      emitProduct(product);
    }
    bool awaits = currentStage == 0 && !form.staged.empty();
    if (awaits) awaitInputs();
    if (awaits || !products.empty()) k.barrier();
    emitElementwise();
    k.barrier();
  }
}

// The block's rows of this step, on their way while products are computed.
void GpuScanStep::fetchInputs() {
  if (form.staged.empty()) return;
  Type token = nvgpu::DeviceAsyncTokenType::get(k.b.getContext());
  for (BlockArgument input : form.staged) {
    const Buffer &to = buffers.find(input)->second;
    int64_t columns = to.place.columns, width = columns % kQuad == 0 ? kQuad : 1;
    Value from = flatOperand(input), rowsBefore = k.mul(time, stages.rows);
    forPlaces(
        columns,
        [&] {
          Value source = k.add(k.mul(k.add(rowsBefore, inBatch(here.row)), columns), here.column);
          Value target = k.add(rowIn(to, here.row), here.column);
          nvgpu::DeviceAsyncCopyOp::create(k.b, k.loc, token, to.buffer, target, from, source, k.b.getIndexAttr(width),
                                           Value(), UnitAttr());
        },
        width);
  }
  fetched = nvgpu::DeviceAsyncCreateGroupOp::create(k.b, k.loc, token, ValueRange());
}

void GpuScanStep::awaitInputs() { nvgpu::DeviceAsyncWaitOp::create(k.b, k.loc, fetched, k.b.getI32IntegerAttr(0)); }

GpuScanStep::Sides GpuScanStep::rightOf(ir::MatmulOp product, Value item) {
  Sides sides;
  sides.tile = form.tileOf(product);
  int64_t across = RowView::of(product.getResult()).columns / sides.tile.columns;
  bool isOneRow = form.blockRows == sides.tile.rows;
  sides.row = isOneRow ? k.index(0) : k.mul(k.div(item, across), sides.tile.rows);
  sides.column = k.mul(isOneRow ? item : k.rem(item, across), sides.tile.columns);
  sides.type = elementOf(product.getResult());
  sides.depth = RowView::of(product.getLhs()).columns;
  if (auto found = held.find(product); found != held.end()) sides.held = found->second;
  sides.right = flatOperand(cast<BlockArgument>(product.getRhs()));
  sides.rightStride = product.getTransposeRhs() ? 1 : RowView::of(product.getResult()).columns;
  sides.rightColumn = product.getTransposeRhs() ? k.mul(sides.column, sides.depth) : sides.column;
  return sides;
}

GpuScanStep::Sides GpuScanStep::sidesOf(ir::MatmulOp product, Value item) {
  Sides sides = rightOf(product, item);
  bool isQuads = sides.depth % kQuad == 0;
  if (auto found = buffers.find(product.getLhs()); found != buffers.end()) {
    sides.left = found->second.buffer;
    isQuads |= form.blockRows == 1;
    for (int64_t i = 0; i < sides.tile.rows; ++i) sides.leftRows.push_back(rowIn(found->second, k.add(sides.row, i)));
  } else {
    auto argument = cast<BlockArgument>(product.getLhs()); // a slice of an input, or an invariant
    sides.left = flatOperand(argument);
    for (int64_t i = 0; i < sides.tile.rows; ++i) {
      Value at = inBatch(k.add(sides.row, i));
      if (argument.getArgNumber() < scan.getNumInputs()) at = k.add(at, k.mul(time, stages.rows));
      sides.leftRows.push_back(k.mul(at, sides.depth));
    }
  }
  sides.isLeftWide = isQuads && sides.type.isF32();
  return sides;
}

SmallVector<Value> GpuScanStep::readFew(Value buffer, Value at, int64_t count, Type type, bool isWide) {
  SmallVector<Value> elements;
  if (isWide && count == kQuad) {
    Value vector = k.loadVector(buffer, at, type, {}, kQuad);
    for (int64_t lane = 0; lane < kQuad; ++lane)
      elements.push_back(vector::ExtractOp::create(k.b, k.loc, vector, lane));
    return elements;
  }
  for (int64_t i = 0; i < count; ++i) elements.push_back(k.load(buffer, k.add(at, i), type));
  return elements;
}

// Goes on with the chains of a thread's rows and columns by so many products.
SmallVector<Value> GpuScanStep::multiply(const Sides &sides, Value begin, int64_t count, ValueRange chains) {
  SmallVector<Value> sums(chains);
  int64_t columns = sides.tile.columns;
  for (int64_t step = 0; step < count; step += kQuad) {
    int64_t few = std::min(kQuad, count - step);
    Value at = k.add(begin, step);
    SmallVector<SmallVector<Value>> left;
    for (Value row : sides.leftRows)
      left.push_back(readFew(sides.left, k.add(row, at), few, sides.type, sides.isLeftWide));
    for (int64_t e = 0; e < few; ++e) {
      SmallVector<Value> right;
      if (sides.held.empty()) {
        Value place = k.add(sides.rightColumn, k.mul(k.add(at, e), sides.rightStride));
        right = readFew(sides.right, place, columns, sides.type, columns == kQuad);
      } else {
        right.assign(sides.held.begin() + (step + e) * columns, sides.held.begin() + (step + e + 1) * columns);
      }
      for (auto [i, elements] : llvm::enumerate(left))
        for (int64_t j = 0; j < columns; ++j) {
          Value &sum = sums[i * columns + j];
          sum = k.multiplyAdd(elements[e], right[j], sum);
        }
    }
  }
  return sums;
}

// The sums that docs/numerics.md states.
SmallVector<Value> GpuScanStep::sumsOf(const Sides &sides) {
  SmallVector<Value> zeros(sides.tile.rows * sides.tile.columns, k.zero(computeType(sides.type)));
  // So many loads of the matrix are on their way at once.
  int64_t together = sides.tile.columns == 1 ? 16 : 8;
  auto chain = [&](Value begin, int64_t count) {
    int64_t whole = count / together * together;
    SmallVector<Value> sums = k.loop(begin, k.add(begin, whole), together, zeros, [&](Value step, ValueRange carried) {
      return multiply(sides, step, together, carried);
    });
    return multiply(sides, k.add(begin, whole), count - whole, sums);
  };
  if (!sides.held.empty()) return multiply(sides, k.index(0), sides.depth, zeros);
  if (sides.depth <= kLongestChain) return chain(k.index(0), sides.depth);
  auto addPart = [&](Value begin, int64_t count, ValueRange totals) {
    SmallVector<Value> sums;
    for (auto [total, part] : llvm::zip_equal(totals, chain(begin, count)))
      sums.push_back(arith::AddFOp::create(k.b, k.loc, total, part));
    return sums;
  };
  int64_t whole = sides.depth / kChainPart * kChainPart;
  SmallVector<Value> totals =
      k.loop(k.index(0), k.index(whole), kChainPart, zeros,
             [&](Value begin, ValueRange carried) { return addPart(begin, kChainPart, carried); });
  return whole < sides.depth ? addPart(k.index(whole), sides.depth - whole, totals) : totals;
}

void GpuScanStep::emitProduct(ir::MatmulOp product) {
  const Buffer &to = buffers.find(product.getResult())->second;
  forItems(form.partsOf(product), [&](Value item) {
    Sides sides = sidesOf(product, item);
    const ScanForm::Tile tile = sides.tile;
    SmallVector<Value> sums = sumsOf(sides);
    for (int64_t i = 0; i < tile.rows; ++i) {
      Value at = k.add(rowIn(to, k.add(sides.row, i)), sides.column);
      Value value = sums[i * tile.columns];
      if (tile.columns > 1)
        value = vector::FromElementsOp::create(k.b, k.loc, VectorType::get({tile.columns}, value.getType()),
                                               ValueRange(sums).slice(i * tile.columns, tile.columns));
      k.store(value, to.buffer, at, sides.type);
    }
  });
}

// What the stage keeps, and in the last one what the step yields: values of one width in one loop.
void GpuScanStep::emitElementwise() {
  const ir::ScanStage &stage = stages.stages[currentStage];
  llvm::MapVector<int64_t, SmallVector<std::function<void()>>> loops; // by width
  auto add = [&](Value value, std::function<void(Value, int64_t)> store) {
    forParts(value, [&](Value part, int64_t column) {
      loops[RowView::of(part).columns].push_back([=] { store(part, column); });
    });
  };
  for (Value value : stage.kept)
    add(value, [this, value](Value part, int64_t column) { store(at(part), value, column); });
  if (&stage == &stages.stages.back())
    for (auto [i, value] : llvm::enumerate(scan.getStep().getTerminator()->getOperands())) {
      if (i < scan.getNumCarried())
        add(value, [this, to = scan.getCarriedArguments()[i]](Value part, int64_t column) {
          store(at(part), to, column, /*next=*/true);
        });
      else if (auto result = positionInDispatch(dispatchOf(scan), scan.getResult(i)))
        add(value, [this, columns = RowView::of(value).columns, result = *result](Value part, int64_t column) {
          storeOutput(at(part), elementOf(part), result, k.mul(time, stages.rows), columns, column);
        });
    }
  for (auto &[width, stores] : loops)
    forPlaces(width, [&stores] {
      for (auto &store : stores) store();
    });
}

Value GpuScanStep::load(Value value, int64_t shift) {
  Type type = elementOf(value);
  int64_t columns = RowView::of(value).columns;
  Value column = columns == 1 ? k.index(0) : k.add(here.column, shift);
  if (auto found = buffers.find(value); found != buffers.end())
    return k.load(found->second.buffer, k.add(rowIn(found->second, here.row), column), type);
  auto argument = cast<BlockArgument>(value);
  int64_t rows = RowView::of(value).rows;
  Value row = rows == 1 ? k.index(0) : inBatch(here.row);
  if (argument.getArgNumber() < scan.getNumInputs()) row = k.add(row, k.mul(time, rows));
  return k.load(flatOperand(argument), k.add(k.mul(row, columns), column), type);
}

void GpuScanStep::store(Value computed, Value value, int64_t column, bool next) {
  const Buffer &to = buffers.find(value)->second;
  Value at = k.add(rowIn(to, here.row, next), k.add(here.column, column));
  k.store(computed, to.buffer, at, elementOf(value));
}

void GpuScanStep::storeOutput(Value computed, Type type, unsigned result, Value rowsBefore, int64_t columns,
                              int64_t column) {
  Value row = k.add(firstRow, here.row);
  auto write = [&] {
    Value place = k.add(k.mul(k.add(rowsBefore, row), columns), k.add(here.column, column));
    k.store(computed, k.flat(k.resultBuffer(result)), place, type);
  };
  if (stages.rows % form.blockRows == 0) return write();
  k.ifThen(arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, row, k.index(stages.rows)), write);
}
