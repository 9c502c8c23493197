#include "lib/Target/CUDA/Kernels/Contraction/WindowPatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static constexpr int64_t kBanks = 32;

// The least multiple of four from `size` on, so many of which are at bank `bank`; if there is none, the least.
static int64_t pitchFor(int64_t size, int64_t times, int64_t bank) {
  size = llvm::alignTo(size, kQuad);
  for (int64_t pitch = size; pitch < size + kBanks; pitch += kQuad)
    if (pitch * times % kBanks == bank) return pitch;
  return size;
}

// Of the rows that windows see at a tap, the first, counted from that of the first window.
static int64_t reachBefore(const WindowDim &dim) { return std::min<int64_t>(0, (dim.taps() - 1) * dim.dilation); }

TileShape PatchForm::tileOf(const ConvForm &form) {
  constexpr int64_t kDeepest = 16;
  TileShape tile = form.tile;
  tile.depth = form.isOfTap(kDeepest) ? kDeepest : std::min(tile.depth, kDeepest);
  return tile;
}

std::optional<PatchForm> PatchForm::of(const ConvForm &form, int64_t ofFilter) {
  if (form.dims.size() != 2 || form.taps() < 2) return std::nullopt;
  const WindowDim &down = form.dims[0], &along = form.dims[1];
  int64_t across = along.positions(), positions = down.positions() * across, columns = form.tile.columns;
  int64_t span = std::abs((down.taps() - 1) * down.dilation) + 1;
  PatchForm patch;
  int64_t images = positions % columns == 0 || form.samples == 1 ? 1
                   : columns % positions == 0                    ? columns / positions
                                                                 : (columns - 1) / positions + 2;
  // Where windows of neighbouring images overlap, each has its rows.
  int64_t beyond = std::max<int64_t>(0, span - down.step);
  int64_t results = across % columns == 0 ? 1 : columns % across == 0 ? columns / across : (columns - 1) / across + 2;
  patch.rows = (results - 1) * down.step + span + (images - 1) * beyond;
  patch.imageRows = down.positions() * down.step + beyond;
  patch.isWhole = columns % positions == 0 || patch.rows >= images * down.inputs;
  if (patch.isWhole) {
    patch.rows = images * down.inputs;
    patch.imageRows = down.inputs;
  }
  if (patch.rows * along.inputs >= form.taps() * columns) return std::nullopt;
  patch.stride = along.step;
  patch.cells = llvm::divideCeil(along.inputs, patch.stride);
  // Neighbouring lanes have neighbouring positions, and neighbouring channels where there are few of these.
  patch.rowPitch = pitchFor(patch.stride * patch.cells, down.step, across % kBanks);
  patch.channelPitch = pitchFor(patch.rows * patch.rowPitch, 1, columns % kBanks);

  constexpr int64_t kMost = 6 << 10;
  int64_t elements = form.channels * patch.channelPitch, all = elements + ofFilter;
  for (int64_t places : {form.tile.rows, form.tile.columns})
    all += TileProduct::sliceElements(tileOf(form), form.depth(), places);
  if (elements > kMost || all * int64_t(sizeof(float)) > CudaArch::kStaticSharedPerBlock) return std::nullopt;
  return patch;
}

WindowPatch::WindowPatch(GpuBuilder &kernel, ConvPlaces &places, const ConvForm &form, const PatchForm &patch,
                         Value group, Value firstColumn)
    : k(kernel), n(kernel), places(places), form(form), patch(patch),
      shared(kernel.sharedBuffer({form.channels * patch.channelPitch}, kernel.b.getF32Type())) {
  SmallVector<Value> first = n.delinearize(n.of(firstColumn), form.columnSizes());
  const WindowDim &down = form.dims[0];
  firstImage = first[0];
  firstRow = firstOrigin = n.constant(0);
  if (!patch.isWhole) {
    firstRow = n.mul(first[1], down.step);
    firstOrigin = n.add(places.shiftOf(0), n.constant(reachBefore(down)));
  }
  copy(group);
}

// Rows beyond an image, and images beyond the last one, are others: no window sees them.
void WindowPatch::copy(Value group) {
  const WindowDim &down = form.dims[0], &along = form.dims[1];
  int64_t width = along.inputs % kQuad == 0 ? kQuad : 1;
  SmallVector<int64_t> sizes{form.channels, patch.rows, along.inputs / width};
  int64_t units = llvm::product_of(sizes), threads = form.tile.threads;
  Type f32 = k.b.getF32Type();
  Value source = places.inputBuffer(), firstChannel = n.mul(n.of(group), form.channels);
  struct Unit {
    Value from, row, x; // in memory; in the patch
  };
  auto unitAt = [&](Value i) -> Unit {
    SmallVector<Value> at = n.delinearize(n.of(i), sizes);
    Value row = n.add(firstRow, at[1]), x = n.mul(at[2], width);
    Value image = n.min(n.add(firstImage, n.div(row, patch.imageRows)), form.samples - 1);
    row = n.clamp(n.add(n.rem(row, patch.imageRows), firstOrigin), down.inputs);
    Value channel = n.add(n.add(n.mul(image, form.groups * form.channels), firstChannel), at[0]);
    Value from = n.index(n.add(n.mul(n.add(n.mul(channel, down.inputs), row), along.inputs), x));
    return {from, n.add(n.mul(at[0], patch.channelPitch), n.mul(at[1], patch.rowPitch)), x};
  };
  auto isUnit = [&](Value i) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, i, k.index(units));
  };
  if (patch.stride == 1) {
    for (int64_t begin = 0; begin < units; begin += threads) {
      Value i = k.add(k.thread(), begin);
      auto one = [&] {
        Unit unit = unitAt(i);
        k.copyAsync(source, unit.from, shared, n.index(n.add(unit.row, unit.x)), width, Value());
      };
      begin + threads <= units ? one() : k.ifThen(isUnit(i), one);
    }
    return;
  }
  // What is not copied as it lies: several are on their way at once.
  constexpr int64_t kTogether = 8;
  for (int64_t first = 0; first < units; first += kTogether * threads) {
    SmallVector<std::function<void()>> puts;
    for (int64_t begin = first; begin < std::min(units, first + kTogether * threads); begin += threads) {
      Value i = k.add(k.thread(), begin), exists = begin + threads <= units ? Value() : Value(isUnit(i));
      Unit unit = unitAt(exists ? k.min(i, k.index(units - 1)) : i);
      Value elements = width > 1 ? k.loadVector(source, unit.from, f32, {}, width) : k.load(source, unit.from, f32);
      puts.push_back([=, this] {
        auto one = [&] { put(elements, unit.row, unit.x); };
        exists ? k.ifThen(exists, one) : one();
      });
    }
    for (auto &put : puts) put();
  }
}

// Of elements from `x` on, those that are `stride` apart go side by side.
void WindowPatch::put(Value elements, Value row, Value x) {
  Type f32 = k.b.getF32Type();
  auto vector = dyn_cast<VectorType>(elements.getType());
  int64_t count = vector ? vector.getDimSize(0) : 1;
  auto extract = [&](int64_t i) -> Value {
    return vector ? Value(vector::ExtractOp::create(k.b, k.loc, elements, i)) : elements;
  };
  if (patch.stride == 2 && vector) {
    for (int64_t phase = 0; phase < 2; ++phase) {
      Value pair = vector::FromElementsOp::create(k.b, k.loc, VectorType::get({2}, f32),
                                                  ValueRange{extract(phase), extract(phase + 2)});
      k.store(pair, shared, n.index(n.add(n.add(row, n.div(x, 2)), n.constant(phase * patch.cells))), f32);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Value each = n.add(x, n.constant(i));
    Value cell = n.add(n.mul(n.rem(each, patch.stride), patch.cells), n.div(each, patch.stride));
    k.store(extract(i), shared, n.index(n.add(row, cell)), f32);
  }
}

ConvPlaces::Seen WindowPatch::seenAt(Value column, const ConvPlaces::Tap &tap, Value channel) {
  ConvPlaces::Look look = places.lookOf(column, tap);
  if (form.channelsOfTap != form.channels) channel = n.min(channel, form.channels - 1);
  Value row =
      n.add(n.mul(n.sub(look.at[0], firstImage), patch.imageRows), n.sub(n.sub(look.origin[0], firstOrigin), firstRow));
  Value place = n.mul(row, patch.rowPitch);
  Value within = n.add(n.mul(look.moved[0], patch.rowPitch), n.mul(channel, patch.channelPitch));
  if (patch.stride == 1) {
    place = n.add(place, look.origin[1]);
    within = n.add(within, look.moved[1]);
  } else {
    // Counted from a multiple of the stride in front of the row, nothing is negative.
    int64_t low = -form.dims[1].phases[0].shift, before = low > 0 ? llvm::divideCeil(low, patch.stride) : 0;
    Value behind = n.add(look.moved[1], n.constant(before * patch.stride - low));
    place = n.sub(n.add(place, look.at[2]), n.constant(before));
    within = n.add(within, n.add(n.mul(n.rem(behind, patch.stride), patch.cells), n.div(behind, patch.stride)));
  }
  Value offset = n.add(place, within);
  if (look.isThere) offset = arith::SelectOp::create(k.b, k.loc, look.isThere, offset, n.constant(0));
  return {offset, look.isThere};
}
