#include "lib/Conversion/NNToCPU/Epilogue.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool broadcastsTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = tensorOf(value).getShape();
  if (own.size() > shape.size()) return false;
  for (auto [size, target] : llvm::zip(llvm::reverse(own), llvm::reverse(shape)))
    if (size != target && size != 1) return false;
  return true;
}

static bool isSplatConstant(Operation &op) {
  auto constant = dyn_cast<nn::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.isSplat();
}

std::optional<Epilogue> Epilogue::analyze(nn::DispatchOp dispatch, llvm::function_ref<bool(Operation *)> isRoot) {
  Epilogue epilogue;
  Block &body = dispatch->getRegion(0).front();
  for (Operation &op : body.without_terminator()) {
    if (!isRoot(&op)) continue;
    if (epilogue.root) return std::nullopt;
    epilogue.root = &op;
  }
  if (!epilogue.root || epilogue.root->getNumResults() != 1) return std::nullopt;
  for (Value operand : epilogue.root->getOperands())
    if (!isa<BlockArgument>(operand)) return std::nullopt;
  epilogue.rootType = tensorOf(epilogue.root->getResult(0));
  ArrayRef<int64_t> shape = epilogue.rootType.getShape();
  if (shape.empty()) return std::nullopt;
  for (Operation &op : body.without_terminator()) {
    if (&op == epilogue.root) continue;
    if (op.getNumResults() != 1 || !broadcastsTo(op.getResult(0), shape)) return std::nullopt;
    if (!isSplatConstant(op)) {
      if (!isa<ElementwiseOpInterface>(op) || nn::isCheckedAtRunTime(&op)) return std::nullopt;
      for (Value operand : op.getOperands())
        if (!broadcastsTo(operand, shape)) return std::nullopt;
    }
    epilogue.operations.push_back(&op);
  }
  for (Value value : body.getTerminator()->getOperands())
    if (isa<BlockArgument>(value) || tensorOf(value).getShape() != shape) return std::nullopt;
  return epilogue;
}

bool Epilogue::flatten(int64_t rowDims) {
  ArrayRef<int64_t> shape = rootType.getShape();
  for (Operation *op : operations)
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand) && tensorOf(operand).getShape() != shape &&
          tensorOf(operand).getNumElements() != 1)
        return false;
  int64_t rows = 1, columns = 1;
  for (int64_t size : shape.take_front(rowDims)) rows *= size;
  for (int64_t size : shape.drop_front(rowDims)) columns *= size;
  rootType = RankedTensorType::get({rows, columns}, rootType.getElementType());
  return true;
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

static Access describeAccess(KernelBuilder &k, BlockArgument argument, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorOf(argument);
  Access access;
  access.buffer = k.flat(k.operandBuffer(argument));
  access.elementType = type.getElementType();
  ArrayRef<int64_t> own = type.getShape();
  // A single element has no dimensions that count; the root's own shape may be seen as a matrix.
  if (type.getNumElements() == 1)
    own = {};
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

void Epilogue::store(KernelBuilder &k, ValueRange accumulators, ValueRange rows, ValueRange columns,
                     ArrayRef<Value> masks) const {
  ArrayRef<int64_t> shape = rootType.getShape();
  Operation *yield = root->getBlock()->getTerminator();
  llvm::DenseMap<Value, Access> accesses;
  for (Operation *op : operations)
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && !accesses.count(argument))
        accesses[argument] = describeAccess(k, argument, shape);

  auto lanesOf = [&](unsigned j) { return cast<VectorType>(accumulators[j].getType()).getDimSize(0); };
  // Operands that do not depend on the row are read once for all rows.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> shared;
  auto read = [&](Value operand, unsigned i, unsigned j) -> Value {
    const Access &access = accesses.find(operand)->second;
    int64_t lanes = lanesOf(j);
    auto fetch = [&]() -> Value {
      Value offset = rowOffset(k, access, rows[i]);
      if (!access.perColumn) return k.splat(k.load(access.buffer, offset, access.elementType), lanes);
      return k.loadVector(access.buffer, k.add(offset, columns[j]), access.elementType, masks[j], lanes);
    };
    if (access.perRow) return fetch();
    Value &value = shared[{operand, j}];
    if (!value) value = fetch();
    return value;
  };

  for (unsigned i = 0; i < rows.size(); ++i)
    for (unsigned j = 0; j < columns.size(); ++j) {
      llvm::DenseMap<Value, Value> values;
      values[root->getResult(0)] = k.round(accumulators[i * columns.size() + j], rootType.getElementType());
      for (Operation *op : operations) {
        if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
          values[constant.getResult()] =
              k.splat(k.splatConstant(cast<DenseElementsAttr>(constant.getValue())), lanesOf(j));
          continue;
        }
        SmallVector<Value> arguments;
        for (Value operand : op->getOperands())
          arguments.push_back(isa<BlockArgument>(operand) ? read(operand, i, j) : values.lookup(operand));
        values[op->getResult(0)] = k.apply(op, arguments);
      }
      for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
        Value offset = k.add(k.mul(rows[i], shape.back()), columns[j]);
        k.store(values.lookup(value), k.flat(k.resultBuffer(index)), offset, tensorOf(value).getElementType(),
                masks[j]);
      }
    }
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
