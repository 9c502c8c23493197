// nn.conv_filter_grad in f32 with what follows it, and its parts, by tiles.
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/FilterGradForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/Index32.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;

/// The gradient of a dispatch, or its parts, which nothing follows.
static Operation *gradientOf(kernel::DispatchOp dispatch) {
  Operation &first = dispatch->getRegion(0).front().front();
  return isa<kernel::ConvFilterGradPartsOp>(first) ? &first : contractionOf(dispatch);
}

namespace {
class FilterGradKernel {
public:
  FilterGradKernel(GpuBuilder &kernel, Operation *op)
      : k(kernel), n(kernel), op(op), form(*FilterGradForm::of(op)), tile(form.tile) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles());
    part = at[0];
    group = at[1];
    Value row = k.mul(at[2], tile.rows), column = k.mul(at[3], tile.columns);
    TileProduct product(k, tile, form.depth(), cotangent(row), windows(column));
    if (form.inParts) product.onlyPart(part);
    product.emit([&](ValueRange sums) { store(product, sums); });
  }

private:
  Value bufferOf(Value operand) { return k.flat(k.bufferOf(cast<BlockArgument>(operand))); }
  Value load(Value buffer, Value offset, bool isWide) {
    Type f32 = k.b.getF32Type();
    return isWide ? k.loadVector(buffer, n.index(offset), f32, {}, 4) : k.load(buffer, n.index(offset), f32);
  }

  TileSide cotangent(Value first) {
    Value buffer = bufferOf(op->getOperand(1)), begin = n.mul(n.of(group), form.rows * form.positions());
    int64_t positions = form.positions(), sample = form.groups * form.rows * positions;
    bool isWide = positions % 4 == 0;
    auto read = [=, this](Value row, Value step) {
      SmallVector<Value> at = n.delinearize(n.of(step), {form.stepSizes[0], positions});
      Value image = n.add(n.add(n.mul(at[0], sample), begin), n.mul(n.of(row), positions));
      return load(buffer, n.add(image, at[1]), isWide);
    };
    return {form.rows, first, TileSide::Steps, isWide, read};
  }

  TileSide windows(Value first) {
    Value buffer = bufferOf(op->getOperand(0));
    SmallVector<int64_t> distances(form.dims.size());
    int64_t plane = 1;
    for (size_t d = distances.size(); d-- > 0; plane *= form.dims[d].inputs) distances[d] = plane;
    int64_t sample = form.groups * form.columnSizes[0] * plane;
    Value begin = n.mul(n.of(group), form.columnSizes[0] * plane);
    bool isInside = form.isInside();
    // Four positions are neighbours in the operand, too.
    bool isWide = isInside && plane % 4 == 0 && form.positions() == plane;
    auto read = [=, this](Value column, Value step) {
      SmallVector<Value> taps = n.delinearize(n.of(column), form.columnSizes);
      SmallVector<Value> at = n.delinearize(n.of(step), form.stepSizes);
      Value ofColumn = n.add(begin, n.mul(taps[0], plane)), ofStep = n.mul(at[0], sample), isThere;
      for (auto [d, dim] : llvm::enumerate(form.dims)) {
        Value moved = n.add(n.mul(taps[1 + d], dim.dilation), n.constant(dim.phases[0].shift));
        Value origin = n.mul(at[1 + d], dim.step);
        ofColumn = n.add(ofColumn, n.mul(moved, distances[d]));
        ofStep = n.add(ofStep, n.mul(origin, distances[d]));
        if (dim.isInside()) continue;
        Value here = n.isBelow(n.add(origin, moved), dim.inputs);
        isThere = isThere ? k.b.createOrFold<arith::AndIOp>(k.loc, isThere, here) : here;
      }
      Value offset = n.add(ofColumn, ofStep);
      if (isInside) return load(buffer, offset, isWide);
      offset = n.clamp(offset, form.stepSizes[0] * sample);
      return TileProduct::elementOrAbsent(k, isThere, load(buffer, offset, isWide));
    };
    TileSide side{form.columns(), first, TileSide::Steps, isWide, read};
    if (!isInside) side.presence = 1;
    return side;
  }

  void store(TileProduct &product, ValueRange sums) {
    bool isFlat = Epilogue::isFlat(op);
    int64_t together = product.neighbours();
    Epilogue epilogue(k, op, isFlat && form.columns() % together == 0 ? together : 1, isFlat);
    for (int64_t i = 0; i < tile.threadRows; ++i) {
      Value row = product.row(i), output = k.add(k.mul(group, form.rows), row);
      if (form.inParts) output = k.add(k.mul(part, form.groups * form.rows), output);
      for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
        Value column = product.column(j);
        auto one = [&] {
          Value offset = k.add(k.mul(output, form.columns()), column);
          SmallVector<Value> position{offset};
          if (!isFlat) position = k.delinearize(offset, shapeOf(op->getResult(0)));
          epilogue.store(sums.slice(i * tile.threadColumns + j, epilogue.lanes()), position, offset);
        };
        Value exists = product.exists(row, column);
        exists ? k.ifThen(exists, one) : one();
      }
    }
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const FilterGradForm form;
  const TileShape tile;
  Value part, group;
};

class FilterGradEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "conv_filter_grad"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = FilterGradForm::of(gradientOf(dispatch));
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    FilterGradForm form = *FilterGradForm::of(gradientOf(dispatch));
    return {llvm::product_of(form.tiles()), form.tile.threads};
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    FilterGradKernel(k, gradientOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuConvFilterGradEmitter() { return std::make_unique<FilterGradEmitter>(); }
