// nn.matmul with what follows it on tensor cores, where factors may be rounded to tf32.
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;

static MmaShape shapeFor(const MatmulForm &form) { return chooseMmaShape(form.matrices(), form.rows, form.columns); }

namespace {
class MatmulTf32Kernel {
public:
  MatmulTf32Kernel(GpuBuilder &kernel, ir::MatmulOp op) : k(kernel), op(op), form(op), shape(shapeFor(form)) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles(shape.rows, shape.columns));
    ArrayRef<Value> matrix = ArrayRef<Value>(at).drop_back(2);
    Value row = k.mul(at.end()[-2], shape.rows), column = k.mul(at.back(), shape.columns);
    MmaProduct product(
        k, shape, form.depth,
        side(op.getLhs(), matrix, form.leftStrides, row, form.rows, /*stepsInner=*/!form.transposedLeft),
        side(op.getRhs(), matrix, form.rightStrides, column, form.columns, /*stepsInner=*/form.transposedRight));
    Value firstRow = k.mul(k.linearize(matrix, form.batch), form.rows);
    Epilogue epilogue(k, op, form.columns % 2 == 0 ? 2 : 1);
    product.emit([&](Value row, Value column, ValueRange sums) {
      Value wholeRow = k.add(firstRow, row);
      for (int64_t i = 0; i < 2; i += epilogue.lanes()) {
        Value own = k.add(column, i), exists = product.exists(row, own);
        auto store = [&] {
          SmallVector<Value> position = k.delinearize(wholeRow, shapeOf(op.getResult()).drop_back());
          position.push_back(own);
          epilogue.store(sums.slice(i, epilogue.lanes()), position, k.add(k.mul(wholeRow, form.columns), own));
        };
        exists ? k.ifThen(exists, store) : store();
      }
    });
  }

private:
  MmaSide side(Value operand, ArrayRef<Value> matrix, ArrayRef<int64_t> strides, Value first, int64_t places,
               bool stepsInner) {
    Value begin = beginOfMatrix(k, matrix, strides);
    int64_t inner = stepsInner ? form.depth : places;
    auto at = [=, this](Value place, Value step) {
      return k.add(begin, stepsInner ? k.add(k.mul(place, inner), step) : k.add(k.mul(step, inner), place));
    };
    return {places, first, stepsInner, inner % 4 == 0, k.flat(k.bufferOf(cast<BlockArgument>(operand))), at};
  }

  GpuBuilder &k;
  ir::MatmulOp op;
  const MatmulForm form;
  const MmaShape shape;
};

class MatmulTf32Emitter : public GpuEmitter {
public:
  StringRef name() const override { return "matmul_tf32"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    if (!dispatch.getTf32()) return false;
    auto op = dyn_cast_if_present<ir::MatmulOp>(contractionOf(dispatch));
    if (!op) return false;
    // Of few rows or columns most of a tile would be padding, and memory is what they wait for.
    constexpr int64_t kFew = 8, kNarrow = 16;
    MatmulForm form(op);
    return form.isWorthTiles() && std::min(form.rows, form.columns) > kFew &&
           std::max(form.rows, form.columns) > kNarrow;
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    MatmulForm form(cast<ir::MatmulOp>(contractionOf(dispatch)));
    MmaShape shape = shapeFor(form);
    return {form.tileCount(shape.rows, shape.columns), shape.threads()};
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    MatmulTf32Kernel(k, cast<ir::MatmulOp>(contractionOf(dispatch))).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuMatmulTf32Emitter() { return std::make_unique<MatmulTf32Emitter>(); }
