#include "lib/Quantize/Prepare.h"
#include "lib/Quantize/Plan.h"
#include <cmath>

namespace sprig::quantize {
namespace {

/// Puts a value's constant in its place, under its name.
void makeConstant(Graph &graph, const std::string &value, const onnx::TensorProto &tensor) {
  onnx::TensorProto copy = tensor;
  copy.set_name(value);
  *graph.graph().add_initializer() = std::move(copy);
}

void makeConstant(Graph &graph, const std::string &value, const Floats &floats) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t n : floats.shape) tensor.add_dims(n);
  tensor.set_raw_data(floats.values.data(), floats.values.size() * sizeof(float));
  makeConstant(graph, value, tensor);
}

Floats transposed(const Floats &matrix) {
  int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  Floats result{{columns, rows}, std::vector<float>(matrix.values.size())};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) result.values[size_t(j * rows + i)] = matrix.values[size_t(i * columns + j)];
  return result;
}

/// Whether a transpose of a matrix swaps its axes.
bool isReversal(const onnx::NodeProto &transpose) {
  const auto *perm = attribute(transpose, "perm");
  return !perm || (perm->ints_size() == 2 && perm->ints(0) == 1);
}

bool isIdentity(const onnx::NodeProto &node) {
  if (is(node, "Identity")) return true;
  // A mask that is read, or training mode, makes it more.
  return is(node, "Dropout") && node.input_size() < 3 && (node.output_size() < 2 || node.output(1).empty());
}

/// Activations that keep the order of numbers and read constants alone beside them, so that they can go anywhere.
bool keepsOrder(const Graph &graph, const onnx::NodeProto &node) {
  if (is(node, "Relu")) return true;
  if (!is(node, "Clip")) return false;
  for (int k = 1; k < node.input_size(); ++k)
    if (!node.input(k).empty() && !graph.constant(node.input(k))) return false;
  return true;
}

/// Scale and shift of each channel by which a batch norm acts at inference.
struct Affine {
  std::vector<float> scale, shift;
};

std::optional<Affine> affineOf(const Graph &graph, const onnx::NodeProto &norm) {
  if (!is(norm, "BatchNormalization") || norm.input_size() < 5 || integer(norm, "training_mode", 0) != 0)
    return std::nullopt;
  std::optional<Floats> parts[4];
  for (int i = 0; i < 4; ++i) {
    parts[i] = graph.floats(norm.input(i + 1));
    if (!parts[i] || parts[i]->values.size() != parts[0]->values.size()) return std::nullopt;
  }
  double epsilon = real(norm, "epsilon", 1e-5f);
  Affine result;
  for (size_t c = 0; c < parts[0]->values.size(); ++c) {
    double scale = parts[0]->values[c] / std::sqrt(double(parts[3]->values[c]) + epsilon);
    result.scale.push_back(float(scale));
    result.shift.push_back(float(parts[1]->values[c] - double(parts[2]->values[c]) * scale));
  }
  return result;
}

/// Whether a norm's numbers could be multiplied into the product that makes its operand; then they are.
bool fold(Graph &graph, int product, const Affine &affine) {
  onnx::NodeProto &node = graph.node(product);
  // A MatMul has no operand for the shift.
  if (node.input_size() < 2 || is(node, "MatMul")) return false;
  if (is(node, "Gemm") && (real(node, "alpha", 1) != 1 || real(node, "beta", 1) != 1)) return false;
  std::optional<Floats> weight = graph.floats(node.input(1)), bias;
  int axis = weight ? outputAxis(node, weight->shape.size()) : -1;
  bool hasBias = node.input_size() > 2 && !node.input(2).empty();
  if (hasBias) bias = graph.floats(node.input(2));
  size_t channels = affine.scale.size();
  if (axis < 0 || size_t(weight->shape[size_t(axis)]) != channels) return false;
  if (hasBias && !(bias && isRowOf(bias->shape, int64_t(channels)))) return false;
  size_t inner = 1;
  for (size_t i = size_t(axis) + 1; i < weight->shape.size(); ++i) inner *= size_t(weight->shape[i]);
  for (size_t i = 0; i < weight->values.size(); ++i) weight->values[i] *= affine.scale[i / inner % channels];
  if (!bias) bias = Floats{{int64_t(channels)}, std::vector<float>(channels)};
  bias->shape = {int64_t(channels)};
  for (size_t c = 0; c < channels; ++c) bias->values[c] = bias->values[c] * affine.scale[c] + affine.shift[c];
  std::string base = graph.label(product);
  node.set_input(1, graph.add(base + "_folded_weight", *weight));
  if (hasBias)
    node.set_input(2, graph.add(base + "_folded_bias", *bias));
  else
    while (node.input_size() < 3) node.add_input(graph.add(base + "_folded_bias", *bias));
  return true;
}

} // namespace

void dropIdentities(Graph &graph) {
  Nodes left;
  for (int i = 0; i < graph.nodes(); ++i) {
    const onnx::NodeProto node = graph.node(i);
    const onnx::TensorProto *constant = node.input_size() ? graph.constant(node.input(0)) : nullptr;
    bool isKept = node.output_size() == 0 || graph.isKept(node.output(0));
    if (isIdentity(node) && !isKept) {
      if (constant)
        makeConstant(graph, node.output(0), *constant);
      else
        graph.redirect(node.output(0), node.input(0));
    } else if (is(node, "Transpose") && constant && constant->dims_size() == 2 && !isKept &&
               graph.floats(node.input(0)) && isReversal(node)) {
      makeConstant(graph, node.output(0), transposed(*graph.floats(node.input(0))));
    } else {
      left.push_back(node);
      continue;
    }
    graph.index(); // chains of them
  }
  // Nodes behind those that are gone read others now.
  Nodes current;
  std::set<std::string> results;
  for (const auto &node : left) results.insert(node.output_size() ? node.output(0) : "");
  for (int i = 0; i < graph.nodes(); ++i)
    if (results.count(graph.node(i).output_size() ? graph.node(i).output(0) : "")) current.push_back(graph.node(i));
  graph.replaceNodes(std::move(current));
}

int foldNorms(Graph &graph) {
  int folded = 0;
  std::set<int> gone;
  for (int i = 0; i < graph.nodes(); ++i) {
    std::optional<Affine> affine = affineOf(graph, graph.node(i));
    if (!affine) continue;
    std::string from = graph.node(i).input(0), to = graph.node(i).output(0);
    int product = graph.maker(from);
    if (product < 0 || graph.onlyReader(from) != i || !fold(graph, product, *affine)) continue;
    graph.node(product).set_output(0, to);
    gone.insert(i);
    ++folded;
  }
  Nodes left;
  for (int i = 0; i < graph.nodes(); ++i)
    if (!gone.count(i)) left.push_back(graph.node(i));
  graph.replaceNodes(std::move(left));
  return folded;
}

void activateBeforePools(Graph &graph) {
  for (int i = 0; i < graph.nodes(); ++i) {
    onnx::NodeProto &pool = graph.node(i);
    if (!is(pool, "MaxPool") || pool.output_size() != 1) continue;
    int next = graph.onlyReader(pool.output(0));
    if (next < 0 || !keepsOrder(graph, graph.node(next))) continue;
    onnx::NodeProto &activation = graph.node(next);
    std::string x = pool.input(0), y = activation.output(0), between = pool.output(0);
    activation.set_input(0, x);
    activation.set_output(0, between);
    pool.set_input(0, between);
    pool.set_output(0, y);
    pool.Swap(&activation);
    graph.index();
  }
}

void prepare(Graph &graph) {
  upgrade(graph);
  dropIdentities(graph);
  foldNorms(graph);
  activateBeforePools(graph);
  graph.graph().clear_value_info(); // of values that are others now
  graph.prune();
}

} // namespace sprig::quantize
