// nn.conv_filter_grad in f32 with what follows it, and its parts, by tiles.
#include "lib/Target/CUDA/Kernels/Contraction/FilterGradPlaces.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
class FilterGradKernel {
public:
  FilterGradKernel(GpuBuilder &kernel, Operation *op)
      : k(kernel), n(kernel), op(op), form(*FilterGradForm::of(op)), tile(form.tile) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles(tile.rows, tile.columns));
    FilterGradPlaces places(k, op, form, at[0], at[1]);
    Value row = k.mul(at[2], tile.rows), column = k.mul(at[3], tile.columns);
    TileProduct product(k, tile, form.depth(), cotangent(places, row), windows(places, column));
    if (form.inParts) product.onlyPart(at[0]);
    product.emit([&](ValueRange sums) { store(places, product, sums); });
  }

private:
  Value load(Value buffer, Value offset, bool isWide) {
    Type f32 = k.b.getF32Type();
    return isWide ? k.loadVector(buffer, n.index(offset), f32, {}, 4) : k.load(buffer, n.index(offset), f32);
  }

  TileSide cotangent(FilterGradPlaces &places, Value first) {
    Value buffer = places.cotangentBuffer();
    bool isWide = form.isCotangentWide();
    auto read = [=, this, &places](Value row, Value step) {
      return load(buffer, places.cotangentAt(row, step), isWide);
    };
    return {form.rows, first, TileSide::Steps, isWide, read};
  }

  TileSide windows(FilterGradPlaces &places, Value first) {
    Value buffer = places.inputBuffer();
    bool isInside = form.isInside(), isWide = form.isInputWide();
    int64_t elements = llvm::product_of(shapeOf(op->getOperand(0)));
    auto read = [=, this, &places](Value column, Value step) -> TileElement {
      auto [offset, isThere] = places.seenAt(column, step);
      if (isInside) return load(buffer, offset, isWide);
      return {load(buffer, n.clamp(offset, elements), isWide), isThere};
    };
    TileSide side{form.columns(), first, TileSide::Steps, isWide, read};
    if (!isInside) side.presence = 1;
    return side;
  }

  void store(FilterGradPlaces &places, TileProduct &product, ValueRange sums) {
    bool isFlat = Epilogue::isFlat(op);
    int64_t together = product.neighbours();
    Epilogue epilogue(k, op, isFlat && form.columns() % together == 0 ? together : 1, isFlat);
    for (int64_t i = 0; i < tile.threadRows; ++i)
      for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
        Value row = product.row(i), column = product.column(j);
        places.store(epilogue, isFlat, sums.slice(i * tile.threadColumns + j, epilogue.lanes()), row, column,
                     product.exists(row, column));
      }
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const FilterGradForm form;
  const TileShape tile;
};

struct FilterGradEmitter : ContractionEmitter {
  StringRef name() const override { return "conv_filter_grad"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = FilterGradForm::of(filterGradientOf(dispatch));
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    FilterGradForm form = *FilterGradForm::of(filterGradientOf(dispatch));
    return {llvm::product_of(form.tiles(form.tile.rows, form.tile.columns)), form.tile.threads};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    FilterGradKernel(k, filterGradientOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuConvFilterGradEmitter() {
  return std::make_unique<FilterGradEmitter>();
}
