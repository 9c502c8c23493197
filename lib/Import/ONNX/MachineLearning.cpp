// The simple operators of domain ai.onnx.ml: those that are arithmetic on tensors.
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

constexpr const char *kDomain = "ai.onnx.ml";

void arrayFeatureExtractor(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  n.require(Emit::rank(x) >= 1, "picks features of a scalar");
  indices = n.reshape(indices, {Emit::count(indices)});
  Value picked = n.gather(x, indices, Emit::rank(x) - 1);
  n.out(Emit::rank(x) == 1 ? n.unsqueeze(picked, 0) : picked);
}

void binarizer(Node &n) {
  Value x = n.in(0);
  Value above = n.compare(ir::ComparePredicate::gt, x, n.scalar(n.realAttr("threshold", 0), Emit::elem(x)));
  n.out(n.cast(above, Emit::elem(x)));
}

/// One number for all features, or one for each.
Value perFeature(Node &n, const char *name, Value x, double otherwise) {
  std::vector<double> values = n.realsAttr(name);
  if (values.empty()) return n.scalar(otherwise, n.f32());
  if (values.size() == 1) return n.scalar(values[0], n.f32());
  int64_t features = Emit::rank(x) > 0 ? Emit::shape(x).back() : 1;
  n.require(int64_t(values.size()) == features, "has " + std::to_string(values.size()) + " values in '" + name +
                                                    "' for " + std::to_string(features) + " features");
  return n.constant({features}, n.f32(), values);
}

void scaler(Node &n) {
  Value x = n.cast(n.in(0), n.f32());
  n.out(n.mul(n.sub(x, perFeature(n, "offset", x, 0)), perFeature(n, "scale", x, 1)));
}

} // namespace

void addMachineLearning(Table &t) {
  t.add("ArrayFeatureExtractor", {1}, arrayFeatureExtractor, kDomain);
  t.add("Binarizer", {1}, binarizer, kDomain);
  t.add("Scaler", {1}, scaler, kDomain);
}

} // namespace sprig::onnximport
