#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/Kernels/LoopSpace.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static bool broadcastsTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = tensorOf(value).getShape();
  if (own.size() > shape.size()) return false;
  for (auto [size, target] : llvm::zip(llvm::reverse(own), llvm::reverse(shape)))
    if (size != target && size != 1) return false;
  return true;
}

/// Whether the root's kernel sees its result as a matrix (Epilogue::flatten), in which no dimension has a place.
static bool isSeenAsMatrix(Operation *root) { return isa<ir::ConvFilterGradOp, kernel::ConvFilterGradPartsOp>(root); }

bool Epilogue::takes(Operation *op, Operation *root) {
  ArrayRef<int64_t> shape = tensorOf(root->getResult(0)).getShape();
  // The root reads its operands as they lie in memory.
  if (op->getNumResults() != 1 || llvm::is_contained(op->getUsers(), root)) return false;
  if (!broadcastsTo(op->getResult(0), shape)) return false;
  if (ir::splatOf(op)) return true;
  // Register tiles have no place for a check.
  if (!isa<ElementwiseOpInterface>(op) || ir::isCheckedAtRunTime(op)) return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (ir::splatOf(operand)) return true;
    bool isWhole = tensorOf(operand).getShape() == shape || tensorOf(operand).getNumElements() == 1;
    return isSeenAsMatrix(root) ? isWhole : broadcastsTo(operand, shape);
  });
}

bool Epilogue::mayYield(Value value, Operation *root) {
  return !isa<BlockArgument>(value) && tensorOf(value).getShape() == tensorOf(root->getResult(0)).getShape();
}

std::optional<Epilogue> Epilogue::analyze(kernel::DispatchOp dispatch, llvm::function_ref<bool(Operation *)> isRoot) {
  Epilogue epilogue;
  Block &body = dispatch->getRegion(0).front();
  for (Operation &op : body.without_terminator()) {
    if (!isRoot(&op)) continue;
    if (epilogue.root) return std::nullopt;
    epilogue.root = &op;
  }
  if (!epilogue.root || epilogue.root->getNumResults() != 1) return std::nullopt;
  epilogue.rootType = tensorOf(epilogue.root->getResult(0));
  if (epilogue.rootType.getRank() == 0) return std::nullopt;
  for (Operation &op : body.without_terminator()) {
    if (&op == epilogue.root) continue;
    if (!takes(&op, epilogue.root)) return std::nullopt;
    epilogue.operations.push_back(&op);
  }
  for (Value value : body.getTerminator()->getOperands())
    if (!mayYield(value, epilogue.root)) return std::nullopt;
  return epilogue;
}

void Epilogue::flatten(int64_t rowDims) {
  assert(isSeenAsMatrix(root) && "operands were not checked for it");
  ArrayRef<int64_t> shape = rootType.getShape();
  int64_t rows = 1, columns = 1;
  for (int64_t size : shape.take_front(rowDims)) rows *= size;
  for (int64_t size : shape.drop_front(rowDims)) columns *= size;
  rootType = RankedTensorType::get({rows, columns}, rootType.getElementType());
}

void Epilogue::dropUnitColumns() {
  assert(rootType.getRank() > 1 && rootType.getShape().back() == 1 && "has several columns");
  rootType = RankedTensorType::get(rootType.getShape().drop_back(), rootType.getElementType());
  hasUnitColumns = true;
}

namespace {
/// How an operand of the epilogue lies over the root's rows and columns.
struct Access {
  Value buffer; // 1-d
  Type elementType;
  bool perRow = false, perColumn = false, fullRows = false;
  int64_t rowLength = 0;                  // elements between consecutive rows when fullRows
  SmallVector<int64_t> rowSizes, strides; // of the root's row dimensions, for the general case
};
} // namespace

static Access describeAccess(KernelBuilder &k, BlockArgument argument, ArrayRef<int64_t> shape, bool hasUnitColumns) {
  RankedTensorType type = tensorOf(argument);
  Access access;
  access.buffer = k.flat(k.operandBuffer(argument));
  access.elementType = type.getElementType();
  ArrayRef<int64_t> own = type.getShape();
  // A single element has no dimensions that count; the root's own shape may be seen as a matrix.
  if (type.getNumElements() == 1)
    own = {};
  else if (hasUnitColumns)
    own = own.drop_back();
  else if (own.size() > shape.size())
    own = shape;
  int64_t missing = shape.size() - own.size(), stride = 1;
  access.strides.assign(shape.size() - 1, 0);
  access.rowSizes.assign(shape.begin(), shape.end() - 1);
  access.fullRows = true;
  for (int64_t dim = static_cast<int64_t>(own.size()) - 1; dim >= 0; --dim) {
    int64_t target = dim + missing;
    bool varies = own[dim] != 1;
    if (target == static_cast<int64_t>(shape.size()) - 1) {
      access.perColumn = varies;
      access.rowLength = own[dim];
    } else if (varies) {
      access.perRow = true;
      access.strides[target] = stride;
    }
    stride *= own[dim];
  }
  for (auto [size, s] : llvm::zip_equal(access.rowSizes, access.strides))
    if (size != 1 && s == 0) access.fullRows = false;
  return access;
}

/// Where the elements of a row begin in an operand.
static Value rowOffset(KernelBuilder &k, const Access &access, Value row) {
  if (!access.perRow) return k.index(0);
  if (access.fullRows) return k.mul(row, access.rowLength);
  Value offset = k.index(0);
  for (auto [index, stride] : llvm::zip_equal(k.delinearize(row, access.rowSizes), access.strides))
    if (stride) offset = k.add(offset, k.mul(index, stride));
  return offset;
}

void Epilogue::beginWithBias() {
  if (!rootType.getElementType().isSignlessInteger(32)) return;
  auto isPerColumn = [&](Value value) {
    return isa<BlockArgument>(value) && broadcastsTo(value, rootType.getShape()) &&
           llvm::all_of(tensorOf(value).getShape().drop_back(), [](int64_t size) { return size == 1; });
  };
  for (Value sums = root->getResult(0); sums.hasOneUse();) {
    OpOperand &use = *sums.getUses().begin();
    Operation *user = use.getOwner();
    bool mayBegin = isa<ir::AddOp>(user) || (isa<ir::SubOp>(user) && use.getOperandNumber() == 0);
    if (!mayBegin || !isPerColumn(user->getOperand(1 - use.getOperandNumber()))) return;
    llvm::erase(operations, user);
    begun.push_back(user);
    sums = user->getResult(0);
  }
}

SmallVector<Value> Epilogue::initialTile(KernelBuilder &k, int64_t rows, ValueRange columns, ArrayRef<Value> masks,
                                         ArrayRef<int64_t> lanes) const {
  SmallVector<Value> row, tile;
  for (auto [column, mask, count] : llvm::zip_equal(columns, masks, lanes)) {
    Value initial = k.zero(computeType(rootType.getElementType()), count);
    for (Operation *op : begun) {
      auto argument = dyn_cast<BlockArgument>(op->getOperand(1));
      if (!argument) argument = cast<BlockArgument>(op->getOperand(0));
      Access access = describeAccess(k, argument, rootType.getShape(), hasUnitColumns);
      Value bias = access.perColumn ? k.loadVector(access.buffer, column, access.elementType, mask, count)
                                    : k.splat(k.load(access.buffer, k.index(0), access.elementType), count);
      initial = k.apply(op, {initial, bias});
    }
    row.push_back(initial);
  }
  for (int64_t i = 0; i < rows; ++i) tile.append(row);
  return tile;
}

namespace {
/// A vector of accumulators: its row, and which of the columns' vectors it is.
struct Place {
  Value accumulator, row;
  unsigned column;
};

/// Computes an epilogue for a few vectors of accumulators at a time. They are one wide vector meanwhile, so that there
/// is always an instruction that waits for no other one: those of a function like erf are one long chain.
class EpilogueWriter {
public:
  EpilogueWriter(KernelBuilder &k, const Epilogue &epilogue, ArrayRef<Operation *> operations, Operation *start,
                 ValueRange columns, ArrayRef<Value> masks)
      : k(k), start(start), shape(epilogue.rootType.getShape()), operations(operations), columns(columns),
        masks(masks) {
    for (Operation *op : operations)
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand); argument && !accesses.count(argument))
          accesses[argument] = describeAccess(k, argument, shape, epilogue.hasUnitColumns);
  }

  /// Reads what all rows share, for column vectors of these lanes.
  void readShared(ArrayRef<int64_t> lanes) {
    for (Operation *op : operations)
      for (Value operand : op->getOperands())
        if (auto found = accesses.find(operand); found != accesses.end() && !found->second.perRow)
          for (unsigned j = 0; j < columns.size(); ++j) read(operand, Value(), j, lanes[j]);
  }

  /// As many at a time as go together.
  void writeAll(ArrayRef<Place> places) {
    while (!places.empty()) {
      auto type = places.front().accumulator.getType();
      size_t count = 1, most = std::min(together(cast<VectorType>(type)), places.size());
      while (count < most && places[count].accumulator.getType() == type) ++count;
      write(places.take_front(count));
      places = places.drop_front(count);
    }
  }

  /// Vectors that are computed together: of 32 registers four, which hides the latency of a multiply-add.
  size_t together(VectorType type) const {
    int64_t registers = k.target.vectorRegisters / 8;
    int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
    return std::max<int64_t>(registers * k.target.vectorBytes / std::max<int64_t>(bytes, 1), 1);
  }

private:
  void write(ArrayRef<Place> places) {
    int64_t lanes = cast<VectorType>(places.front().accumulator.getType()).getDimSize(0);
    llvm::DenseMap<Value, Value> values;
    SmallVector<Value> accumulators;
    for (const Place &place : places) accumulators.push_back(place.accumulator);
    values[start->getResult(0)] = k.round(joined(accumulators), tensorOf(start->getResult(0)).getElementType());
    for (Operation *op : operations) {
      if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
        Value scalar = k.splatConstant(cast<DenseElementsAttr>(constant.getValue()));
        values[constant.getResult()] = k.splat(scalar, lanes * static_cast<int64_t>(places.size()));
        continue;
      }
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(isa<BlockArgument>(operand) ? readAll(operand, places, lanes) : values.lookup(operand));
      values[op->getResult(0)] = k.apply(op, arguments);
    }
    for (auto [index, value] : llvm::enumerate(start->getBlock()->getTerminator()->getOperands()))
      for (auto [i, place] : llvm::enumerate(places))
        k.store(part(values.lookup(value), static_cast<int64_t>(i) * lanes, lanes), k.flat(k.resultBuffer(index)),
                k.add(k.mul(place.row, shape.back()), columns[place.column]), tensorOf(value).getElementType(),
                masks[place.column]);
  }

  // Of two vectors of one type each time: a shuffle of others is lowered lane by lane.
  Value joined(SmallVector<Value> vectors) {
    while (vectors.size() > 1) {
      SmallVector<Value> pairs;
      for (size_t i = 0; i < vectors.size(); i += 2)
        pairs.push_back(i + 1 < vectors.size() ? joined(vectors[i], vectors[i + 1]) : vectors[i]);
      vectors = std::move(pairs);
    }
    return vectors.front();
  }
  Value joined(Value first, Value second) {
    int64_t own = lanesOf(first), added = lanesOf(second);
    if (added < own) second = shuffled(second, second, own, added);
    return shuffled(first, second, own + added, own + added);
  }
  /// The first `valid` lanes of two vectors side by side; what comes behind them says nothing.
  Value shuffled(Value first, Value second, int64_t lanes, int64_t valid) {
    SmallVector<int64_t> from(lanes, -1);
    for (int64_t i = 0; i < valid; ++i) from[i] = i;
    return vector::ShuffleOp::create(k.b, k.loc, first, second, from);
  }
  Value part(Value all, int64_t first, int64_t lanes) {
    if (cast<VectorType>(all.getType()).getDimSize(0) == lanes) return all;
    return vector::ShuffleOp::create(k.b, k.loc, all, all, llvm::to_vector(llvm::seq<int64_t>(first, first + lanes)));
  }

  Value readAll(Value operand, ArrayRef<Place> places, int64_t lanes) {
    SmallVector<Value> vectors;
    for (const Place &place : places) vectors.push_back(read(operand, place.row, place.column, lanes));
    return joined(vectors);
  }
  Value read(Value operand, Value row, unsigned j, int64_t lanes) {
    const Access &access = accesses.find(operand)->second;
    auto fetch = [&]() -> Value {
      Value offset = rowOffset(k, access, row);
      if (!access.perColumn) return k.splat(k.load(access.buffer, offset, access.elementType), lanes);
      return k.loadVector(access.buffer, k.add(offset, columns[j]), access.elementType, masks[j], lanes);
    };
    if (access.perRow) return fetch();
    Value &value = shared[{operand, j}];
    if (!value) value = fetch();
    return value;
  }

  KernelBuilder &k;
  Operation *start; // whose result accumulators hold
  ArrayRef<int64_t> shape;
  ArrayRef<Operation *> operations;
  ValueRange columns;
  ArrayRef<Value> masks;
  llvm::DenseMap<Value, Access> accesses;
  // Operands that do not depend on the row are read once for all rows.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> shared;
};
} // namespace

void Epilogue::store(KernelBuilder &k, ValueRange accumulators, ValueRange rows, ValueRange columns,
                     ArrayRef<Value> masks) const {
  SmallVector<Place> places;
  for (unsigned i = 0; i < rows.size(); ++i)
    for (unsigned j = 0; j < columns.size(); ++j) places.push_back({accumulators[i * columns.size() + j], rows[i], j});
  EpilogueWriter(k, *this, operations, start(), columns, masks).writeAll(places);
}

/// Whether an operation is a polynomial or more in each place where it stands.
static bool isFunction(Operation *op) {
  return isa<ir::ExpOp, ir::Expm1Op, ir::LogOp, ir::Log1pOp, ir::PowOp, ir::ErfOp, ir::SigmoidOp, ir::SinOp, ir::CosOp,
             ir::TanOp, ir::AsinOp, ir::AcosOp, ir::AtanOp, ir::SinhOp, ir::CoshOp, ir::TanhOp, ir::AsinhOp,
             ir::AcoshOp, ir::AtanhOp>(op);
}

bool Epilogue::hasFunctions() const { return llvm::any_of(operations, isFunction); }

bool Epilogue::isLong() const {
  constexpr int64_t kShort = 5;
  return hasFunctions() || llvm::count_if(operations, [](Operation *op) { return !isa<ir::ConstantOp>(op); }) > kShort;
}

// The accumulators of the largest register tile: 32 registers of 64 bytes, or half as many values of two.
static constexpr int64_t kStageBytes = 4096;

int64_t Epilogue::stageBytes() const { return isLong() ? kStageBytes : 0; }

void Epilogue::storeRows(KernelBuilder &k, ValueRange accumulators, Value row, ValueRange columns,
                         ArrayRef<Value> masks, int64_t stage) const {
  int64_t count = accumulators.size() / columns.size(), stride = 0;
  if (count < 2 || !isLong()) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < count; ++i) rows.push_back(k.add(row, i));
    return store(k, accumulators, rows, columns, masks);
  }
  SmallVector<int64_t> offsets, lanes;
  for (size_t j = 0; j < columns.size(); ++j) {
    offsets.push_back(stride);
    lanes.push_back(cast<VectorType>(accumulators[j].getType()).getDimSize(0));
    stride += lanes.back();
  }
  Type element = getElementTypeOrSelf(accumulators[0].getType());
  Value buffer = k.scratchBuffer(stage, MemRefType::get({count * stride}, element));
  for (int64_t i = 0; i < count; ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      vector::StoreOp::create(k.b, k.loc, accumulators[i * columns.size() + j], buffer,
                              k.index(i * stride + offsets[j]));
  EpilogueWriter writer(k, *this, operations, start(), columns, masks);
  writer.readShared(lanes);
  auto rowsFrom = [&](Value first, int64_t rows) {
    SmallVector<Place> places;
    for (int64_t i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns.size(); ++j) {
        Value at = k.add(k.mul(k.add(first, i), stride), offsets[j]);
        auto type = cast<VectorType>(accumulators[j].getType());
        places.push_back({vector::LoadOp::create(k.b, k.loc, type, buffer, at), k.add(row, k.add(first, i)), j});
      }
    writer.writeAll(places);
  };
  auto together = static_cast<int64_t>(writer.together(cast<VectorType>(accumulators[0].getType())));
  int64_t step = std::clamp<int64_t>(together / static_cast<int64_t>(columns.size()), 1, count);
  int64_t whole = count / step * step;
  k.loop(k.index(0), k.index(whole), step, [&](Value first) { rowsFrom(first, step); });
  if (whole < count) rowsFrom(k.index(whole), count - whole);
}

void Epilogue::storeSums(KernelBuilder &k, const Sums &from, ValueRange columns, ArrayRef<Value> masks,
                         ArrayRef<int64_t> lanes) const {
  EpilogueWriter writer(k, *this, operations, start(), columns, masks);
  writer.readShared(lanes);
  SmallVector<Value> initial = initialTile(k, 1, columns, masks, lanes);
  auto rowsFrom = [&](Value first, int64_t rows) {
    SmallVector<Value> accumulators;
    for (int64_t i = 0; i < rows; ++i)
      for (auto [j, begun] : llvm::enumerate(initial)) {
        Value at = k.add(k.mul(k.add(from.firstSum, k.add(first, i)), kPanelWidth), int64_t(j) * kLanes);
        Value sum = vector::LoadOp::create(k.b, k.loc, cast<VectorType>(begun.getType()), from.sums, at);
        accumulators.push_back(arith::AddIOp::create(k.b, k.loc, begun, sum));
      }
    if (from.rest) accumulators = from.rest(first, rows, accumulators);
    SmallVector<Place> places;
    for (auto [index, accumulator] : llvm::enumerate(accumulators)) {
      Value i = k.add(first, int64_t(index / columns.size()));
      places.push_back({accumulator, k.add(from.row, k.mul(i, from.distance)), unsigned(index % columns.size())});
    }
    writer.writeAll(places);
  };
  auto together = static_cast<int64_t>(writer.together(cast<VectorType>(initial.front().getType())));
  int64_t step = std::max<int64_t>(together / static_cast<int64_t>(columns.size()), 1);
  Value whole = k.mul(k.div(from.count, step), step);
  k.loop(k.index(0), whole, step, [&](Value first) { rowsFrom(first, step); });
  if (step > 1) k.loop(whole, from.count, 1, [&](Value first) { rowsFrom(first, 1); });
}

std::optional<EpilogueFetch> Epilogue::fetch(KernelBuilder &k, Value row, Value column, int64_t columns) const {
  constexpr int64_t kNear = 256 * 1024; // bytes
  EpilogueFetch fetch;
  llvm::SmallSetVector<Value, 8> operands;
  for (Operation *op : operations) operands.insert(op->operand_begin(), op->operand_end());
  int64_t bytes = 0;
  for (Value operand : operands) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || tensorOf(argument).getShape() != rootType.getShape()) continue;
    bytes += tensorOf(argument).getNumElements() * storageBytes(tensorOf(argument).getElementType());
    fetch.buffers.push_back(k.flat(k.operandBuffer(argument)));
  }
  if (bytes <= kNear) return std::nullopt;
  fetch.rowStride = rootType.getShape().back();
  fetch.base = k.add(k.mul(row, fetch.rowStride), column);
  fetch.columns = columns;
  return fetch;
}

SmallVector<TileRange> Epilogue::tileRanges(ArrayRef<int64_t> space, ArrayRef<TileStep> result,
                                            llvm::function_ref<SmallVector<TileStep>(unsigned)> operandSteps) const {
  auto dispatch = cast<kernel::DispatchOp>(root->getParentOp());
  TileRanges ranges(dispatch, space);
  ranges.operands([&](OpOperand &use) -> SmallVector<TileStep> {
    if (use.getOwner() == root) return operandSteps(use.getOperandNumber());
    // What is as large as the result is read where that is written.
    if (tensorOf(use.get()).getNumElements() != rootType.getNumElements()) return {};
    return SmallVector<TileStep>(result);
  });
  for (unsigned i = 0; i < dispatch->getNumResults(); ++i) ranges.result(i, result);
  return ranges.take();
}

// It is computed where the accumulators of an element are complete, and each element is stored once. The operands of
// the contraction itself are read all the time.
bool Epilogue::mayOverwrite(kernel::DispatchOp dispatch, unsigned operand) {
  return llvm::all_of(dispatch->getRegion(0).getArgument(operand).getUsers(),
                      [](Operation *user) { return isa<ElementwiseOpInterface>(user); });
}
