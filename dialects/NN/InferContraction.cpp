// Result types of matrix products and convolutions.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNContraction.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;

namespace sprig::ir {

FailureOr<Type> inferAccumulator(const Inference &infer, RankedTensorType a, StringRef aName, RankedTensorType b,
                                 StringRef bName, TypeAttr accumulator) {
  if (!accumulator) {
    if (failed(infer.sameElementType(a, aName, b, bName))) return failure();
    return a.getElementType();
  }
  auto both = [&](auto is) { return is(a.getElementType()) && is(b.getElementType()); };
  bool areBytes = both([](Type type) { return type.isInteger(8); });
  bool areHalves = both([](Type type) { return type.isBF16(); });
  Type sums = accumulator.getValue();
  if (!(areBytes && sums.isSignlessInteger(32)) && !(areHalves && sums.isF32()))
    return infer.fail("accumulates ", describe(a), " and ", describe(b), " in ", describe(sums),
                      "; an accumulator of its own is i32, of i8 and ui8, or f32, of bf16");
  return accumulator.getValue();
}

LogicalResult MatmulOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs"), rhs = infer.tensor(op.getRhs(), "rhs");
  if (failed(lhs) || failed(rhs) || failed(infer.rankAtLeast(*lhs, "lhs", 2)) ||
      failed(infer.rankAtLeast(*rhs, "rhs", 2)))
    return failure();
  auto element = inferAccumulator(infer, *lhs, "lhs", *rhs, "rhs", op.getAccumulatorAttr());
  if (failed(element)) return failure();
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
  return infer.give(*shape, *element);
}

LogicalResult checkConvInput(const Inference &infer, RankedTensorType input) {
  if (input.getRank() >= 3 && input.getRank() <= 5) return success();
  return infer.fail("takes an input of 1 to 3 spatial dimensions, got ", describe(input), " of rank ", input.getRank());
}

LogicalResult checkGroups(const Inference &infer, int64_t groups, int64_t channels, StringRef which) {
  if (groups >= 1 && channels % groups == 0) return success();
  return infer.fail("splits ", channels, " ", which, " channels into ", groups, " groups");
}

FailureOr<SmallVector<int64_t>> inferConvolution(const Inference &infer, RankedTensorType input,
                                                 RankedTensorType filter, int64_t groups, bool last,
                                                 DenseI64ArrayAttr strides, DenseI64ArrayAttr dilations,
                                                 DenseI64ArrayAttr padding) {
  if (failed(checkConvInput(infer, input))) return failure();
  if (filter.getRank() != input.getRank())
    return infer.fail("slides filter ", describe(filter), " of rank ", filter.getRank(), " over input ",
                      describe(input), " of rank ", input.getRank());
  ArrayRef<int64_t> in = input.getShape(), taps = filter.getShape();
  int64_t channels = last ? in.back() : in[1], outputs = taps[0];
  if (failed(checkGroups(infer, groups, channels, "input")) || failed(checkGroups(infer, groups, outputs, "output")))
    return failure();
  if (taps[1] * groups != channels)
    return infer.fail("convolves ", channels, " channels of input with ", taps[1] * groups, " channels of filter (",
                      describe(input), " and ", describe(filter), ", ", groups, groups == 1 ? " group)" : " groups)");
  auto windows = inferWindows(infer, last ? in.drop_front(1).drop_back(1) : in.drop_front(2), taps.drop_front(2),
                              strides, dilations, padding);
  if (failed(windows)) return failure();
  SmallVector<int64_t> shape{in[0]};
  if (!last) shape.push_back(outputs);
  shape.append(windows->outputs);
  if (last) shape.push_back(outputs);
  return shape;
}

LogicalResult ConvOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter)) return failure();
  auto element = inferAccumulator(infer, *input, "input", *filter, "filter", op.getAccumulatorAttr());
  if (failed(element)) return failure();
  auto shape = inferConvolution(infer, *input, *filter, op.getGroups(), op.getChannelsLast(), op.getStridesAttr(),
                                op.getDilationsAttr(), op.getPaddingAttr());
  return failed(shape) ? failure() : infer.give(*shape, *element);
}

FailureOr<SmallVector<int64_t>> inferFilterGradient(const Inference &infer, RankedTensorType input,
                                                    RankedTensorType cotangent, bool channelsLast, int64_t groups,
                                                    DenseI64ArrayAttr windowSizes, DenseI64ArrayAttr strides,
                                                    DenseI64ArrayAttr dilations, DenseI64ArrayAttr padding) {
  if (failed(infer.sameElementType(input, "input", cotangent, "cotangent")) || failed(checkConvInput(infer, input)))
    return failure();
  if (cotangent.getRank() != input.getRank())
    return infer.fail("has cotangent ", describe(cotangent), " of rank ", cotangent.getRank(), " for input ",
                      describe(input), " of rank ", input.getRank());
  ArrayRef<int64_t> in = input.getShape(), out = cotangent.getShape();
  auto spatial = [&](ArrayRef<int64_t> shape) {
    return channelsLast ? shape.drop_front(1).drop_back(1) : shape.drop_front(2);
  };
  int64_t channels = channelsLast ? in.back() : in[1], outputs = channelsLast ? out.back() : out[1];
  if (failed(checkGroups(infer, groups, channels, "input")) || failed(checkGroups(infer, groups, outputs, "output")))
    return failure();
  auto window = infer.array(windowSizes, "window sizes", input.getRank() - 2, "spatial dimensions");
  if (failed(window)) return failure();
  auto windows = inferWindows(infer, spatial(in), *window, strides, dilations, padding);
  if (failed(windows)) return failure();
  if (out[0] != in[0] || spatial(out) != ArrayRef<int64_t>(windows->outputs))
    return infer.fail("has cotangent ", describe(cotangent), " for ", in[0], " samples of ",
                      llvm::interleaved(windows->outputs, "x"), " windows");
  SmallVector<int64_t> shape{outputs, channels / groups};
  shape.append(window->begin(), window->end());
  return shape;
}

LogicalResult ConvFilterGradOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), cotangent = infer.tensor(op.getCotangent(), "cotangent");
  if (failed(input) || failed(cotangent)) return failure();
  auto shape = inferFilterGradient(infer, *input, *cotangent, op.getChannelsLast(), op.getGroups(), op.getWindowAttr(),
                                   op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr());
  return failed(shape) ? failure() : infer.give(*shape, input->getElementType());
}

LogicalResult ConvTransposeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter");
  if (failed(input) || failed(filter) || failed(infer.sameElementType(*input, "input", *filter, "filter")) ||
      failed(checkConvInput(infer, *input)))
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
