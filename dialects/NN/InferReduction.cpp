// Result types of reductions, scans, sorts and windows.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"

using namespace mlir;

namespace sprig::ir {

FailureOr<Windows> inferWindows(const Inference &infer, ArrayRef<int64_t> spatial, ArrayRef<int64_t> window,
                                DenseI64ArrayAttr stridesAttr, DenseI64ArrayAttr dilationsAttr,
                                DenseI64ArrayAttr paddingAttr) {
  int64_t count = spatial.size();
  auto strides = infer.array(stridesAttr, "strides", count, "spatial dimensions");
  auto dilations = infer.array(dilationsAttr, "dilations", count, "spatial dimensions");
  auto padding = infer.array(paddingAttr, "padding sizes", 2 * count, "ends of spatial dimensions");
  if (failed(strides) || failed(dilations) || failed(padding)) return failure();
  Windows windows{window, *strides, *dilations, *padding, {}};
  for (int64_t i = 0; i < count; ++i) {
    int64_t stride = (*strides)[i], dilation = (*dilations)[i], low = (*padding)[i], high = (*padding)[count + i];
    if (window[i] < 1 || stride < 1 || dilation < 1)
      return infer.fail("has window size ", window[i], ", stride ", stride, " and dilation ", dilation,
                        " in spatial dimension ", i, ", which must be 1 or more");
    if (low < 0 || high < 0)
      return infer.fail("has padding ", low, " and ", high, " in spatial dimension ", i,
                        ", which must not be negative");
    for (int64_t value : {window[i], stride, dilation, low, high})
      if (!isModest(value)) return infer.fail("has ", value, " in spatial dimension ", i, ", which is more than 2^30");
    int64_t reach = dilation * (window[i] - 1) + 1, padded = spatial[i] + low + high;
    if (reach > padded)
      return infer.fail("slides a window that spans ", reach, " over ", padded, " elements of spatial dimension ", i);
    windows.outputs.push_back((padded - reach) / stride + 1);
  }
  return windows;
}

FailureOr<SmallVector<int64_t>> inferReduced(const Inference &infer, RankedTensorType operand, DenseI64ArrayAttr axes,
                                             bool keepDims) {
  auto list = infer.array(axes, "axes", -1, "");
  if (failed(list)) return failure();
  int64_t previous = -1;
  for (int64_t axis : *list) {
    if (axis < 0 || axis >= operand.getRank())
      return infer.fail("has axis ", axis, " on ", describe(operand), " of rank ", operand.getRank());
    if (axis <= previous) return infer.fail("has axis ", axis, " after axis ", previous, "; axes ascend");
    previous = axis;
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    bool reduced = llvm::is_contained(*list, i);
    if (!reduced || keepDims) shape.push_back(reduced ? 1 : operand.getDimSize(i));
  }
  return shape;
}

/// Fails unless the kind is one of two.
static LogicalResult checkKind(const Inference &infer, ReduceKindAttr kind, ReduceKind a, ReduceKind b) {
  if (failed(infer.present(kind, "kind"))) return failure();
  if (kind.getValue() == a || kind.getValue() == b) return success();
  return infer.fail("knows the kinds ", stringifyReduceKind(a), " and ", stringifyReduceKind(b), ", got ",
                    stringifyReduceKind(kind.getValue()));
}

LogicalResult ReduceOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getKindAttr(), "kind"))) return failure();
  if (operand->getElementType().isInteger(1) &&
      failed(checkKind(infer, op.getKindAttr(), ReduceKind::max, ReduceKind::min)))
    return failure();
  auto shape = inferReduced(infer, *operand, op.getAxesAttr(), op.getKeepDims());
  return failed(shape) ? failure() : infer.give(*shape, operand->getElementType());
}

LogicalResult ReduceMeanOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  auto shape = inferReduced(infer, *operand, op.getAxesAttr(), op.getKeepDims());
  return failed(shape) ? failure() : infer.give(*shape, operand->getElementType());
}

LogicalResult ArgReduceOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(checkKind(infer, op.getKindAttr(), ReduceKind::max, ReduceKind::min))) return failure();
  auto axis = infer.axis(op.getAxisAttr(), *operand);
  if (failed(axis)) return failure();
  if (operand->getDimSize(*axis) == 0)
    return infer.fail("chooses among 0 elements of dimension ", *axis, " of ", describe(*operand));
  auto axes = DenseI64ArrayAttr::get(operand->getContext(), {*axis});
  auto shape = inferReduced(infer, *operand, axes, op.getKeepDims());
  return failed(shape) ? failure() : infer.give(*shape, IntegerType::get(operand->getContext(), 64));
}

LogicalResult CumulativeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(checkKind(infer, op.getKindAttr(), ReduceKind::sum, ReduceKind::prod)) ||
      failed(infer.axis(op.getAxisAttr(), *operand)))
    return failure();
  return infer.give(*operand);
}

LogicalResult TopKOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getKAttr(), "k"))) return failure();
  auto axis = infer.axis(op.getAxisAttr(), *operand);
  if (failed(axis)) return failure();
  int64_t k = op.getK(), size = operand->getDimSize(*axis);
  if (k < 0 || k > size)
    return infer.fail("picks ", k, " of ", size, " elements of dimension ", *axis, " of ", describe(*operand));
  SmallVector<int64_t> shape(operand->getShape());
  shape[*axis] = k;
  (void)infer.give(shape, operand->getElementType());
  return infer.give(shape, IntegerType::get(operand->getContext(), 64));
}

/// The result shape of a pool; the windows' operand is [N, C, spatial...], or channels last.
static FailureOr<SmallVector<int64_t>> inferPool(const Inference &infer, RankedTensorType operand,
                                                 DenseI64ArrayAttr windowAttr, DenseI64ArrayAttr strides,
                                                 DenseI64ArrayAttr dilations, DenseI64ArrayAttr padding,
                                                 bool channelsLast) {
  if (failed(infer.rankAtLeast(operand, "operand", 3))) return failure();
  auto window = infer.array(windowAttr, "window sizes", operand.getRank() - 2, "spatial dimensions");
  if (failed(window)) return failure();
  ArrayRef<int64_t> in = operand.getShape();
  auto windows = inferWindows(infer, channelsLast ? in.drop_front(1).drop_back(1) : in.drop_front(2), *window, strides,
                              dilations, padding);
  if (failed(windows)) return failure();
  SmallVector<int64_t> shape{in[0]};
  if (!channelsLast) shape.push_back(in[1]);
  shape.append(windows->outputs);
  if (channelsLast) shape.push_back(in.back());
  return shape;
}

LogicalResult PoolOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(checkKind(infer, op.getKindAttr(), ReduceKind::max, ReduceKind::sum))) return failure();
  auto shape = inferPool(infer, *operand, op.getWindowAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                         op.getPaddingAttr(), op.getChannelsLast());
  return failed(shape) ? failure() : infer.give(*shape, operand->getElementType());
}

LogicalResult PoolGradOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), cotangent = infer.tensor(op.getCotangent(), "cotangent");
  if (failed(operand) || failed(cotangent) ||
      failed(checkKind(infer, op.getKindAttr(), ReduceKind::max, ReduceKind::sum)) ||
      failed(infer.sameElementType(*operand, "operand", *cotangent, "cotangent")))
    return failure();
  auto shape = inferPool(infer, *operand, op.getWindowAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                         op.getPaddingAttr(), op.getChannelsLast());
  if (failed(shape)) return failure();
  if (cotangent->getShape() != ArrayRef<int64_t>(*shape))
    return infer.fail("has cotangent ", describe(*cotangent), " for a pool of ", describe(*operand), " that gives ",
                      describe(operand->clone(*shape)));
  return infer.give(*operand);
}

LogicalResult ArgMaxPoolOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  auto shape = inferPool(infer, *operand, op.getWindowAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                         op.getPaddingAttr(), false);
  return failed(shape) ? failure() : infer.give(*shape, IntegerType::get(operand->getContext(), 64));
}

LogicalResult AvgPoolOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  auto shape = inferPool(infer, *operand, op.getWindowAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                         op.getPaddingAttr(), false);
  if (failed(shape)) return failure();
  int64_t ends = 2 * (operand->getRank() - 2);
  auto counted = infer.array(op.getCountedPaddingAttr(), "counted padding sizes", ends, "ends of spatial dimensions");
  if (failed(counted)) return failure();
  for (int64_t i = 0; i < ends; ++i)
    if ((*counted)[i] < 0 || (*counted)[i] > op.getPadding()[i])
      return infer.fail("counts ", (*counted)[i], " of ", op.getPadding()[i], " elements of padding");
  return infer.give(*shape, operand->getElementType());
}

} // namespace sprig::ir
