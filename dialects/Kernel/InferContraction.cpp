// Result types of packed products and convolutions.
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/Kernel/Winograd.h"
#include "dialects/NN/Infer.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig::ir;

namespace sprig::kernel {

LogicalResult PackOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  if (operand->getRank() != 2)
    return infer.fail("packs a matrix, got ", describe(*operand), " of rank ", operand->getRank());
  auto [k, n] = std::pair(operand->getDimSize(0), operand->getDimSize(1));
  if (op.getTransposed()) std::swap(k, n);
  int64_t groups = op.getGroups();
  if (groups < 1 || n % groups) return infer.fail("has ", groups, " groups of ", n, " columns");
  int64_t interleave = op.getInterleave();
  if (interleave < 1 || interleave > kPanelWidth) return infer.fail("interleaves ", interleave, " rows");
  SmallVector<int64_t> shape{groups * static_cast<int64_t>(llvm::divideCeil(n / groups, kPanelWidth)),
                             static_cast<int64_t>(llvm::divideCeil(k, interleave)), kPanelWidth};
  if (interleave > 1) shape.push_back(interleave);
  return infer.give(shape, operand->getElementType());
}

namespace {
/// What a product with panels gives, and how many of their rows lie side by side.
struct PackedElement {
  Type type;
  int64_t interleave = 1;
};
} // namespace

/// The operands' own type; i32 of ui8 and i8, f32 of bf16 in interleaved panels.
static FailureOr<PackedElement> inferPackedElement(const Inference &infer, RankedTensorType operand, StringRef name,
                                                   RankedTensorType panels) {
  Type element = operand.getElementType();
  if (element.isUnsignedInteger(8) && panels.getElementType().isSignlessInteger(8))
    return PackedElement{IntegerType::get(element.getContext(), 32), interleaveOf(element)};
  if (failed(infer.sameElementType(operand, name, panels, "panels"))) return failure();
  if (element.isBF16() && panels.getRank() == 4)
    return PackedElement{Float32Type::get(element.getContext()), interleaveOf(element)};
  return PackedElement{element};
}

/// Checks panels against the sizes that they must have.
static LogicalResult checkPanels(const Inference &infer, RankedTensorType panels, int64_t columns, int64_t groups,
                                 int64_t rows, int64_t interleave = 1) {
  SmallVector<int64_t> tail{kPanelWidth};
  if (interleave > 1) tail.push_back(interleave);
  if (panels.getRank() != 2 + int64_t(tail.size()) || panels.getShape().drop_front(2) != ArrayRef<int64_t>(tail))
    return infer.fail("takes panels of shape [panels, rows, ", llvm::interleaved(tail), "], got ", describe(panels));
  int64_t count = groups * llvm::divideCeil(columns / groups, kPanelWidth);
  if (panels.getDimSize(0) != count)
    return infer.fail("has ", panels.getDimSize(0), " panels for ", columns, " columns, which take ", count);
  if (panels.getDimSize(1) != rows)
    return infer.fail("contracts ", rows, " columns of lhs with ", panels.getDimSize(1), " rows of panels");
  return success();
}

LogicalResult MatmulPackedOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs"), panels = infer.tensor(op.getPanels(), "panels");
  if (failed(lhs) || failed(panels)) return failure();
  if (failed(infer.rankAtLeast(*lhs, "lhs", 2)) || failed(infer.present(op.getColumnsAttr(), "columns")))
    return failure();
  int64_t columns = op.getColumns();
  if (columns < 0) return infer.fail("has ", columns, " columns");
  SmallVector<int64_t> shape(lhs->getShape());
  if (auto lowest = op.getLowest()) {
    auto isByte = [](RankedTensorType type) { return type.getElementType().isUnsignedInteger(8); };
    if (!isByte(*lhs) || !isByte(*panels))
      return infer.fail("has `lowest` for ", describe(*lhs), " and ", describe(*panels), ", which are not both ui8");
    if (int64_t(*lowest) < -128 || int64_t(*lowest) > 127 - 15)
      return infer.fail("has bytes from ", int64_t(*lowest), " on; expected -128 to 112");
    if (failed(checkPanels(infer, *panels, columns, 1, NarrowPlaces{shape.back(), 4}.words(), 4))) return failure();
    shape.back() = columns;
    return infer.give(shape, IntegerType::get(lhs->getContext(), 32));
  }
  auto element = inferPackedElement(infer, *lhs, "lhs", *panels);
  if (failed(element)) return failure();
  int64_t rows = llvm::divideCeil(shape.back(), element->interleave);
  if (failed(checkPanels(infer, *panels, columns, 1, rows, element->interleave))) return failure();
  shape.back() = columns;
  return infer.give(shape, element->type);
}

/// Panels of codes with scales and zero points of groups, of `depth` rows.
template <typename Adaptor>
static LogicalResult checkCodes(const Inference &infer, Adaptor op, int64_t depth, int64_t bits) {
  auto codes = infer.tensor(op.getCodes(), "codes"), scales = infer.tensor(op.getScales(), "scales");
  if (failed(codes) || failed(scales) || failed(infer.present(op.getColumnsAttr(), "columns")) ||
      failed(infer.present(op.getGroupAttr(), "group")))
    return failure();
  int64_t columns = op.getColumns(), group = op.getGroup(), zero = op.getZero();
  if (columns < 0) return infer.fail("has ", columns, " columns");
  if (zero < 0 || zero > 255) return infer.fail("has the zero point ", zero, ", which is no byte");
  NarrowPlaces places{depth, bits};
  if (failed(checkPanels(infer, *codes, columns, 1, places.words(), 4))) return failure();
  if (group < 1 || (group < depth && group % places.wordRows()))
    return infer.fail("has groups of ", group, " rows, which ", places.wordRows(), " does not divide");
  SmallVector<int64_t> perGroup{codes->getDimSize(0), int64_t(llvm::divideCeil(depth, group)), kPanelWidth};
  auto checkGroups = [&](RankedTensorType type, StringRef name) -> LogicalResult {
    if (type.getShape() == ArrayRef<int64_t>(perGroup)) return success();
    return infer.fail("has ", name, " ", describe(type), "; expected ", llvm::interleaved(perGroup, "x"));
  };
  if (failed(checkGroups(*scales, "scales"))) return failure();
  if (!op.getZeros()) return success();
  auto zeros = infer.tensor(op.getZeros(), "zeros");
  return failed(zeros) ? failure() : checkGroups(*zeros, "zeros");
}

LogicalResult MatmulNarrowOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs");
  if (failed(lhs) || failed(infer.rankAtLeast(*lhs, "lhs", 2)) || failed(infer.present(op.getBitsAttr(), "bits")))
    return failure();
  int64_t bits = op.getBits();
  if (bits != 4 && bits != 8) return infer.fail("has codes of ", bits, " bits; there are those of 4 and 8");
  SmallVector<int64_t> shape(lhs->getShape());
  if (failed(checkCodes(infer, op, shape.back(), bits))) return failure();
  shape.back() = op.getColumns();
  return infer.give(shape, lhs->getElementType());
}

LogicalResult MatmulNarrowDotOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs"), scales = infer.tensor(op.getLhsScales(), "lhs_scales");
  if (failed(lhs) || failed(scales) || failed(infer.rankAtLeast(*lhs, "lhs", 2))) return failure();
  SmallVector<int64_t> shape(lhs->getShape());
  if (failed(checkCodes(infer, op, shape.back(), /*bits=*/4))) return failure();
  // A group's sum stays within 32 bits: 2^7 times 255 times as much.
  constexpr int64_t kLongest = int64_t(1) << 16;
  int64_t group = op.getGroup();
  if (group > kLongest || shape.back() % group)
    return infer.fail("has groups of ", group, " of ", shape.back(), " rows; expected whole ones of at most ",
                      kLongest);
  SmallVector<int64_t> perGroup(shape);
  perGroup.back() /= group;
  if (scales->getShape() != ArrayRef<int64_t>(perGroup))
    return infer.fail("has lhs_scales ", describe(*scales), "; expected ", llvm::interleaved(perGroup, "x"));
  shape.back() = op.getColumns();
  return infer.give(shape, scales->getElementType());
}

LogicalResult ConvPackedOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), panels = infer.tensor(op.getPanels(), "panels");
  if (failed(input) || failed(panels)) return failure();
  auto element = inferPackedElement(infer, *input, "input", *panels);
  if (failed(element) || failed(checkConvInput(infer, *input)) ||
      failed(infer.present(op.getChannelsAttr(), "channels")))
    return failure();
  int64_t interleave = element->interleave;
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
  if (interleave > 1) {
    int64_t run = std::max<int64_t>(runLength(in.back(), groups, *window, windows->dilations), 1);
    int64_t channels = in.back() / groups;
    if (channels % interleave && llvm::any_of(windows->padding, [](int64_t size) { return size != 0; }))
      return infer.fail("has padding, and ", channels, " channels, which ", interleave, " does not divide");
    rows = PanelPlaces{rows, run, interleave}.rows();
  }
  if (failed(checkPanels(infer, *panels, outputs, groups, rows, interleave))) return failure();
  SmallVector<int64_t> shape{in[0]};
  shape.append(windows->outputs);
  shape.push_back(outputs);
  return infer.give(shape, element->type);
}

LogicalResult ConvDepthwiseOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(infer.sameElementType(*input, "input", *filter, "filter")) ||
      failed(checkConvInput(infer, *input)))
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

LogicalResult ConvDepthwiseDotOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(checkConvInput(infer, *input))) return failure();
  ArrayRef<int64_t> in = input->getShape();
  auto window = infer.array(op.getWindowAttr(), "window sizes", input->getRank() - 2, "spatial dimensions");
  if (failed(window)) return failure();
  auto windows = inferWindows(infer, in.drop_front(1).drop_back(1), *window, op.getStridesAttr(), op.getDilationsAttr(),
                              op.getPaddingAttr());
  if (failed(windows)) return failure();
  SmallVector<int64_t> wanted = DepthwisePlaces::get(*window, in.back()).shape();
  if (filter->getShape() != ArrayRef<int64_t>(wanted))
    return infer.fail("takes a filter of shape [", llvm::interleaved(wanted), "], got ", describe(*filter));
  int64_t fill = op.getFill();
  if (fill < 0 || fill > 255) return infer.fail("fills the padding with ", fill, ", which is no ui8");
  SmallVector<int64_t> shape{in[0]};
  shape.append(windows->outputs);
  shape.push_back(in.back());
  return infer.give(shape, IntegerType::get(filter->getContext(), 32));
}

LogicalResult ConvFilterGradPartsOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), cotangent = infer.tensor(op.getCotangent(), "cotangent");
  if (failed(input) || failed(cotangent)) return failure();
  auto filter =
      inferFilterGradient(infer, *input, *cotangent, !op.getChannelsFirst(), op.getGroups(), op.getWindowAttr(),
                          op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr());
  if (failed(filter)) return failure();
  int64_t positions = 1; // and samples
  const int64_t channels = op.getChannelsFirst() ? 1 : cotangent->getRank() - 1;
  for (auto [d, size] : llvm::enumerate(cotangent->getShape()))
    if (int64_t(d) != channels) positions *= size;
  SmallVector<int64_t> shape{static_cast<int64_t>(llvm::divideCeil(positions, kChainPart))};
  shape.append(*filter);
  return infer.give(shape, input->getElementType());
}

LogicalResult MatmulPartsOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs"), rhs = infer.tensor(op.getRhs(), "rhs");
  if (failed(lhs) || failed(rhs) || failed(infer.sameElementType(*lhs, "lhs", *rhs, "rhs"))) return failure();
  for (RankedTensorType side : {*lhs, *rhs})
    if (side.getRank() != 2) return infer.fail("takes two matrices, got ", describe(side));
  if (lhs->getDimSize(0) != rhs->getDimSize(0))
    return infer.fail("takes sides of as many rows, got ", describe(*lhs), " and ", describe(*rhs));
  auto parts = int64_t(llvm::divideCeil(lhs->getDimSize(0), kChainPart));
  return infer.give({parts, lhs->getDimSize(1), rhs->getDimSize(1)}, lhs->getElementType());
}

LogicalResult SumPartsOp::inferTypes(const Inference &infer, Adaptor op) {
  auto parts = infer.tensor(op.getParts(), "parts");
  if (failed(parts)) return failure();
  if (parts->getRank() == 0) return infer.fail("adds up parts along the first dimension, got ", describe(*parts));
  return infer.give(parts->getShape().drop_front(), parts->getElementType());
}

LogicalResult ConvWinogradOp::inferTypes(const Inference &infer, Adaptor op) {
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

} // namespace sprig::kernel
