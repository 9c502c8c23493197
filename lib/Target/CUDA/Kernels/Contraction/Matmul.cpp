// nn.matmul in f32 with what follows it, by tiles.
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static TileShape tileOf(const MatmulForm &form) {
  return chooseTile(form.matrices(), form.rows, form.columns, form.depth);
}

namespace {
class MatmulKernel {
public:
  MatmulKernel(GpuBuilder &kernel, Operation *op) : k(kernel), op(op), form(op), tile(tileOf(form)) {}

  void emit(Value tileNumber) {
    MatmulTile at(k, op, form, tileNumber, tile.rows, tile.columns);
    TileProduct product(k, tile, form.depth, side(at.left, at.row), side(at.right, at.column));
    if (at.part) product.onlyPart(at.part);
    product.emit([&](ValueRange sums) { store(product, at, sums); });
  }

private:
  TileSide side(const MatrixSide &matrix, Value first) {
    auto at = [=, this](Value place, Value step) { return matrix.at(k, place, step); };
    TileSide side{matrix.places, first, matrix.stepsInner ? TileSide::Steps : TileSide::Places, matrix.isWide()};
    side.buffer = matrix.buffer;
    side.at = at;
    return side;
  }

  void store(TileProduct &product, const MatmulTile &at, ValueRange sums) {
    int64_t together = product.neighbours();
    Epilogue epilogue(k, op, form.columns % together == 0 ? together : 1);
    for (int64_t i = 0; i < tile.threadRows; ++i)
      for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
        Value row = product.row(i), column = product.column(j), exists = product.exists(row, column);
        auto one = [&] { at.store(epilogue, sums.slice(i * tile.threadColumns + j, epilogue.lanes()), row, column); };
        exists ? k.ifThen(exists, one) : one();
      }
  }

  GpuBuilder &k;
  Operation *op;
  const MatmulForm form;
  const TileShape tile;
};

struct MatmulEmitter : ContractionEmitter {
  StringRef name() const override { return "matmul"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    Operation *op = matmulOf(dispatch);
    return op && MatmulForm(op).isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    MatmulForm form(matmulOf(dispatch));
    TileShape tile = tileOf(form);
    return {form.tileCount(tile.rows, tile.columns), tile.threads};
  }
  // Its tiles would wait for one another, where a thread for each element needs few turns.
  bool isSlowInBlock(kernel::DispatchOp dispatch) const override {
    constexpr int64_t kFew = 1024;
    MatmulForm product(matmulOf(dispatch));
    return product.matrices() * product.rows * product.columns <= kFew && product.depth <= kFew;
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    MatmulKernel(k, matmulOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuMatmulEmitter() { return std::make_unique<MatmulEmitter>(); }
