#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/SumOrder.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static constexpr int64_t kDeepestSlice = 16; // steps

int64_t WindowDim::taps() const {
  int64_t most = 0;
  for (const Phase &phase : phases) most = std::max(most, phase.taps);
  return most;
}

bool WindowDim::isInside() const {
  return llvm::all_of(phases, [&](const Phase &phase) {
    int64_t reach = (taps() - 1) * dilation;
    int64_t first = phase.shift + std::min<int64_t>(reach, 0);
    int64_t last = phase.shift + std::max<int64_t>(reach, 0) + (positions() - 1) * step;
    return phase.taps == taps() && first >= 0 && last < inputs;
  });
}

WindowDim WindowDim::plain(int64_t inputs, int64_t outputs, int64_t window, int64_t stride, int64_t dilation,
                           int64_t low) {
  return {inputs, outputs, window, stride, dilation, 1, {{-low, 0, window}}};
}

// Result y reads (y + low - tap * dilation) / stride where that is whole.
WindowDim WindowDim::transposed(int64_t inputs, int64_t outputs, int64_t window, int64_t stride, int64_t dilation,
                                int64_t low) {
  int64_t common = std::gcd(stride, dilation);
  WindowDim dim{inputs, outputs, window, 1, -(dilation / common), stride / common, {}};
  for (int64_t number = 0; number < stride; ++number) {
    WindowDim::Phase phase;
    int64_t first = 0;
    while (first < dim.tapStep && (number + low - first * dilation) % stride != 0) ++first;
    if (first < std::min(dim.tapStep, window))
      phase = {(number + low - first * dilation) / stride, first, llvm::divideCeilSigned(window - first, dim.tapStep)};
    dim.phases.push_back(phase);
  }
  return dim;
}

template <typename Op> static void addDims(ConvForm &form, Op op, decltype(WindowDim::plain) *dimOf) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getResult()), filter = shapeOf(op.getFilter());
  for (size_t d = 0; d + 2 < in.size(); ++d)
    form.dims.push_back(
        dimOf(in[2 + d], out[2 + d], filter[2 + d], op.getStrides()[d], op.getDilations()[d], op.getPadding()[d]));
}

std::optional<ConvForm> ConvForm::of(Operation *op) {
  auto conv = dyn_cast_if_present<ir::ConvOp>(op);
  auto transposed = dyn_cast_if_present<ir::ConvTransposeOp>(op);
  if ((!conv && !transposed) || (conv && conv.getChannelsLast())) return std::nullopt;
  for (Value value : {op->getOperand(0), op->getOperand(1), Value(op->getResult(0))}) {
    int64_t count = llvm::product_of(shapeOf(value));
    if (count == 0 || count >= std::numeric_limits<int32_t>::max()) return std::nullopt;
  }
  constexpr int64_t kMostPhases = 16;
  if (transposed && llvm::product_of(transposed.getStrides()) > kMostPhases) return std::nullopt;
  ArrayRef<int64_t> in = shapeOf(op->getOperand(0)), out = shapeOf(op->getResult(0));
  ConvForm form;
  form.samples = in[0];
  form.groups = conv ? conv.getGroups() : transposed.getGroups();
  form.rows = out[1] / form.groups;
  form.channels = in[1] / form.groups;
  conv ? addDims(form, conv, WindowDim::plain) : addDims(form, transposed, WindowDim::transposed);

  ArrayRef<int64_t> sizes = shapeOf(op->getOperand(1));
  int64_t second = llvm::product_of(sizes.drop_front(2)), first = sizes[1] * second, tap = 1;
  if (Operation *view = op->getOperand(1).getDefiningOp(); isFilterView(view, op)) {
    bool isFirstInner = cast<ir::TransposeOp>(view).getPermutation()[0] == int64_t(sizes.size()) - 1;
    first = isFirstInner ? 1 : sizes[1];
    second = isFirstInner ? sizes[0] : 1;
    tap = sizes[0] * sizes[1];
  }
  auto &[group, row, channel, taps] = form.filter;
  row = conv ? first : second;
  channel = conv ? second : first;
  group = (conv ? form.rows : form.channels) * first;
  taps.resize(form.dims.size());
  for (size_t d = taps.size(); d-- > 0; tap *= form.dims[d].window) taps[d] = tap;
  form.chooseSlices();
  return form;
}

// Slices within a tap know once where they are; an eighth of them may be padding for it.
void ConvForm::chooseSlices() {
  tile = chooseTile(phases() * groups, rows, columns(), std::max<int64_t>(1, taps()) * channels);
  // Windows pass registers, with whether they are there, or are copied one by one: of a deep slice too many at a time.
  const int64_t deepest = isInside() || hasRegisters() ? kDeepestSlice : 8;
  tile.depth = std::min(tile.depth, deepest);
  // A thread has predicates for four columns beside its own.
  constexpr TileShape kMostWithPadding = {64, 64, 16, 8, 4, 128};
  if (!isInside() && tile.threadColumns > kMostWithPadding.threadColumns) {
    int64_t depth = std::max<int64_t>(tile.depth, 8);
    tile = kMostWithPadding;
    tile.depth = std::min(tile.depth, 2 * depth);
  }
  channelsOfTap = channels;
  for (int64_t depth = tile.depth; taps() > 1 && depth >= 8; depth /= 2)
    if (fillTaps(depth)) {
      tile.depth = depth;
      return;
    }
  fitSlices(tile, std::max<int64_t>(1, depth()));
}

// What a barrier and the way to memory cost of each slice is not hidden by other blocks there. Up to four elements of a
// slice are a thread's.
bool ConvForm::hasRegisters() const {
  constexpr int64_t kMultiprocessors = 128, kFewBlocks = 4, kColumnsOfThread = 4;
  return llvm::product_of(tiles(tile.rows, tile.columns)) <= kFewBlocks * kMultiprocessors &&
         kDeepestSlice * tile.columns <= kColumnsOfThread * tile.threads;
}

bool ConvForm::fillTaps(int64_t steps) {
  int64_t filled = llvm::alignTo(channels, steps);
  if (8 * filled > 9 * channels) return false;
  channelsOfTap = filled;
  return true;
}

int64_t ConvForm::taps() const {
  int64_t count = 1;
  for (const WindowDim &dim : dims) count *= dim.taps();
  return count;
}

int64_t ConvForm::phases() const {
  int64_t count = 1;
  for (const WindowDim &dim : dims) count *= dim.phases.size();
  return count;
}

SmallVector<int64_t> ConvForm::columnSizes() const {
  SmallVector<int64_t> sizes{samples};
  for (const WindowDim &dim : dims) sizes.push_back(dim.positions());
  return sizes;
}

int64_t ConvForm::columns() const { return llvm::product_of(columnSizes()); }

SmallVector<int64_t> ConvForm::tiles(int64_t tileRows, int64_t tileColumns) const {
  SmallVector<int64_t> counts;
  for (const WindowDim &dim : dims) counts.push_back(dim.phases.size());
  llvm::append_values(counts, groups, llvm::divideCeil(rows, tileRows), llvm::divideCeil(columns(), tileColumns));
  return counts;
}

bool ConvForm::isInside() const {
  return llvm::all_of(dims, [](const WindowDim &dim) { return dim.isInside(); });
}

bool ConvForm::isFilterWide() const {
  if (hasRowsInner()) return rows % 4 == 0 && filter.channel % 4 == 0;
  return filter.channel == 1 && channels % 4 == 0;
}

// Of a pointwise convolution columns are neighbours in the operand as they are in the result.
bool ConvForm::isInputWide() const {
  int64_t plane = 1;
  for (const WindowDim &dim : dims) plane *= dim.inputs;
  return plane % 4 == 0 && taps() == 1 && isInside() && llvm::all_of(dims, [](const WindowDim &dim) {
           return dim.step == 1 && dim.inputs == dim.outputs && dim.phases.size() == 1;
         });
}

std::optional<double> ConvForm::waste(int64_t tileRows, int64_t tileColumns, int64_t steps) const {
  if (taps() == 0) return std::nullopt;
  double results = double(samples) * groups * rows, taps = 1;
  for (const WindowDim &dim : dims) {
    double ofPhases = 0;
    for (const WindowDim::Phase &phase : dim.phases) ofPhases += double(phase.taps);
    results *= double(dim.outputs);
    taps *= ofPhases / double(dim.phases.size());
  }
  constexpr double kLeast = 1 << 14;
  if (results * taps * double(channels) < kLeast) return std::nullopt;
  double waste = double(llvm::product_of(tiles(tileRows, tileColumns))) * double(tileRows * tileColumns) / results *
                 double(channelsOfTap) / double(channels);
  return waste * double(llvm::alignTo(depth(), steps)) / double(depth());
}

// Measured on an H200: of short chains a thread's loads, two a product, take as long as six instructions (pointwise
// convolutions of MobileNet); of long ones, which a block takes step by step, there are more threads on their own than
// tiles.
bool ConvForm::isWorthTiles() const {
  constexpr double kShortLoopInstructions = 6;
  std::optional<double> wasted = waste(tile.rows, tile.columns, tile.unrolled());
  return wasted &&
         instructionsPerProduct(tile, *wasted) < (depth() <= kChainPart ? kShortLoopInstructions : kLoopInstructions);
}

SmallVector<int64_t> sprig::cuda::filterPermutation(int64_t rank, bool isFirstInner) {
  SmallVector<int64_t> permutation{rank - 1, rank - 2};
  if (!isFirstInner) std::swap(permutation[0], permutation[1]);
  for (int64_t d = 0; d < rank - 2; ++d) permutation.push_back(d);
  return permutation;
}

bool sprig::cuda::isFilterView(Operation *op, Operation *convolution) {
  auto transpose = dyn_cast_if_present<ir::TransposeOp>(op);
  if (!transpose || !isa_and_present<ir::ConvOp, ir::ConvTransposeOp>(convolution) ||
      convolution->getOperand(1) != transpose.getResult())
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  return permutation == ArrayRef<int64_t>(filterPermutation(permutation.size(), true)) ||
         permutation == ArrayRef<int64_t>(filterPermutation(permutation.size(), false));
}

Value sprig::cuda::storedFilter(Operation *convolution) {
  Value filter = convolution->getOperand(1);
  Operation *def = filter.getDefiningOp();
  return isFilterView(def, convolution) ? def->getOperand(0) : filter;
}
