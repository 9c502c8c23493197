// Result types of matrix products and convolutions.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNWinograd.h"
#include "dialects/NN/Winograd.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sprig::ir {

SPRIG_NN_INFER(MatmulOp) {
  Inference infer(location, MatmulOp::getOperationName(), results);
  auto lhs = infer.tensor(op.getLhs(), "lhs"), rhs = infer.tensor(op.getRhs(), "rhs");
  if (failed(lhs) || failed(rhs) || failed(infer.sameElementType(*lhs, "lhs", *rhs, "rhs")) ||
      failed(infer.rankAtLeast(*lhs, "lhs", 2)) || failed(infer.rankAtLeast(*rhs, "rhs", 2)))
    return failure();
  bool lhsTransposed = op.getTransposeLhs(), rhsTransposed = op.getTransposeRhs();
  ArrayRef<int64_t> a = lhs->getShape(), b = rhs->getShape();
  auto [m, k] = std::pair(a[a.size() - 2], a[a.size() - 1]);
  auto [k2, n] = std::pair(b[b.size() - 2], b[b.size() - 1]);
  if (lhsTransposed) std::swap(m, k);
  if (rhsTransposed) std::swap(k2, n);
  if (k != k2)
    return infer.fail("contracts ", k, lhsTransposed ? " rows" : " columns", " of lhs with ", k2,
                      rhsTransposed ? " columns" : " rows", " of rhs (", describe(*lhs), " and ", describe(*rhs), ")");
  auto shape = broadcastShapes(a.drop_back(2), b.drop_back(2));
  if (failed(shape))
    return infer.fail("does not broadcast the leading dimensions of lhs ", describe(*lhs), " with those of rhs ",
                      describe(*rhs));
  shape->append({m, n});
  return infer.give(*shape, lhs->getElementType());
}

SPRIG_NN_INFER(PackOp) {
  Inference infer(location, PackOp::getOperationName(), results);
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  if (operand->getRank() != 2)
    return infer.fail("packs a matrix, got ", describe(*operand), " of rank ", operand->getRank());
  auto [k, n] = std::pair(operand->getDimSize(0), operand->getDimSize(1));
  if (op.getTransposed()) std::swap(k, n);
  int64_t groups = op.getGroups();
  if (groups < 1 || n % groups) return infer.fail("has ", groups, " groups of ", n, " columns");
  return infer.give({groups * static_cast<int64_t>(llvm::divideCeil(n / groups, kPanelWidth)), k, kPanelWidth},
                    operand->getElementType());
}

/// Checks panels against the sizes that they must have.
static LogicalResult checkPanels(const Inference &infer, RankedTensorType panels, int64_t columns, int64_t groups,
                                 int64_t rows) {
  if (panels.getRank() != 3 || panels.getDimSize(2) != kPanelWidth)
    return infer.fail("takes panels of shape [panels, rows, ", kPanelWidth, "], got ", describe(panels));
  int64_t count = groups * llvm::divideCeil(columns / groups, kPanelWidth);
  if (panels.getDimSize(0) != count)
    return infer.fail("has ", panels.getDimSize(0), " panels for ", columns, " columns, which take ", count);
  if (panels.getDimSize(1) != rows)
    return infer.fail("contracts ", rows, " columns of lhs with ", panels.getDimSize(1), " rows of panels");
  return success();
}

SPRIG_NN_INFER(MatmulPackedOp) {
  Inference infer(location, MatmulPackedOp::getOperationName(), results);
  auto lhs = infer.tensor(op.getLhs(), "lhs"), panels = infer.tensor(op.getPanels(), "panels");
  if (failed(lhs) || failed(panels) || failed(infer.sameElementType(*lhs, "lhs", *panels, "panels")) ||
      failed(infer.rankAtLeast(*lhs, "lhs", 2)) || failed(infer.present(op.getColumnsAttr(), "columns")))
    return failure();
  int64_t columns = op.getColumns();
  if (columns < 0) return infer.fail("has ", columns, " columns");
  SmallVector<int64_t> shape(lhs->getShape());
  if (failed(checkPanels(infer, *panels, columns, 1, shape.back()))) return failure();
  shape.back() = columns;
  return infer.give(shape, lhs->getElementType());
}

/// The input of a convolution: [N, C, spatial...] or [N, spatial..., C].
static LogicalResult checkInput(const Inference &infer, RankedTensorType input) {
  if (input.getRank() >= 3 && input.getRank() <= 5) return success();
  return infer.fail("takes an input of 1 to 3 spatial dimensions, got ", describe(input), " of rank ", input.getRank());
}

static LogicalResult checkGroups(const Inference &infer, int64_t groups, int64_t channels, StringRef which) {
  if (groups >= 1 && channels % groups == 0) return success();
  return infer.fail("splits ", channels, " ", which, " channels into ", groups, " groups");
}

SPRIG_NN_INFER(ConvOp) {
  Inference infer(location, ConvOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(infer.sameElementType(*input, "input", *filter, "filter")) ||
      failed(checkInput(infer, *input)))
    return failure();
  if (filter->getRank() != input->getRank())
    return infer.fail("slides filter ", describe(*filter), " of rank ", filter->getRank(), " over input ",
                      describe(*input), " of rank ", input->getRank());
  bool last = op.getChannelsLast();
  ArrayRef<int64_t> in = input->getShape(), taps = filter->getShape();
  int64_t channels = last ? in.back() : in[1], outputs = taps[0], groups = op.getGroups();
  if (failed(checkGroups(infer, groups, channels, "input")) || failed(checkGroups(infer, groups, outputs, "output")))
    return failure();
  if (taps[1] * groups != channels)
    return infer.fail("convolves ", channels, " channels of input with ", taps[1] * groups, " channels of filter (",
                      describe(*input), " and ", describe(*filter), ", ", groups, groups == 1 ? " group)" : " groups)");
  auto windows = inferWindows(infer, last ? in.drop_front(1).drop_back(1) : in.drop_front(2), taps.drop_front(2),
                              op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr());
  if (failed(windows)) return failure();
  SmallVector<int64_t> shape{in[0]};
  if (!last) shape.push_back(outputs);
  shape.append(windows->outputs);
  if (last) shape.push_back(outputs);
  return infer.give(shape, input->getElementType());
}

SPRIG_NN_INFER(ConvFilterGradOp) {
  Inference infer(location, ConvFilterGradOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), cotangent = infer.tensor(op.getCotangent(), "cotangent");
  if (failed(input) || failed(cotangent) || failed(infer.sameElementType(*input, "input", *cotangent, "cotangent")) ||
      failed(checkInput(infer, *input)))
    return failure();
  if (cotangent->getRank() != input->getRank())
    return infer.fail("has cotangent ", describe(*cotangent), " of rank ", cotangent->getRank(), " for input ",
                      describe(*input), " of rank ", input->getRank());
  bool last = op.getChannelsLast();
  ArrayRef<int64_t> in = input->getShape(), out = cotangent->getShape();
  auto spatial = [&](ArrayRef<int64_t> shape) { return last ? shape.drop_front(1).drop_back(1) : shape.drop_front(2); };
  int64_t channels = last ? in.back() : in[1], outputs = last ? out.back() : out[1], groups = op.getGroups();
  if (failed(checkGroups(infer, groups, channels, "input")) || failed(checkGroups(infer, groups, outputs, "output")))
    return failure();
  auto window = infer.array(op.getWindowAttr(), "window sizes", input->getRank() - 2, "spatial dimensions");
  if (failed(window)) return failure();
  auto windows =
      inferWindows(infer, spatial(in), *window, op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr());
  if (failed(windows)) return failure();
  if (out[0] != in[0] || spatial(out) != ArrayRef<int64_t>(windows->outputs))
    return infer.fail("has cotangent ", describe(*cotangent), " for ", in[0], " samples of ",
                      llvm::interleaved(windows->outputs, "x"), " windows");
  SmallVector<int64_t> shape{outputs, channels / groups};
  shape.append(window->begin(), window->end());
  return infer.give(shape, input->getElementType());
}

SPRIG_NN_INFER(ConvPackedOp) {
  Inference infer(location, ConvPackedOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), panels = infer.tensor(op.getPanels(), "panels");
  if (failed(input) || failed(panels) || failed(infer.sameElementType(*input, "input", *panels, "panels")) ||
      failed(checkInput(infer, *input)) || failed(infer.present(op.getChannelsAttr(), "channels")))
    return failure();
  ArrayRef<int64_t> in = input->getShape();
  int64_t outputs = op.getChannels(), groups = op.getGroups();
  if (outputs < 0) return infer.fail("has ", outputs, " channels");
  if (failed(checkGroups(infer, groups, in.back(), "input")) || failed(checkGroups(infer, groups, outputs, "output")))
    return failure();
  auto window = infer.array(op.getWindowAttr(), "window sizes", input->getRank() - 2, "spatial dimensions");
  if (failed(window)) return failure();
  auto windows = inferWindows(infer, in.drop_front(1).drop_back(1), *window, op.getStridesAttr(), op.getDilationsAttr(),
                              op.getPaddingAttr());
  if (failed(windows)) return failure();
  int64_t rows = in.back() / groups;
  for (int64_t size : *window) rows *= size;
  if (failed(checkPanels(infer, *panels, outputs, groups, rows))) return failure();
  SmallVector<int64_t> shape{in[0]};
  shape.append(windows->outputs);
  shape.push_back(outputs);
  return infer.give(shape, input->getElementType());
}

SPRIG_NN_INFER(ConvDepthwiseOp) {
  Inference infer(location, ConvDepthwiseOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(infer.sameElementType(*input, "input", *filter, "filter")) ||
      failed(checkInput(infer, *input)))
    return failure();
  ArrayRef<int64_t> in = input->getShape(), taps = filter->getShape();
  if (taps.size() + 1 != in.size())
    return infer.fail("slides filter ", describe(*filter), " of rank ", taps.size(), " over input ", describe(*input),
                      ", whose windows and channels take rank ", in.size() - 1);
  if (taps.back() != in.back())
    return infer.fail("convolves ", in.back(), " channels of input with ", taps.back(), " channels of filter (",
                      describe(*input), " and ", describe(*filter), ")");
  auto windows = inferWindows(infer, in.drop_front(1).drop_back(1), taps.drop_back(1), op.getStridesAttr(),
                              op.getDilationsAttr(), op.getPaddingAttr());
  if (failed(windows)) return failure();
  SmallVector<int64_t> shape{in[0]};
  shape.append(windows->outputs);
  shape.push_back(in.back());
  return infer.give(shape, input->getElementType());
}

SPRIG_NN_INFER(ConvWinogradOp) {
  Inference infer(location, ConvWinogradOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), panels = infer.tensor(op.getPanels(), "panels");
  if (failed(input) || failed(panels) || failed(infer.sameElementType(*input, "input", *panels, "panels")) ||
      failed(infer.present(op.getChannelsAttr(), "channels")))
    return failure();
  if (input->getRank() != 4)
    return infer.fail("takes an input of 2 spatial dimensions, got ", describe(*input), " of rank ", input->getRank());
  int64_t outputs = op.getChannels();
  if (outputs < 0) return infer.fail("has ", outputs, " channels");
  auto window = infer.array(op.getWindowAttr(), "window sizes", 2, "spatial dimensions");
  auto tile = infer.array(op.getTileAttr(), "tile sizes", 2, "spatial dimensions");
  if (failed(window) || failed(tile)) return failure();
  auto ones = DenseI64ArrayAttr::get(input->getContext(), {1, 1});
  auto windows = inferWindows(infer, input->getShape().slice(1, 2), *window, ones, ones, op.getPaddingAttr());
  if (failed(windows)) return failure();
  int64_t rows = input->getDimSize(3);
  for (int64_t d = 0; d < 2; ++d) {
    auto line = WinogradLine::get((*tile)[d], (*window)[d]);
    if (!line)
      return infer.fail("has a tile of ", (*tile)[d], " and a window of ", (*window)[d], " in spatial dimension ", d,
                        "; tile + window - 1 must be 1, 4, 6 or 8");
    rows *= line->frequencies();
  }
  if (failed(checkPanels(infer, *panels, outputs, 1, rows))) return failure();
  SmallVector<int64_t> shape{input->getDimSize(0)};
  shape.append(windows->outputs);
  shape.push_back(outputs);
  return infer.give(shape, input->getElementType());
}

SPRIG_NN_INFER(ConvTransposeOp) {
  Inference infer(location, ConvTransposeOp::getOperationName(), results);
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(infer.sameElementType(*input, "input", *filter, "filter")) ||
      failed(checkInput(infer, *input)))
    return failure();
  if (filter->getRank() != input->getRank())
    return infer.fail("slides filter ", describe(*filter), " of rank ", filter->getRank(), " over input ",
                      describe(*input), " of rank ", input->getRank());
  ArrayRef<int64_t> in = input->getShape(), taps = filter->getShape();
  int64_t groups = op.getGroups(), spatial = input->getRank() - 2;
  if (failed(checkGroups(infer, groups, in[1], "input"))) return failure();
  if (taps[0] != in[1])
    return infer.fail("convolves ", in[1], " channels of input with ", taps[0], " channels of filter (",
                      describe(*input), " and ", describe(*filter), ")");
  auto strides = infer.array(op.getStridesAttr(), "strides", spatial, "spatial dimensions");
  auto dilations = infer.array(op.getDilationsAttr(), "dilations", spatial, "spatial dimensions");
  auto padding = infer.array(op.getPaddingAttr(), "padding sizes", 2 * spatial, "ends of spatial dimensions");
  auto extra = infer.array(op.getOutputPaddingAttr(), "output padding sizes", spatial, "spatial dimensions");
  if (failed(strides) || failed(dilations) || failed(padding) || failed(extra)) return failure();
  SmallVector<int64_t> shape{in[0], taps[1] * groups};
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t low = (*padding)[i], high = (*padding)[spatial + i];
    if ((*strides)[i] < 1 || (*dilations)[i] < 1)
      return infer.fail("has stride ", (*strides)[i], " and dilation ", (*dilations)[i], " in spatial dimension ", i);
    if (low < 0 || high < 0 || (*extra)[i] < 0)
      return infer.fail("has padding ", low, " and ", high, " and output padding ", (*extra)[i],
                        " in spatial dimension ", i);
    for (int64_t value : {(*strides)[i], (*dilations)[i], low, high, (*extra)[i], in[2 + i], taps[2 + i]})
      if (!isModest(value)) return infer.fail("has ", value, " in spatial dimension ", i, ", which is more than 2^30");
    int64_t full = (in[2 + i] - 1) * (*strides)[i] + (taps[2 + i] - 1) * (*dilations)[i] + 1 + (*extra)[i];
    if (full - low - high < 1 || taps[2 + i] < 1)
      return infer.fail("crops ", low + high, " of ", full, " positions in spatial dimension ", i);
    shape.push_back(full - low - high);
  }
  return infer.give(shape, input->getElementType());
}

} // namespace sprig::ir
