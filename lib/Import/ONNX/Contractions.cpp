// Matrix products.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNComposite.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

Value matmulOfAnyRank(Node &n, Value a, Value b) {
  n.require(Emit::rank(a) > 0 && Emit::rank(b) > 0,
            "multiplies " + typeText(a) + " by " + typeText(b) + "; a matrix product has no scalars");
  bool vectorA = Emit::rank(a) == 1, vectorB = Emit::rank(b) == 1;
  if (vectorA) a = n.unsqueeze(a, 0);
  if (vectorB) b = n.unsqueeze(b, 1);
  Value product = n.matmul(a, b);
  if (vectorB) product = n.squeeze(product, Emit::rank(product) - 1);
  if (vectorA) product = n.squeeze(product, Emit::rank(product) - (vectorB ? 1 : 2));
  return product;
}

namespace {

void matmul(Node &n) { n.out(matmulOfAnyRank(n, n.in(0), n.in(1))); }

void gemm(Node &n) {
  Value a = n.in(0), b = n.in(1);
  n.require(Emit::rank(a) == 2 && Emit::rank(b) == 2,
            "multiplies " + typeText(a) + " by " + typeText(b) + "; both have to be matrices");
  bool transposeA = n.intAttr("transA", 0) != 0, transposeB = n.intAttr("transB", 0) != 0;
  int64_t columns = Emit::shape(a)[transposeA ? 0 : 1], rows = Emit::shape(b)[transposeB ? 1 : 0];
  n.require(columns == rows, "multiplies a matrix of " + std::to_string(columns) + " columns (" + typeText(a) +
                                 (transposeA ? ", transposed" : "") + ") by one of " + std::to_string(rows) +
                                 " rows (" + typeText(b) + (transposeB ? ", transposed" : "") + ")");
  double alpha = n.realAttr("alpha", 1), beta = n.realAttr("beta", 1);
  Value c = n.has(2) && beta != 0 ? n.in(2) : Value();
  Ints result{Emit::shape(a)[transposeA ? 1 : 0], Emit::shape(b)[transposeB ? 0 : 1]};
  if (c) {
    auto together = ir::broadcastShapes(Emit::shape(c), result);
    n.require(mlir::succeeded(together) && IntsRef(*together) == IntsRef(result),
              "adds " + typeText(c) + " to a product of shape " + shapeText(result));
  }
  // A fully connected layer, as PyTorch writes it.
  if (!transposeA && transposeB && alpha == 1 && beta == 1 && Emit::isFloat(a) &&
      (!c || Emit::shape(c) == IntsRef{result[1]})) {
    Values operands{a, b};
    if (c) operands.push_back(c);
    return n.out(n.op<ir::LinearOp>(operands));
  }
  Value product = n.matmul(a, b, transposeA, transposeB);
  if (alpha != 1) product = n.mul(product, alpha);
  if (c) product = n.add(product, beta == 1 ? c : n.mul(c, beta));
  n.out(product);
}

} // namespace

void addContractions(Table &t) {
  t.add("MatMul", {1, 9, 13}, matmul);
  t.add("Gemm", {6, 7, 9, 11, 13}, gemm);
}

} // namespace sprig::onnximport
