// nn.conv and nn.conv_transpose with what follows them on tensor cores, where factors may be rounded to tf32. No matrix
// of windows is ever written.
#include "lib/Target/CUDA/Kernels/Contraction/ConvPlaces.h"
#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct ConvTf32Form : ConvForm {
  static std::optional<ConvTf32Form> of(Operation *op) {
    std::optional<ConvForm> plain = ConvForm::of(op);
    if (!plain || !isWorthMma(plain->rows, plain->columns())) return std::nullopt;
    ConvTf32Form form(*plain);
    std::optional<double> wasted = form.waste(form.shape.rows, form.shape.columns, form.shape.depth);
    if (!wasted || instructionsPerProduct(form.shape, *wasted) >= kLoopInstructions) return std::nullopt;
    return form;
  }

  explicit ConvTf32Form(const ConvForm &form) : ConvForm(form) {
    shape = chooseMmaShape(phases() * groups, rows, columns());
    // Whatever the tile: which steps one instruction adds up goes by the channels alone.
    constexpr int64_t kShallowest = 16;
    channelsOfTap = channels;
    if (taps() > 1 && fillTaps(kShallowest) && !isOfTap()) shape.depth = kShallowest;
  }

  bool isOfTap() const { return ConvForm::isOfTap(shape.depth); }
  SmallVector<int64_t> tiles() const { return ConvForm::tiles(shape.rows, shape.columns); }

  MmaShape shape;
};

class ConvTf32Kernel {
public:
  ConvTf32Kernel(GpuBuilder &kernel, Operation *op) : k(kernel), n(kernel), op(op), form(*ConvTf32Form::of(op)) {}

  void emit(Value tile) {
    SmallVector<Value> at = k.delinearize(tile, form.tiles());
    size_t rank = form.dims.size();
    ConvPlaces places(k, op, form, ArrayRef(at).take_front(rank), at[rank]);
    Value row = k.mul(at[rank + 1], form.shape.rows), column = k.mul(at[rank + 2], form.shape.columns);
    MmaProduct product(k, form.shape, form.depth(), filter(places, row), windows(places, column));
    if (form.phases() > 1) product.endAt(places.steps());
    Epilogue epilogue(k, op, form.phases() == 1 && form.dims.back().outputs % 2 == 0 ? 2 : 1);
    product.emit([&](Value row, Value column, ValueRange sums) {
      for (int64_t i = 0; i < 2; i += epilogue.lanes()) {
        Value own = k.add(column, i);
        places.store(epilogue, sums.slice(i, epilogue.lanes()), places.resultsOf(own), row, product.exists(row, own));
      }
    });
  }

private:
  using Tap = ConvPlaces::Tap;

  // `element` of a step's tap and channel.
  MmaSide side(ConvPlaces &where, int64_t places, Value first, Value buffer, bool stepsInner, bool isWide,
               std::function<ConvPlaces::Seen(Value place, const Tap &tap, Value channel)> element) {
    ConvPlaces::Taps taps = where.taps(form.isOfTap());
    auto at = [=, this, &where](Value place, Value step) -> MmaElement {
      Tap tap = taps.of(step);
      Value channel = n.sub(n.of(step), tap.begin);
      auto [offset, isThere] = element(n.of(place), tap, channel);
      auto require = [&](Value condition) {
        isThere = isThere ? k.b.createOrFold<arith::AndIOp>(k.loc, isThere, condition) : condition;
      };
      // Channels beyond the last fill a tap's last slice; a phase's last slice may go on beyond its taps.
      if (form.channelsOfTap != form.channels) require(n.isBelow(channel, form.channels));
      if (form.phases() > 1 && !form.isOfTap()) require(n.isBelow(n.of(step), n.of(where.steps())));
      return {n.index(offset), isThere};
    };
    return {places, first, stepsInner, isWide, buffer, at, taps.enter};
  }

  MmaSide filter(ConvPlaces &places, Value first) {
    auto element = [&places](Value row, const Tap &tap, Value channel) -> ConvPlaces::Seen {
      return {places.filterAt(row, tap, channel), {}};
    };
    return side(places, form.rows, first, places.filterBuffer(), !form.hasRowsInner(), form.isFilterWide(), element);
  }

  MmaSide windows(ConvPlaces &places, Value first) {
    auto element = [&places](Value column, const Tap &tap, Value channel) {
      return places.seenAt(column, tap, channel);
    };
    return side(places, form.columns(), first, places.inputBuffer(), /*stepsInner=*/false, form.isInputWide(), element);
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const ConvTf32Form form;
};

struct ConvTf32Emitter : ContractionEmitter {
  StringRef name() const override { return "conv_tf32"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    return dispatch.getTf32() && ConvTf32Form::of(contractionOf(dispatch));
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ConvTf32Form form = *ConvTf32Form::of(contractionOf(dispatch));
    return {llvm::product_of(form.tiles()), form.shape.threads()};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    ConvTf32Kernel(k, contractionOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuConvTf32Emitter() { return std::make_unique<ConvTf32Emitter>(); }
