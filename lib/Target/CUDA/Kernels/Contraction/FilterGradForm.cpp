#include "lib/Target/CUDA/Kernels/Contraction/FilterGradForm.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/SumOrder.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

template <typename Op>
static std::optional<FilterGradForm> filterFormOf(Op op, ArrayRef<int64_t> filter, bool inParts) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getCotangent());
  for (ArrayRef<int64_t> shape : {in, out, shapeOf(op.getResult())})
    if (llvm::product_of(shape) == 0 || llvm::product_of(shape) >= std::numeric_limits<int32_t>::max())
      return std::nullopt;
  if (!elementOf(op.getResult()).isF32()) return std::nullopt;
  FilterGradForm form;
  form.inParts = inParts;
  form.groups = op.getGroups();
  form.rows = filter[0] / form.groups;
  form.columnSizes.assign(filter.begin() + 1, filter.end());
  form.stepSizes.push_back(in[0]);
  for (size_t d = 0; d + 2 < in.size(); ++d) {
    form.dims.push_back(WindowDim::plain(in[2 + d], out[2 + d], filter[2 + d], op.getStrides()[d], op.getDilations()[d],
                                         op.getPadding()[d]));
    form.stepSizes.push_back(out[2 + d]);
  }
  return form;
}

std::optional<FilterGradForm> FilterGradForm::of(Operation *op) {
  std::optional<FilterGradForm> form;
  auto gradient = dyn_cast_if_present<ir::ConvFilterGradOp>(op);
  auto parts = dyn_cast_if_present<kernel::ConvFilterGradPartsOp>(op);
  if (gradient && !gradient.getChannelsLast()) form = filterFormOf(gradient, shapeOf(gradient.getResult()), false);
  if (parts && parts.getChannelsFirst()) form = filterFormOf(parts, shapeOf(parts.getResult()).drop_front(), true);
  if (form) form->choose();
  return form;
}

FilterGradForm FilterGradForm::cut() const {
  FilterGradForm form = *this;
  form.inParts = true;
  form.choose();
  return form;
}

void FilterGradForm::choose() {
  tile = chooseTile(parts() * groups, rows, columns(), depth());
  // Both sides pass registers: of a deep slice too much at a time.
  constexpr int64_t kDeepestSlice = 16;
  tile.depth = std::min(tile.depth, kDeepestSlice);
  fitSlices(tile, depth());
}

int64_t FilterGradForm::parts() const { return inParts ? llvm::divideCeil(depth(), kChainPart) : 1; }

bool FilterGradForm::isInside() const {
  return llvm::all_of(dims, [](const WindowDim &dim) { return dim.isInside(); });
}

SmallVector<int64_t> FilterGradForm::tiles(int64_t tileRows, int64_t tileColumns) const {
  return {parts(), groups, int64_t(llvm::divideCeil(rows, tileRows)),
          int64_t(llvm::divideCeil(columns(), tileColumns))};
}

// Four positions are neighbours in the operand, too.
bool FilterGradForm::isInputWide() const {
  int64_t plane = 1;
  for (const WindowDim &dim : dims) plane *= dim.inputs;
  return isInside() && plane % 4 == 0 && positions() == plane;
}

double FilterGradForm::computed(int64_t tileRows, int64_t tileColumns, int64_t steps) const {
  double ofStep = double(llvm::product_of(tiles(tileRows, tileColumns)) / parts()) * double(tileRows * tileColumns);
  return ofStep * double(llvm::alignTo(depth(), steps));
}

double FilterGradForm::instructions() const {
  return instructionsPerProduct(tile, computed(tile.rows, tile.columns, tile.unrolled()));
}

bool FilterGradForm::isWorthTiles() const {
  if (inParts) return true;
  return products() >= kLeastProducts && instructions() < kLoopInstructions * products();
}
