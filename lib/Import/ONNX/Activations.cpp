// Activation functions.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"

namespace sprig::onnximport {

namespace {

void leakyRelu(Node &n) { n.out(n.op<ir::LeakyReluOp>({n.in(0)}, {n.real("alpha", n.realAttr("alpha", 0.01f))})); }
void elu(Node &n) { n.out(n.op<ir::EluOp>({n.in(0)}, {n.real("alpha", n.realAttr("alpha", 1))})); }
void celu(Node &n) {
  double alpha = n.realAttr("alpha", 1);
  n.require(alpha != 0, "has alpha 0, by which it divides");
  n.out(n.op<ir::CeluOp>({n.in(0)}, {n.real("alpha", alpha)}));
}
void selu(Node &n) {
  n.out(n.op<ir::SeluOp>({n.in(0)}, {n.real("alpha", n.realAttr("alpha", 1.67326319217681884765625)),
                                     n.real("gamma", n.realAttr("gamma", 1.05070102214813232421875))}));
}
void hardSigmoid(Node &n) {
  n.out(n.op<ir::HardSigmoidOp>({n.in(0)},
                                {n.real("alpha", n.realAttr("alpha", 0.2f)), n.real("beta", n.realAttr("beta", 0.5))}));
}
void gelu(Node &n) {
  std::string kind = n.stringAttr("approximate", "none");
  n.require(kind == "none" || kind == "tanh", "has approximate '" + kind + "'; known are 'none' and 'tanh'");
  llvm::SmallVector<NamedAttribute> attributes;
  if (kind == "tanh") attributes.push_back(n.unit("tanh_approximation"));
  n.out(n.op<ir::GeluOp>({n.in(0)}, attributes));
}
void swish(Node &n) {
  Value x = n.in(0);
  double alpha = n.realAttr("alpha", 1);
  if (alpha == 1) return n.out(n.op<ir::SiluOp>({x}));
  n.out(n.mul(x, n.op<ir::SigmoidOp>({n.mul(x, alpha)})));
}
void thresholdedRelu(Node &n) {
  Value x = n.in(0);
  Value above = n.compare(ir::ComparePredicate::gt, x, n.scalar(n.realAttr("alpha", 1), Emit::elem(x)));
  n.out(n.select(above, x, n.scalar(0, Emit::elem(x))));
}
void shrink(Node &n) {
  Value x = n.in(0);
  mlir::Type type = Emit::elem(x);
  double bias = n.realAttr("bias", 0), lambda = n.realAttr("lambd", 0.5);
  // Constants of an unsigned type cannot hold -lambda; nothing lies below it then.
  Value high = n.compare(ir::ComparePredicate::gt, x, n.scalar(lambda, type));
  Value result = n.select(high, n.op<ir::SubOp>({x, n.scalar(bias, type)}), n.scalar(0, type));
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type); integer && integer.isUnsigned()) return n.out(result);
  Value low = n.compare(ir::ComparePredicate::lt, x, n.scalar(-lambda, type));
  n.out(n.select(low, n.add(x, bias), result));
}
void prelu(Node &n) {
  Value x = n.in(0), slope = n.in(1);
  // Before opset 7 a slope per channel is written as one dimension.
  if (n.opset < 7 && Emit::rank(slope) == 1 && Emit::count(slope) > 1 && Emit::rank(x) > 1) {
    Ints shape(size_t(Emit::rank(x) - 1), 1);
    shape[0] = Emit::count(slope);
    slope = n.reshape(slope, shape);
  }
  slope = n.broadcast(slope, Emit::shape(x));
  Value negative = n.compare(ir::ComparePredicate::lt, x, n.scalar(0, Emit::elem(x)));
  n.out(n.select(negative, n.mul(x, slope), x));
}

} // namespace

void addActivations(Table &t) {
  t.add("Relu", {6, 13, 14}, unary<ir::ReluOp>);
  t.add("Sigmoid", {6, 13}, unary<ir::SigmoidOp>);
  t.add("Softplus", {1, 22}, unary<ir::SoftplusOp>);
  t.add("Softsign", {1, 22}, unary<ir::SoftsignOp>);
  t.add("Mish", {18, 22}, unary<ir::MishOp>);
  t.add("HardSwish", {14, 22}, unary<ir::HardSwishOp>);
  t.add("LeakyRelu", {6, 16}, leakyRelu);
  t.add("Elu", {6, 22}, elu);
  t.add("Celu", {12, 28}, celu);
  t.add("Selu", {6, 22}, selu);
  t.add("HardSigmoid", {6, 22}, hardSigmoid);
  t.add("Gelu", {20}, gelu);
  t.add("Swish", {24}, swish);
  t.add("ThresholdedRelu", {10, 22}, thresholdedRelu);
  t.add("Shrink", {9}, shrink);
  t.add("PRelu", {6, 7, 9, 16}, prelu);
}

} // namespace sprig::onnximport
