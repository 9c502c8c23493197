// What of a model is quantised: its products, what carries their tensors on in integers, and where quantisers stand.
// For quantisation. Made from the prepared graph alone; nothing is changed.
#pragma once
#include "lib/Quantize/Graph.h"

namespace sprig::quantize {

/// Where quantisers stand.
enum class Standing {
  /// At operands and results, so that every operator between two of them can run on integers by itself.
  around,
  /// At operands alone: what follows a product (a residual, an activation) reads what it accumulated.
  operands,
};

struct PlanOptions {
  Standing standing = Standing::operands;
  bool computed = false;          ///< matrix products of two computed operands, too
  bool dropActivations = true;    ///< those that a quantiser's range does as well
  std::set<std::string> exclude;  ///< layers by name, as reports call them
  std::set<std::string> notFloat; ///< values that are no f32
};

/// A product: a convolution or a matrix product.
struct Layer {
  int node = -1;
  std::string name; ///< no other layer's: of several nodes of one name the second has "#2" behind it
  std::string input;
  std::string weight; ///< a constant, or what the other operand is where both are computed
  bool isConstant = true;
  int axis = -1;           ///< of the weight's output channels; -1: one scale for all
  std::string bias = {};   ///< a constant with one number for each output, or ""
  int biasNode = -1;       ///< an addition of it that follows the product; -1: an operand of the product
  int activation = -1;     ///< that follows and that a quantiser may do
  std::string output = {}; ///< of all of them
};

/// An operator between products that is quantised too.
struct Carrier {
  int node = -1;
  std::vector<std::string> inputs; ///< those that are quantised
  std::string output;              ///< of its activation, where one follows
  int activation = -1;
  bool moves = false; ///< its results are elements of its operand: they keep scale and zero point
};

struct Plan {
  std::vector<Layer> layers; ///< in the order of the graph
  std::vector<Carrier> carriers;
  /// Tensors that get a quantiser, each with the one whose range it has: itself, or what it is made of.
  std::map<std::string, std::string> tensors;
  /// Activations that go, since the quantiser of their result clips as they do.
  std::set<int> dropped;
  /// Layers that were excluded, by name, and those asked for that there are not.
  std::vector<std::string> excluded, unknown;
};

Plan plan(const Graph &graph, const PlanOptions &options);

/// Throws badInput, and names layer and weight, where a layer's weight has numbers that are not finite.
void requireFinite(const Graph &graph, const Plan &plan);

/// The axis of a product's weight that counts its outputs; -1: none does, the operator takes no weight of this rank, or
/// it is no product.
int outputAxis(const onnx::NodeProto &node, size_t rank);
/// Whether a bias of this shape has one number for each output of a product: [n], or [1, n].
bool isRowOf(const std::vector<int64_t> &shape, int64_t outputs);

/// Whether quantisers are in the model already: the first such node, or -1.
int firstQuantised(const Graph &graph);

} // namespace sprig::quantize
