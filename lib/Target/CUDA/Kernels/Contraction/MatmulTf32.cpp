// nn.matmul with what follows it on tensor cores, where factors may be rounded to tf32.
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static MmaShape shapeFor(const MatmulForm &form) { return chooseMmaShape(form.matrices(), form.rows, form.columns); }

namespace {
class MatmulTf32Kernel {
public:
  MatmulTf32Kernel(GpuBuilder &kernel, Operation *op) : k(kernel), op(op), form(op), shape(shapeFor(form)) {}

  void emit(Value tileNumber) {
    MatmulTile tile(k, op, form, tileNumber, shape.rows, shape.columns);
    MmaProduct product(k, shape, form.depth, side(tile.left, tile.row), side(tile.right, tile.column));
    if (tile.part) product.onlyPart(tile.part);
    Epilogue epilogue(k, op, form.columns % 2 == 0 ? 2 : 1);
    product.emit([&](Value row, Value column, ValueRange sums) {
      for (int64_t i = 0; i < 2; i += epilogue.lanes()) {
        Value own = k.add(column, i), exists = product.exists(row, own);
        auto store = [&] { tile.store(epilogue, sums.slice(i, epilogue.lanes()), row, own); };
        exists ? k.ifThen(exists, store) : store();
      }
    });
  }

private:
  MmaSide side(const MatrixSide &matrix, Value first) {
    auto at = [=, this](Value place, Value step) -> MmaElement { return {matrix.at(k, place, step)}; };
    return {matrix.places, first, matrix.stepsInner, matrix.isWide(), matrix.buffer, at};
  }

  GpuBuilder &k;
  Operation *op;
  const MatmulForm form;
  const MmaShape shape;
};

struct MatmulTf32Emitter : ContractionEmitter {
  StringRef name() const override { return "matmul_tf32"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    if (!dispatch.getTf32()) return false;
    Operation *op = matmulOf(dispatch);
    return op && MatmulForm(op).isWorthTensorCores();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    MatmulForm form(matmulOf(dispatch));
    MmaShape shape = shapeFor(form);
    return {form.tileCount(shape.rows, shape.columns), shape.threads()};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    MatmulTf32Kernel(k, matmulOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuMatmulTf32Emitter() { return std::make_unique<MatmulTf32Emitter>(); }
