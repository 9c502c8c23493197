#include "lib/Frontend/Engine/TraceCheck.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace sprig::frontend {

namespace {

std::string textOf(const Attr &attr) {
  switch (attr.kind) {
  case Attr::Kind::unit: return "set";
  case Attr::Kind::boolean: return attr.integer ? "true" : "false";
  case Attr::Kind::integer: return std::to_string(attr.integer);
  case Attr::Kind::real: return realText(attr.real);
  case Attr::Kind::integers: return describe(attr.integers);
  case Attr::Kind::word: {
    const char *space = std::strchr(attr.text, ' '); // "reduce_kind sum"
    return space ? space + 1 : attr.text;
  }
  case Attr::Kind::other: return attr.text;
  }
  return "?";
}

std::string textOf(const GraphNode &constant, const TensorType &type) {
  return Tensor::copyOf(constant.constant->data(), {type.dtype, {}}).text(Source());
}

std::string nameOf(const GraphNode &node) { return node.op->text.substr(node.op->text.find('.') + 1); }
std::string lineOf(const GraphNode &node) {
  return node.source.line ? " (" + std::string(node.source.file) + ":" + std::to_string(node.source.line) + ")" : "";
}

/// What the user wrote of a graph, in order: neither constants nor copies that only mark where gradients end.
class Steps {
public:
  struct Origin {
    enum class Kind { input, constant, result } kind = Kind::input;
    uint32_t number = 0, result = 0; ///< of the input or the step, and which of its results
    const GraphNode *constant = nullptr;
    const TensorType *type = nullptr;
  };
  std::vector<const GraphNode *> nodes;
  std::vector<Origin> origins; ///< of all values

  explicit Steps(const Graph &graph) : graph(graph) {
    using Kind = Origin::Kind;
    for (uint32_t i = 0; i < graph.inputCount; ++i) origins.push_back({Kind::input, i, 0, nullptr, &graph.types[i]});
    static const OpName *const reshape = &opName("nn.reshape");
    for (const GraphNode &node : graph.nodes) {
      const TensorType &type = graph.types[node.firstResult];
      if (node.constant) {
        origins.push_back({Kind::constant, 0, 0, &node, &type});
        continue;
      }
      if (node.op == reshape && graph.types[node.operands[0]] == type) {
        origins.push_back(origins[node.operands[0]]);
        continue;
      }
      for (uint32_t r = 0; r < node.resultCount; ++r)
        origins.push_back({Kind::result, uint32_t(nodes.size()), r, nullptr, &graph.types[node.firstResult + r]});
      nodes.push_back(&node);
    }
  }
  const TensorType &typeOf(const GraphNode &node, uint32_t result) const {
    return graph.types[node.firstResult + result];
  }

private:
  const Graph &graph;
};

class Comparison {
public:
  Comparison(const Variant &was, const Variant &now) : was(was), now(now) {}

  struct Difference {
    Source at;
    std::string op; ///< and layer, as errors have them; empty for the function as a whole
    std::string text;
  };
  std::optional<Difference> find() {
    if (auto found = compare(was.graph, now.graph, true)) return found;
    // What it sets: parameters by their slots, gradients by their links.
    auto differs = [](const std::string &what, bool isSet) {
      return Difference{
          {}, "", (isSet ? "sets " : "does not set ") + what + ", recorded was that it does" + (isSet ? " not" : "")};
    };
    for (size_t i = 0; i < std::max(was.slots.size(), now.slots.size()); ++i) {
      auto sets = [&](const Variant &v) { return i < v.slots.size() && v.slots[i].output >= 0; };
      if (sets(was) != sets(now))
        return differs("parameter '" + (sets(was) ? was : now).slots[i].name + "'", sets(now));
    }
    for (size_t i = 0; i < std::max(was.gradients.size(), now.gradients.size()); ++i) {
      auto sets = [&](const Variant &v) { return i < v.gradients.size() && v.gradients[i].isSet; };
      if (sets(was) != sets(now))
        return differs("the gradient of parameter '" + (sets(was) ? was : now).gradients[i].parameter.name() + "'",
                       sets(now));
    }
    return std::nullopt;
  }

private:
  using Kind = Steps::Origin::Kind;

  /// Regions and the whole function alike; inputs of regions are compared by number, as their captures are operands.
  std::optional<Difference> compare(const Graph &a, const Graph &b, bool isWhole) {
    Steps old(a), fresh(b);
    for (size_t i = 0; i < std::min(old.nodes.size(), fresh.nodes.size()); ++i) {
      const GraphNode &x = *old.nodes[i], &y = *fresh.nodes[i];
      auto differs = [&](std::string text) {
        return Difference{y.source, placeText({}, y.op->text, y.layer), std::move(text)};
      };
      if (x.op != y.op) return differs("is recorded, where it was " + nameOf(x) + lineOf(x));
      if (auto text = compareAttrs(x.attrs, y.attrs); !text.empty()) return differs(text);
      for (size_t k = 0; k < std::min(x.operands.size(), y.operands.size()); ++k)
        if (auto text = compareOperands(old, x.operands[k], fresh, y.operands[k], isWhole); !text.empty())
          return differs(text);
      if (x.operands.size() != y.operands.size())
        return differs("takes " + std::to_string(y.operands.size()) + " tensors, recorded were " +
                       std::to_string(x.operands.size()));
      for (size_t k = 0; k < std::min(x.regions.size(), y.regions.size()); ++k)
        if (auto found = compare(*x.regions[k], *y.regions[k], false)) return found;
      for (uint32_t r = 0; r < std::min(x.resultCount, y.resultCount); ++r)
        if (const TensorType &s = old.typeOf(x, r), &t = fresh.typeOf(y, r); !(s == t))
          return differs("gives " + describe(t) + ", recorded was " + describe(s));
    }
    if (old.nodes.size() != fresh.nodes.size()) {
      bool isMore = fresh.nodes.size() > old.nodes.size();
      const GraphNode &first = isMore ? *fresh.nodes[old.nodes.size()] : *old.nodes[fresh.nodes.size()];
      return Difference{first.source, placeText({}, first.op->text, first.layer),
                        std::string(isMore ? "is recorded in addition" : "is missing") + ": " +
                            std::to_string(fresh.nodes.size()) + " operations, recorded were " +
                            std::to_string(old.nodes.size())};
    }
    size_t results = isWhole ? now.results.size() : b.outputs.size();
    if (a.outputs.size() != b.outputs.size() || (isWhole && was.results.size() != results))
      return Difference{{},
                        "",
                        "gives " + std::to_string(results) + " tensors, recorded were " +
                            std::to_string(isWhole ? was.results.size() : a.outputs.size())};
    for (size_t i = 0; i < b.outputs.size(); ++i)
      if (auto text = compareOperands(old, a.outputs[i], fresh, b.outputs[i], isWhole); !text.empty())
        return Difference{{}, "", nameOfOutput(i) + " " + text};
    return std::nullopt;
  }

  std::string nameOfOutput(size_t output) const {
    for (const Variant::GradientLink &link : now.gradients)
      if (link.output == int32_t(output)) return "the gradient of parameter '" + link.parameter.name() + "'";
    for (const StateSlot &slot : now.slots)
      if (slot.output == int32_t(output)) return "the next value of parameter '" + slot.name + "'";
    return "result " + std::to_string(output);
  }

  static std::string compareAttrs(const AttrList &a, const AttrList &b) {
    for (const Attr &y : b) {
      const Attr *x = frontend::find(a, y.name);
      if (!x) return std::string(y.name) + " is " + textOf(y) + ", recorded was none";
      if (!(*x == y)) return std::string(y.name) + " is " + textOf(y) + ", recorded was " + textOf(*x);
    }
    for (const Attr &x : a)
      if (!frontend::find(b, x.name)) return std::string(x.name) + " is not given, recorded was " + textOf(x);
    return "";
  }

  std::string compareOperands(const Steps &a, uint32_t i, const Steps &b, uint32_t k, bool isWhole) {
    const Steps::Origin &x = a.origins[i], &y = b.origins[k];
    if (x.kind == Kind::constant && y.kind == Kind::constant) {
      if (*x.constant->constant == *y.constant->constant && *x.type == *y.type) return "";
      return "uses the number " + textOf(*y.constant, *y.type) + ", recorded was " + textOf(*x.constant, *x.type) +
             (x.type->dtype == y.type->dtype ? "" : std::string(" of ") + name(x.type->dtype));
    }
    if (x.kind == Kind::input && y.kind == Kind::input && isWhole) return compareInputs(x.number, y.number);
    if (x.kind == y.kind && x.number == y.number && x.result == y.result) return "";
    return "uses " + describe(y, b, isWhole ? &now : nullptr) + ", recorded was " +
           describe(x, a, isWhole ? &was : nullptr);
  }

  /// `variant`: null for a region.
  static std::string describe(const Steps::Origin &origin, const Steps &steps, const Variant *variant) {
    switch (origin.kind) {
    case Kind::constant: return "the number " + textOf(*origin.constant, *origin.type);
    case Kind::result: {
      const GraphNode &node = *steps.nodes[origin.number];
      return "what " + nameOf(node) + lineOf(node) + " gives";
    }
    case Kind::input:
      if (!variant) return "tensor " + std::to_string(origin.number) + " of the region, " + describe(*origin.type);
      return describe(*variant, sourceOf(*variant, origin.number), *origin.type);
    }
    return "?";
  }
  static std::string describe(const TensorType &type) { return sprig::describe(type); }

  /// Where an input of the whole function comes from.
  struct InputSource {
    const Variant::Feed *feed = nullptr;
    const Parameter *parameter = nullptr;
    const StateSlot *slot = nullptr;
  };
  static InputSource sourceOf(const Variant &variant, uint32_t input) {
    for (size_t s = 0; s < variant.slots.size(); ++s)
      if (uint32_t(variant.slots[s].input) == input) return {nullptr, &variant.parameters[s], &variant.slots[s]};
    uint32_t states = 0;
    for (const StateSlot &slot : variant.slots) states += uint32_t(slot.input) < input;
    return {&variant.feeds[input - states], nullptr, nullptr};
  }
  static std::string describe(const Variant &variant, const InputSource &source, const TensorType &type) {
    if (source.slot) return "parameter '" + source.slot->name + "'";
    switch (source.feed->kind) {
    case Variant::Feed::Kind::argument: return "tensor " + std::to_string(source.feed->index) + " of the arguments";
    case Variant::Feed::Kind::gradient:
      return "the gradient of parameter '" + variant.gradients[source.feed->index].parameter.name() + "'";
    case Variant::Feed::Kind::captured: return "a tensor " + describe(type) + " of outside";
    default: return "the random sequence";
    }
  }

  std::string compareInputs(uint32_t i, uint32_t k) {
    InputSource x = sourceOf(was, i), y = sourceOf(now, k);
    const TensorType &s = was.graph.types[i], &t = now.graph.types[k];
    if (x.slot && y.slot) {
      if (x.parameter->same(*y.parameter)) return "";
      bool isNamed = x.slot->name != y.slot->name;
      return "uses " + std::string(isNamed ? "" : "another ") + describe(now, y, t) + ", recorded was " +
             (isNamed ? describe(was, x, s) : "one of the same name that is not it");
    }
    using Feed = Variant::Feed::Kind;
    if (x.feed && y.feed && x.feed->kind == y.feed->kind && x.feed->index == y.feed->index)
      return x.feed->kind == Feed::captured ? compareTensors(x.feed->value, y.feed->value) : "";
    return "uses " + describe(now, y, t) + ", recorded was " + describe(was, x, s);
  }

  /// By content: a tensor that the function makes itself is another one at each recording.
  static std::string compareTensors(const Tensor &x, const Tensor &y) {
    if (x.raw() == y.raw()) return "";
    const TensorType &type = y.type();
    if (!(x.type() == type))
      return "uses a tensor " + describe(type) + " of outside, recorded was " + describe(x.type());
    const char *old = static_cast<const char *>(x.bytes(Source())),
               *fresh = static_cast<const char *>(y.bytes(Source()));
    auto width = size(type.dtype);
    if (std::memcmp(old, fresh, size_t(type.bytes())) == 0) return "";
    int64_t at = 0;
    while (std::memcmp(old + at * width, fresh + at * width, size_t(width)) == 0) ++at;
    auto element = [&](const char *data) { return Tensor::copyOf(data + at * width, {type.dtype, {}}).text(Source()); };
    return "uses a tensor " + describe(type) + " of outside, whose element " + std::to_string(at) + " is " +
           element(fresh) + ", recorded was " + element(old);
  }

  const Variant &was, &now;
};

} // namespace

std::shared_ptr<Variant> recordAgain(const Variant &variant, const Variant::Body &body,
                                     std::span<const Tensor> arguments, const std::string &where) {
  try {
    auto again = Variant::record(variant.inputs, body, variant.name, variant.source, arguments);
    again->host = variant.host;
    return again;
  } catch (const Error &error) {
    throw Error(error.kind(), std::string(error.what()) + "\nnote: " + where +
                                  " is recorded once more, to see whether what it captured has changed");
  }
}

std::optional<std::string> changeBetween(const Variant &was, const Variant &now) {
  auto found = Comparison(was, now).find();
  if (!found) return std::nullopt;
  return placeText(found->at) + (found->op.empty() ? "" : found->op + ": ") + found->text;
}

void checkTrace(const Variant &variant, const Variant::Body &body, std::span<const Tensor> arguments,
                const std::string &where) {
  if (auto change = changeBetween(variant, *recordAgain(variant, body, arguments, where)))
    badUse(*change + "\nnote: " + where +
           " is compiled, and keeps what it captured as constants; make that an argument (a "
           "Tensor is data, a number compiles anew) or a Parameter");
}

} // namespace sprig::frontend
