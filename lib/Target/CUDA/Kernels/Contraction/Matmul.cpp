// nn.matmul in f32 with what follows it, by tiles.
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;

static TileShape tileOf(const MatmulForm &form) {
  return chooseTile(form.matrices(), form.rows, form.columns, form.depth);
}

namespace {
class MatmulKernel {
public:
  MatmulKernel(GpuBuilder &kernel, ir::MatmulOp op) : k(kernel), op(op), form(op), tile(tileOf(form)) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles(tile.rows, tile.columns));
    ArrayRef<Value> matrix = ArrayRef<Value>(at).drop_back(2);
    Value row = k.mul(at.end()[-2], tile.rows), column = k.mul(at.back(), tile.columns);
    TileProduct product(
        k, tile, form.depth,
        side(op.getLhs(), matrix, form.leftStrides, row, form.rows, /*stepsInner=*/!form.transposedLeft),
        side(op.getRhs(), matrix, form.rightStrides, column, form.columns, /*stepsInner=*/form.transposedRight));
    firstRow = k.mul(k.linearize(matrix, form.batch), form.rows);
    product.emit([&](ValueRange sums) { store(product, sums); });
  }

private:
  TileSide side(Value operand, ArrayRef<Value> matrix, ArrayRef<int64_t> strides, Value first, int64_t places,
                bool stepsInner) {
    Value buffer = k.flat(k.bufferOf(cast<BlockArgument>(operand))), base = beginOfMatrix(k, matrix, strides);
    int64_t inner = stepsInner ? form.depth : places;
    bool isWide = inner % 4 == 0;
    Type f32 = k.b.getF32Type();
    auto read = [=, this](Value place, Value step) {
      Value at = k.add(base, stepsInner ? k.add(k.mul(place, inner), step) : k.add(k.mul(step, inner), place));
      return isWide ? k.loadVector(buffer, at, f32, {}, 4) : k.load(buffer, at, f32);
    };
    return {places, first, stepsInner ? TileSide::Steps : TileSide::Places, isWide, read};
  }

  void store(TileProduct &product, ValueRange sums) {
    int64_t together = product.neighbours();
    Epilogue epilogue(k, op, form.columns % together == 0 ? together : 1);
    for (int64_t i = 0; i < tile.threadRows; ++i) {
      Value row = product.row(i), wholeRow = k.add(firstRow, row);
      for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
        Value column = product.column(j);
        auto one = [&] {
          SmallVector<Value> position = k.delinearize(wholeRow, shapeOf(op.getResult()).drop_back());
          position.push_back(column);
          epilogue.store(sums.slice(i * tile.threadColumns + j, epilogue.lanes()), position,
                         k.add(k.mul(wholeRow, form.columns), column));
        };
        Value exists = product.exists(row, column);
        exists ? k.ifThen(exists, one) : one();
      }
    }
  }

  GpuBuilder &k;
  ir::MatmulOp op;
  const MatmulForm form;
  const TileShape tile;
  Value firstRow;
};

class MatmulEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "matmul"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto op = dyn_cast_if_present<ir::MatmulOp>(contractionOf(dispatch));
    return op && MatmulForm(op).isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    MatmulForm form(cast<ir::MatmulOp>(contractionOf(dispatch)));
    TileShape tile = tileOf(form);
    return {form.tileCount(tile.rows, tile.columns), tile.threads};
  }
  // Its tiles would wait for one another, where a thread for each element needs few turns.
  bool isSlowInBlock(kernel::DispatchOp dispatch) const override {
    constexpr int64_t kFew = 1024;
    MatmulForm product(cast<ir::MatmulOp>(contractionOf(dispatch)));
    return product.matrices() * product.rows * product.columns <= kFew && product.depth <= kFew;
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    MatmulKernel(k, cast<ir::MatmulOp>(contractionOf(dispatch))).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuMatmulEmitter() { return std::make_unique<MatmulEmitter>(); }
