// Vector-Jacobian products of matrix products and convolutions.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNContraction.h"

using namespace mlir;

namespace sprig::ir {

/// [..., R, C] as one matrix.
static Value flattened(VjpExpression &e, Value x) {
  auto type = VjpExpression::typeOf(x);
  return e.reshape(x, {llvm::product_of(type.getShape().drop_back()), type.getShape().back()});
}

static Value product(VjpExpression &e, Value x, bool transposeX, Value y, bool transposeY) {
  return MatmulOp::create(e.b, e.loc, x, y, transposeX, transposeY);
}

/// An operand in the type that the result has, which is wider where there is an accumulator; and a gradient in the
/// operand's own.
static Value asResult(VjpExpression &e, Value operand) {
  return e.cast(operand, VjpExpression::typeOf(e.g()).getElementType());
}
static Value asOperand(VjpExpression &e, Value gradient, Value operand) {
  return e.cast(gradient, VjpExpression::typeOf(operand).getElementType());
}

LogicalResult MatmulOp::buildVjp(VjpExpression &e) {
  bool ta = getTransposeLhs(), tb = getTransposeRhs(), flattens = false;
  Value a = asResult(e, getLhs()), b = asResult(e, getRhs()), g = e.g();
  // A matrix that all batches share, as a layer's weight: its gradient is one product over the rows of all of them.
  if (VjpExpression::typeOf(b).getRank() == 2 && VjpExpression::typeOf(a).getRank() > 2 && !ta) {
    a = flattened(e, a);
    g = flattened(e, g);
    flattens = true;
  }
  e.give(0, getLhs(), [&] {
    Value gradient = ta ? product(e, b, tb, g, true) : product(e, g, false, b, !tb);
    if (flattens) gradient = e.reshape(gradient, VjpExpression::typeOf(getLhs()).getShape());
    return asOperand(e, gradient, getLhs());
  });
  e.give(1, getRhs(),
         [&] { return asOperand(e, tb ? product(e, g, true, a, ta) : product(e, a, !ta, g, false), getRhs()); });
  return success();
}

/// Convolutions are differentiated in the model's layout.
static LogicalResult checkLayout(Operation *op, bool channelsLast) {
  if (channelsLast) return op->emitOpError("has no gradient with channels last");
  return success();
}

LogicalResult ConvOp::buildVjp(VjpExpression &e) {
  if (failed(checkLayout(*this, getChannelsLast()))) return failure();
  auto in = VjpExpression::typeOf(getInput()).getShape(), window = VjpExpression::typeOf(getFilter()).getShape();
  auto out = VjpExpression::typeOf(getResult()).getShape();
  size_t spatial = in.size() - 2;
  if (e.needs(0)) {
    // Elements after the last window, which nothing has read.
    SmallVector<int64_t> rest;
    for (size_t d = 0; d < spatial; ++d)
      rest.push_back(in[d + 2] + getPadding()[d] + getPadding()[d + spatial] - 1 -
                     getDilations()[d] * (window[d + 2] - 1) - getStrides()[d] * (out[d + 2] - 1));
    Value gradient = ConvTransposeOp::create(e.b, e.loc, e.g(), asResult(e, getFilter()), getStrides(), getDilations(),
                                             getPadding(), rest, getGroups());
    e.give(0, asOperand(e, gradient, getInput()));
  }
  if (e.needs(1)) {
    Value gradient = ConvFilterGradOp::create(e.b, e.loc, asResult(e, getInput()), e.g(), window.drop_front(2),
                                              getStrides(), getDilations(), getPadding(), getGroups(),
                                              /*channels_last=*/false);
    e.give(1, asOperand(e, gradient, getFilter()));
  }
  return success();
}

/// The convolution whose input gradient a transposed convolution is, cut to the size that it has.
static Value convolved(VjpExpression &e, Value input, Value filter, ConvTransposeOp op) {
  Value result = ConvOp::create(e.b, e.loc, input, filter, op.getStrides(), op.getDilations(), op.getPadding(),
                                op.getGroups(), /*channels_last=*/false, TypeAttr());
  auto wanted = VjpExpression::typeOf(op.getInput()).getShape();
  if (VjpExpression::typeOf(result).getShape() == wanted) return result;
  return e.slice(result, SmallVector<int64_t>(wanted.size(), 0), wanted);
}

LogicalResult ConvTransposeOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, convolved(e, e.g(), getFilter(), *this));
  if (!e.needs(1)) return success();
  // As many windows as the input has positions: what output_padding adds beyond is cut off.
  auto in = VjpExpression::typeOf(getInput()).getShape(), window = VjpExpression::typeOf(getFilter()).getShape();
  SmallVector<int64_t> sizes(VjpExpression::typeOf(e.g()).getShape());
  size_t spatial = in.size() - 2;
  for (size_t d = 0; d < spatial; ++d) {
    int64_t reached = getStrides()[d] * (in[d + 2] - 1) + getDilations()[d] * (window[d + 2] - 1) + 1 -
                      getPadding()[d] - getPadding()[d + spatial] + getStrides()[d] - 1;
    sizes[d + 2] = std::min(sizes[d + 2], reached);
  }
  Value g = e.g();
  if (VjpExpression::typeOf(g).getShape() != ArrayRef<int64_t>(sizes))
    g = e.slice(g, SmallVector<int64_t>(sizes.size(), 0), sizes);
  e.give(1, ConvFilterGradOp::create(e.b, e.loc, g, getInput(), window.drop_front(2), getStrides(), getDilations(),
                                     getPadding(), getGroups(), /*channels_last=*/false));
  return success();
}

// Linear in both: the transposed and the plain convolution with the cotangent as the filter.
LogicalResult ConvFilterGradOp::buildVjp(VjpExpression &e) {
  if (failed(checkLayout(*this, getChannelsLast()))) return failure();
  auto in = VjpExpression::typeOf(getInput()).getShape(), out = VjpExpression::typeOf(getCotangent()).getShape();
  size_t spatial = in.size() - 2;
  if (e.needs(0)) {
    SmallVector<int64_t> rest;
    for (size_t d = 0; d < spatial; ++d)
      rest.push_back(in[d + 2] + getPadding()[d] + getPadding()[d + spatial] - 1 -
                     getDilations()[d] * (getWindow()[d] - 1) - getStrides()[d] * (out[d + 2] - 1));
    e.give(0, ConvTransposeOp::create(e.b, e.loc, getCotangent(), e.g(), getStrides(), getDilations(), getPadding(),
                                      rest, getGroups()));
  }
  if (e.needs(1))
    e.give(1, ConvOp::create(e.b, e.loc, getInput(), e.g(), getStrides(), getDilations(), getPadding(), getGroups(),
                             /*channels_last=*/false, TypeAttr()));
  return success();
}

} // namespace sprig::ir
