// nn.conv_filter_grad in f32 with what follows it, by tiles: rows are the cotangent's channels, columns the filter's
// channels and taps, and steps samples and positions.
#include "dialects/NN/NNContraction.h"
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/Index32.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include <limits>

using namespace mlir;
using namespace sprig;

namespace {
/// One product for each group.
struct FilterGradForm {
  static std::optional<FilterGradForm> of(Operation *op) {
    auto gradient = dyn_cast_if_present<ir::ConvFilterGradOp>(op);
    if (!gradient || gradient.getChannelsLast()) return std::nullopt;
    ArrayRef<int64_t> in = shapeOf(gradient.getInput()), out = shapeOf(gradient.getCotangent());
    ArrayRef<int64_t> filter = shapeOf(gradient.getResult());
    for (ArrayRef<int64_t> shape : {in, out, filter})
      if (llvm::product_of(shape) == 0 || llvm::product_of(shape) >= std::numeric_limits<int32_t>::max())
        return std::nullopt;
    FilterGradForm form;
    form.groups = gradient.getGroups();
    form.rows = filter[0] / form.groups;
    form.columnSizes.assign(filter.begin() + 1, filter.end());
    form.stepSizes.push_back(in[0]);
    for (size_t d = 0; d + 2 < in.size(); ++d) {
      form.dims.push_back(WindowDim::plain(in[2 + d], out[2 + d], filter[2 + d], gradient.getStrides()[d],
                                           gradient.getDilations()[d], gradient.getPadding()[d]));
      form.stepSizes.push_back(out[2 + d]);
    }
    form.tile = chooseTile(form.groups, form.rows, form.columns(), form.depth());
    fitSlices(form.tile, form.depth());
    return form;
  }

  int64_t groups, rows;
  SmallVector<int64_t> columnSizes; // channels of a group, taps of each dimension
  SmallVector<int64_t> stepSizes;   // samples, positions of each dimension
  SmallVector<WindowDim> dims;
  TileShape tile;

  int64_t columns() const { return llvm::product_of(columnSizes); }
  int64_t depth() const { return llvm::product_of(stepSizes); }
  int64_t positions() const { return depth() / stepSizes[0]; }
  bool isInside() const {
    return llvm::all_of(dims, [](const WindowDim &dim) { return dim.isInside(); });
  }
  SmallVector<int64_t> tiles() const {
    return {groups, llvm::divideCeilSigned(rows, tile.rows), llvm::divideCeilSigned(columns(), tile.columns)};
  }
  bool isWorthTiles() const {
    constexpr double kLeast = 1 << 14;
    double useful = double(groups) * double(rows) * double(columns()) * double(depth());
    double computed = double(llvm::product_of(tiles())) * double(tile.rows * tile.columns) *
                      double(llvm::alignTo(depth(), tile.unrolled()));
    return useful >= kLeast && instructionsPerProduct(tile, computed / useful) < kLoopInstructions;
  }
};

class FilterGradKernel {
public:
  FilterGradKernel(GpuBuilder &kernel, ir::ConvFilterGradOp op)
      : k(kernel), n(kernel), op(op), form(*FilterGradForm::of(op)), tile(form.tile) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles());
    group = at[0];
    Value row = k.mul(at[1], tile.rows), column = k.mul(at[2], tile.columns);
    TileProduct product(k, tile, form.depth(), cotangent(row), windows(column));
    product.emit([&](ValueRange sums) { store(product, sums); });
  }

private:
  Value bufferOf(Value operand) { return k.flat(k.bufferOf(cast<BlockArgument>(operand))); }
  Value load(Value buffer, Value offset, bool isWide) {
    Type f32 = k.b.getF32Type();
    return isWide ? k.loadVector(buffer, n.index(offset), f32, {}, 4) : k.load(buffer, n.index(offset), f32);
  }

  TileSide cotangent(Value first) {
    Value buffer = bufferOf(op.getCotangent()), begin = n.mul(n.of(group), form.rows * form.positions());
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
    Value buffer = bufferOf(op.getInput());
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
      for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
        Value column = product.column(j);
        auto one = [&] {
          Value offset = k.add(k.mul(output, form.columns()), column);
          SmallVector<Value> position{offset};
          if (!isFlat) position = k.delinearize(offset, shapeOf(op.getResult()));
          epilogue.store(sums.slice(i * tile.threadColumns + j, epilogue.lanes()), position, offset);
        };
        Value exists = product.exists(row, column);
        exists ? k.ifThen(exists, one) : one();
      }
    }
  }

  GpuBuilder &k;
  Index32 n;
  ir::ConvFilterGradOp op;
  const FilterGradForm form;
  const TileShape tile;
  Value group;
};

class FilterGradEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "conv_filter_grad"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = FilterGradForm::of(contractionOf(dispatch));
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    FilterGradForm form = *FilterGradForm::of(contractionOf(dispatch));
    return {llvm::product_of(form.tiles()), form.tile.threads};
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    FilterGradKernel(k, cast<ir::ConvFilterGradOp>(contractionOf(dispatch))).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuConvFilterGradEmitter() { return std::make_unique<FilterGradEmitter>(); }
