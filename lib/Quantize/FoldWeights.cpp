#include "lib/Quantize/FoldWeights.h"
#include "lib/Quantize/Quantizer.h"

namespace sprig::quantize {
namespace {

class Fold {
public:
  explicit Fold(Graph &graph) : graph(graph) {}

  int run() {
    int count = 0;
    for (int i = 0; i < graph.nodes(); ++i)
      if (is(graph.node(i), "QuantizeLinear")) count += foldOrRefuse(i);
    graph.index();
    graph.prune();
    return count;
  }

private:
  /// The node that makes an operand, where it is such a one.
  const onnx::NodeProto *makerOf(const std::string &value, const char *op) const {
    int i = graph.maker(value);
    return i >= 0 && is(graph.node(i), op) ? &graph.node(i) : nullptr;
  }

  /// What the largest numbers of `weight` are divided by for the scale (see writeStatic); 0: it is made otherwise.
  int mostOf(const std::string &weight, const std::string &scale) const {
    const onnx::NodeProto *least = makerOf(scale, "Max");
    const onnx::NodeProto *step = least && least->input_size() == 2 ? makerOf(least->input(0), "Div") : nullptr;
    const onnx::NodeProto *largest = step ? makerOf(step->input(0), "ReduceMax") : nullptr;
    const onnx::NodeProto *size = largest ? makerOf(largest->input(0), "Abs") : nullptr;
    if (!size || size->input(0) != weight) return 0;
    auto most = graph.floats(step->input(1));
    return most && most->values.size() == 1 ? int(most->values[0]) : 0;
  }

  bool fold(int i) {
    onnx::NodeProto quantize = graph.node(i);
    std::string weight = quantize.input(0), narrow = quantize.output(0);
    auto values = graph.floats(weight);
    int most = values ? mostOf(weight, quantize.input(1)) : 0;
    int64_t axis = integer(quantize, "axis", -1);
    if (most < 1 || most > 127 || axis >= int64_t(values->shape.size())) return false;
    for (int reader : graph.readers(narrow))
      if (!is(graph.node(reader), "DequantizeLinear")) return false;
    QuantizedWeight made = quantizeWeight(values->shape, values->values, int(axis), {}, most);
    std::vector<int64_t> shape;
    if (axis >= 0) shape = {int64_t(made.scales.size())};
    std::string integers =
        graph.add(narrow, onnx::TensorProto::INT8, values->shape, made.values.data(), made.values.size());
    std::string scale = graph.add(quantize.input(1), Floats{shape, made.scales});
    for (int reader : graph.readers(narrow)) {
      graph.node(reader).set_input(0, integers);
      graph.node(reader).set_input(1, scale);
    }
    return true;
  }

  /// Constants that are quantised as activations are have calibrated scales, and stay.
  bool foldOrRefuse(int i) {
    if (fold(i)) return true;
    const onnx::NodeProto &quantize = graph.node(i);
    if (graph.maker(quantize.input(1)) >= 0 && graph.floats(quantize.input(0)))
      badInput("weight '" + quantize.input(0) + "': its quantiser '" + quantize.name() +
               "' is not by a scale of its own largest numbers, so it cannot be written as integers");
    return false;
  }

  Graph &graph;
};

} // namespace

int foldWeights(Graph &graph) { return Fold(graph).run(); }

} // namespace sprig::quantize
