// nn.conv and nn.conv_transpose in f32 with what follows them, by tiles: no matrix of windows is ever written.
#include "lib/Target/CUDA/Kernels/Contraction/FilterPatch.h"
#include "lib/Target/CUDA/Kernels/Contraction/WindowPatch.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include <limits>

using namespace mlir;
using namespace sprig;

static std::optional<ConvForm> formOf(kernel::DispatchOp dispatch) { return ConvForm::of(contractionOf(dispatch)); }

namespace {
class ConvKernel {
public:
  ConvKernel(GpuBuilder &kernel, Operation *op)
      : k(kernel), n(kernel), op(op), form(*ConvForm::of(op)), ofFilter(FilterPatch::elements(form)),
        patch(PatchForm::of(form, ofFilter)), tile(patch ? PatchForm::tileOf(form) : form.tile),
        isEven(form.phases() == 1 && form.dims.back().outputs % 4 == 0) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles(tile.rows, tile.columns));
    size_t rank = form.dims.size();
    ConvPlaces places(k, op, form, ArrayRef(at).take_front(rank), at[rank]);
    Value row = k.mul(at[rank + 1], tile.rows), column = k.mul(at[rank + 2], tile.columns);
    if (ofFilter) filterPatch.emplace(k, places, form, at[rank], row);
    if (patch) windowPatch.emplace(k, places, form, *patch, at[rank], column);
    if (filterPatch || windowPatch) k.barrier();
    // A convolution's chains are never cut.
    TileProduct product(k, tile, form.depth(), filter(places, row), windows(places, column),
                        std::numeric_limits<int64_t>::max());
    if (form.phases() > 1) product.endAt(places.steps());
    product.emit([&](ValueRange sums) { store(places, product, sums); });
  }

private:
  bool isOfTap() const { return form.isOfTap(tile.depth); }

  // `element` of a step's tap and channel.
  TileSide side(ConvPlaces &where, int64_t places, Value first,
                std::function<Value(Value place, const ConvPlaces::Tap &tap, Value channel)> element) {
    ConvPlaces::Taps taps = where.taps(isOfTap());
    TileSide side{places, first, TileSide::Places, false, {}};
    side.enter = taps.enter;
    side.read = [=, this](Value place, Value step) {
      ConvPlaces::Tap tap = taps.of(step);
      return element(n.of(place), tap, n.sub(n.of(step), tap.begin));
    };
    return side;
  }

  // Channels beyond the last fill a tap's last slice.
  Value orPadding(Value channel, Value element, double padding) {
    if (form.channelsOfTap == form.channels) return element;
    Value none = k.constant(k.b.getF32Type(), padding);
    if (isa<VectorType>(element.getType())) none = k.splat(none, 4);
    return arith::SelectOp::create(k.b, k.loc, n.isBelow(channel, form.channels), element, none);
  }

  TileSide filter(ConvPlaces &places, Value firstRow) {
    Value buffer = filterPatch ? filterPatch->buffer() : places.filterBuffer();
    bool isWide = form.isFilterWide();
    TileSide result = side(places, form.rows, firstRow, [=, this, &places](Value row, const auto &tap, Value channel) {
      int64_t atOnce = isWide && !form.hasRowsInner() ? 4 : 1;
      Value last = form.channelsOfTap == form.channels ? channel : n.min(channel, form.channels - atOnce);
      Value offset = filterPatch ? filterPatch->at(row, tap, last) : places.filterAt(row, tap, last);
      return orPadding(channel, load(buffer, offset, isWide), -0.0);
    });
    result.isWide = isWide;
    if (!form.hasRowsInner()) result.inner = TileSide::Steps;
    return result;
  }

  TileSide windows(ConvPlaces &places, Value firstColumn) {
    Value buffer = windowPatch ? windowPatch->buffer() : places.inputBuffer();
    bool isWide = form.isInputWide(), isInside = form.isInside();
    int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
    auto read = [=, this, &places](Value column, const auto &tap, Value channel) {
      auto [offset, isThere] =
          windowPatch ? windowPatch->seenAt(column, tap, channel) : places.seenAt(column, tap, channel);
      if (!windowPatch && (!isInside || form.channelsOfTap != form.channels)) offset = n.clamp(offset, elements);
      Value element = load(buffer, offset, isWide);
      if (!isInside) element = TileProduct::elementOrAbsent(k, isThere, element);
      return orPadding(channel, element, 0.0);
    };
    TileSide result = side(places, form.columns(), firstColumn, read);
    result.isWide = isWide;
    result.together = isEven ? 4 : 1;
    if (!isInside) result.presence = isOfTap() ? tile.depth : form.channels % 4 == 0 ? 4 : 1;
    return result;
  }

  Value load(Value buffer, Value offset, bool isWide) {
    Type f32 = k.b.getF32Type();
    return isWide ? k.loadVector(buffer, n.index(offset), f32, {}, 4) : k.load(buffer, n.index(offset), f32);
  }

  void store(ConvPlaces &places, TileProduct &product, ValueRange sums) {
    Epilogue epilogue(k, op, isEven ? product.neighbours() : 1);
    for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
      Value column = product.column(j);
      ConvPlaces::Results results = places.resultsOf(column);
      for (int64_t i = 0; i < tile.threadRows; ++i) {
        Value row = product.row(i);
        places.store(epilogue, sums.slice(i * tile.threadColumns + j, epilogue.lanes()), results, row,
                     product.exists(row, column));
      }
    }
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const ConvForm form;
  const int64_t ofFilter; // elements in shared memory
  const std::optional<PatchForm> patch;
  const TileShape tile;
  const bool isEven; // four neighbouring columns are neighbours in a row of the result
  std::optional<FilterPatch> filterPatch;
  std::optional<WindowPatch> windowPatch;
};

class ConvEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "conv"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = formOf(dispatch);
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ConvForm form = *formOf(dispatch);
    return {llvm::product_of(form.tiles(form.tile.rows, form.tile.columns)), form.tile.threads};
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    ConvKernel(k, contractionOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuConvEmitter() { return std::make_unique<ConvEmitter>(); }
