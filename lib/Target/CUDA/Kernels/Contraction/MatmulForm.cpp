#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

Operation *sprig::cuda::matmulOf(kernel::DispatchOp dispatch) {
  Operation &first = dispatch->getRegion(0).front().front();
  if (isa<kernel::MatmulPartsOp>(first) && getElementTypeOrSelf(first.getResult(0).getType()).isF32()) return &first;
  return dyn_cast_if_present<ir::MatmulOp>(contractionOf(dispatch));
}

MatmulForm::MatmulForm(Operation *op) {
  if (auto whole = dyn_cast<ir::MatmulOp>(op)) {
    static_cast<BatchedProduct &>(*this) = BatchedProduct(whole);
    return;
  }
  auto parts = cast<kernel::MatmulPartsOp>(op);
  inParts = transposedLeft = true;
  transposedRight = false;
  ArrayRef<int64_t> shape = parts.getType().getShape();
  batch = {shape[0]};
  leftStrides = rightStrides = {0};
  rows = shape[1];
  columns = shape[2];
  depth = parts.getLhs().getType().getDimSize(0);
}

SmallVector<int64_t> MatmulForm::tiles(int64_t tileRows, int64_t tileColumns) const {
  SmallVector<int64_t> sizes(batch);
  sizes.push_back(llvm::divideCeil(rows, tileRows));
  sizes.push_back(llvm::divideCeil(columns, tileColumns));
  return sizes;
}

int64_t MatmulForm::tileCount(int64_t tileRows, int64_t tileColumns) const {
  return llvm::product_of(tiles(tileRows, tileColumns));
}

static constexpr int64_t kShallow = 8, kLong = 64;
static constexpr int64_t kFew = 1 << 10, kMany = 1 << 14; // products

bool MatmulForm::isWorthTiles() const {
  if (depth >= kLong) return products() > 0;
  // Where columns lie behind each other, each thread of one element would read a column of its own.
  return depth >= kShallow && products() >= (transposedRight && columns > 1 ? kFew : kMany);
}

bool MatmulForm::isWorthTensorCores() const {
  return depth >= kShallow && products() >= (depth >= kLong ? kFew : kMany) && isWorthMma(rows, columns);
}

Value MatrixSide::at(ElementBuilder &k, Value place, Value step) const {
  return k.add(begin, stepsInner ? k.add(k.mul(place, inner), step) : k.add(k.mul(step, inner), place));
}

MatmulTile::MatmulTile(ElementBuilder &kernel, Operation *op, const MatmulForm &form, Value number, int64_t tileRows,
                       int64_t tileColumns)
    : k(kernel), shape(shapeOf(op->getResult(0))) {
  SmallVector<Value> at = k.delinearize(number, form.tiles(tileRows, tileColumns));
  ArrayRef<Value> matrix = ArrayRef<Value>(at).drop_back(2);
  row = k.mul(at.end()[-2], tileRows);
  column = k.mul(at.back(), tileColumns);
  auto side = [&](Value operand, ArrayRef<int64_t> strides, int64_t places, bool stepsInner) -> MatrixSide {
    Value buffer = k.flatOperand(operand), begin = k.index(0);
    for (auto [index, stride] : llvm::zip_equal(matrix, strides)) begin = k.add(begin, k.mul(index, stride));
    return {buffer, begin, places, stepsInner ? form.depth : places, stepsInner};
  };
  left = side(op->getOperand(0), form.leftStrides, form.rows, !form.transposedLeft);
  right = side(op->getOperand(1), form.rightStrides, form.columns, form.transposedRight);
  firstRow = k.mul(k.linearize(matrix, form.batch), form.rows);
  if (form.inParts) part = matrix[0];
}

void MatmulTile::store(Epilogue &epilogue, ValueRange sums, Value row, Value column) const {
  Value wholeRow = k.add(firstRow, row);
  SmallVector<Value> position = k.delinearize(wholeRow, shape.drop_back());
  position.push_back(column);
  epilogue.store(sums, position, k.add(k.mul(wholeRow, right.places), column));
}
