// How layers print their settings, and how they hand the caller's line on.
// For the implementation of layers.
#pragma once
#include "lib/Frontend/Record.h"
#include "sprig/nn/module.h"
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace sprig::nn {

/// What is recorded while it lives belongs to the layer; one without a path leaves it to the module around it.
class InLayer {
public:
  explicit InLayer(const std::string *path) {
    if (path) scope.emplace(path);
  }

private:
  std::optional<frontend::LayerScope> scope;
};

/// A tensor that a layer made, with the line that called the layer.
inline Operand with(const Tensor &tensor, const Operand &caller) { return Operand(tensor, caller.at); }
/// A parameter, or none where the layer has none.
inline Operand with(const Parameter &parameter, const Operand &caller) {
  return parameter.defined() ? Operand(parameter.value(), caller.at) : Operand();
}
/// The weight of a layer that has a norm in its place; and the weight's shape, of none where there is no weight.
std::optional<Tensor> computedWeight(const Module &layer, Source at);
Shape weightShape(const Parameter &weight, const Module &layer);
/// A parameter that the layer must have, or its weight as its norm makes it: a layer that was made without sizes has
/// neither.
inline Operand need(const Parameter &parameter, const Module &layer, const Operand &caller) {
  if (parameter.defined()) return with(parameter, caller);
  std::optional<Tensor> weight = computedWeight(layer, caller.at);
  if (!weight) frontend::fail(caller.at, layer.typeName(), "the layer was made without sizes");
  return with(*weight, caller);
}

/// Whether an optional tensor is not given; a number in its place is an error of the caller's.
inline bool isNone(const Operand &given, const Operand &caller, const std::string &layer, const char *what) {
  if (given.kind != Operand::Kind::tensor)
    frontend::fail(caller.at, layer, std::string("takes a tensor as ") + what + ", got a number");
  return !given.tensor.defined();
}

/// The input of a layer as its quantiser makes it; as it is where it has none.
Operand quantizedInput(const Module &layer, const Operand &x);

/// A parameter that the layer has, or may get later.
inline Parameter addOptional(Module &layer, bool has, const std::string &name, const Shape &shape, Initializer start,
                             Source at) {
  return has ? layer.addParameter(name, shape, std::move(start), at) : layer.reserveParameter(name, at);
}

/// "(3, 3)", and "(3,)" of one.
inline std::string tupleText(const Shape &values) {
  std::string text = "(";
  for (int i = 0; i < values.rank(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + (values.rank() == 1 ? ",)" : ")");
}
/// One number as itself, several as a tuple.
inline std::string intsText(const Shape &values) {
  return values.rank() == 1 ? std::to_string(values[0]) : tupleText(values);
}
inline std::string boolText(bool value) { return value ? "True" : "False"; }
using frontend::realText;
/// One number for all axes, or one for each; anything else is an error.
inline Shape perAxis(const Ints &values, int axes, const char *layer, const char *what, Source at) {
  if (values.rank() == axes) return values;
  if (values.rank() == 1) {
    Shape all;
    for (int i = 0; i < axes; ++i) all.push_back(values[0]);
    return all;
  }
  frontend::fail(at, layer,
                 std::string(what) + " has " + std::to_string(values.rank()) + " numbers for " + std::to_string(axes) +
                     " axes");
}
/// Throws where a size is below 1.
inline void needPositive(int64_t value, const char *layer, const char *what, Source at) {
  if (value < 1)
    frontend::fail(at, layer, std::string(what) + " is " + std::to_string(value) + ", it must be at least 1");
}

} // namespace sprig::nn
