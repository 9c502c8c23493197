// nn.conv and nn.conv_transpose in f32 with what follows them, by tiles: no matrix of windows is ever written.
#include "lib/Target/CUDA/Kernels/Contraction/FilterPatch.h"
#include "lib/Target/CUDA/Kernels/Contraction/WindowPatch.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include <limits>
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

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
    if (filterPatch || windowPatch) {
      k.endCopyGroup();
      k.waitForCopies(0);
      k.barrier();
    }
    // A convolution's chains are never cut.
    TileProduct product(k, tile, form.depth(), filter(places, row), windows(places, column),
                        std::numeric_limits<int64_t>::max());
    if (form.phases() > 1) product.endAt(places.steps());
    product.emit([&](ValueRange sums) { store(places, product, sums); });
  }

private:
  bool isOfTap() const { return form.isOfTap(tile.depth); }

  // What `seenAt` finds of a step's tap and channel: copied from where it is, if that is all that becomes of it.
  TileSide side(ConvPlaces &where, int64_t places, Value first, Value buffer, bool isWide, bool isPlain,
                std::function<ConvPlaces::Seen(Value place, const ConvPlaces::Tap &tap, Value channel)> seenAt) {
    ConvPlaces::Taps taps = where.taps(isOfTap());
    TileSide side{places, first, TileSide::Places, isWide};
    side.enter = taps.enter;
    auto seen = [=, this](Value place, Value step) -> std::pair<ConvPlaces::Seen, Value> {
      ConvPlaces::Tap tap = taps.of(step);
      Value channel = n.sub(n.of(step), tap.begin);
      return {seenAt(n.of(place), tap, channel), channel};
    };
    if (isPlain && !fillsTaps()) {
      side.buffer = buffer;
      side.at = [=, this](Value place, Value step) { return n.index(seen(place, step).first.offset); };
      return side;
    }
    side.read = [=, this](Value place, Value step) -> TileElement {
      auto [found, channel] = seen(place, step);
      return {load(buffer, found.offset, isWide), found.isThere,
              fillsTaps() ? n.isBelow(channel, form.channels) : Value()};
    };
    return side;
  }

  // Whether a tap's last slice goes on beyond the channels.
  bool fillsTaps() const { return form.channelsOfTap != form.channels; }

  TileSide filter(ConvPlaces &places, Value firstRow) {
    bool isWide = form.isFilterWide();
    auto seenAt = [=, this, &places](Value row, const auto &tap, Value channel) -> ConvPlaces::Seen {
      int64_t atOnce = isWide && !form.hasRowsInner() ? 4 : 1;
      Value last = fillsTaps() ? n.min(channel, form.channels - atOnce) : channel;
      return {filterPatch ? filterPatch->at(row, tap, last) : places.filterAt(row, tap, last), {}};
    };
    Value buffer = filterPatch ? filterPatch->buffer() : places.filterBuffer();
    TileSide result = side(places, form.rows, firstRow, buffer, isWide, !filterPatch, seenAt);
    if (!form.hasRowsInner()) result.inner = TileSide::Steps;
    return result;
  }

  TileSide windows(ConvPlaces &places, Value firstColumn) {
    Value buffer = windowPatch ? windowPatch->buffer() : places.inputBuffer();
    bool isInside = form.isInside();
    int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
    auto seenAt = [=, this, &places](Value column, const auto &tap, Value channel) -> ConvPlaces::Seen {
      auto [offset, isThere] =
          windowPatch ? windowPatch->seenAt(column, tap, channel) : places.seenAt(column, tap, channel);
      if (!windowPatch && (!isInside || fillsTaps())) offset = n.clamp(offset, elements);
      return {offset, isInside ? Value() : isThere};
    };
    TileSide result =
        side(places, form.columns(), firstColumn, buffer, form.isInputWide(), isInside && !windowPatch, seenAt);
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

struct ConvEmitter : ContractionEmitter {
  StringRef name() const override { return "conv"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = formOf(dispatch);
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ConvForm form = *formOf(dispatch);
    return {llvm::product_of(form.tiles(form.tile.rows, form.tile.columns)), form.tile.threads};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    // Deep slices of windows with padding, whose elements come with whether they are there, take up to 168 registers of
    // a thread: left to itself, ptxas spills a few for more blocks than there are.
    constexpr int64_t kThreads = 384;
    if (ConvForm form = *formOf(dispatch); !form.isInside() && form.hasRegisters())
      k.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                          k.b.getI32IntegerAttr(int32_t(std::max<int64_t>(1, kThreads / k.threads))));
    ConvKernel(k, contractionOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuConvEmitter() { return std::make_unique<ConvEmitter>(); }
