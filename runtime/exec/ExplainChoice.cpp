#include "runtime/exec/ExplainChoice.h"

#include "runtime/exec/Choose.h"
#include "runtime/format/Types.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

bool isOf(const TensorType &type, const sprig_rt_tensor &tensor) {
  return type.dtype == tensor.dtype && std::ranges::equal(type.shape, shapeOf(tensor));
}

// "1x3..16x8xf32": of one that grows from 3 to 16.
std::string typeText(const TensorType &type, const std::optional<Lengths> &lengths) {
  if (type.growing.empty()) return shapeText(type.shape, type.dtype);
  std::string text;
  for (size_t axis = 0; axis < type.shape.size(); ++axis) {
    int64_t shortest = type.sizeAt(axis, lengths->first);
    if (shortest != type.shape[axis]) text += std::to_string(shortest) + "..";
    text += std::to_string(type.shape[axis]) + "x";
  }
  return text + dtypeName(type.dtype);
}

std::string signature(std::span<const TensorType> tensors, const Entry &entry) {
  std::string text;
  for (const TensorType &tensor : tensors)
    text += concat(text.empty() ? "" : ", ", "'", tensor.name, "' ", typeText(tensor, entry.lengths));
  return "(" + text + ")";
}

Status explainMismatch(const Entry &entry, const char *what, std::span<const TensorType> want,
                       std::span<const sprig_rt_tensor> got, const Choice &choice) {
  if (want.size() != got.size())
    return {SPRIG_RT_BAD_INPUT, concat("entry '", entry.name, "': expected ", want.size(), " ", what,
                                       want.size() == 1 ? " " : "s ", signature(want, entry), ", got ", got.size())};
  for (size_t i = 0; i < got.size(); ++i) {
    TensorType at = want[i];
    for (size_t axis = 0; axis < at.shape.size(); ++axis) at.shape[axis] = choice.sizeOf(want[i], axis);
    if (!isOf(at, got[i]))
      return {SPRIG_RT_BAD_INPUT,
              concat(what, " ", i, " '", at.name, "': expected ",
                     choice.exact ? typeText(want[i], entry.lengths) : shapeText(at.shape, at.dtype), ", got ",
                     shapeText(shapeOf(got[i]), got[i].dtype))};
  }
  return {};
}

// Of an entry that takes several lengths: which of its bounds is missed, or which input does not go with the others.
Status explainLengths(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  const Lengths &lengths = *entry.lengths;
  int64_t length = entry.given().size() == inputs.size() ? lengthOf(entry, inputs) : 0;
  if (length >= lengths.first && length <= lengths.last)
    return explainMismatch(entry, "input", entry.given(), inputs, {.exact = false, .length = length});
  if (entry.given().size() != inputs.size()) return explainMismatch(entry, "input", entry.given(), inputs, {});
  return {SPRIG_RT_BAD_INPUT, concat("entry '", entry.name, "' takes ", lengths.first, " to ", lengths.last, " of '",
                                     lengths.axis, "' ", signature(entry.given(), entry), ", got ", length)};
}

} // namespace

Status explainInputs(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  return entry.lengths ? explainLengths(entry, inputs) : explainMismatch(entry, "input", entry.inputs, inputs, {});
}

Status explainNoEntry(const Program &program, std::span<const sprig_rt_tensor> inputs) {
  if (program.entries.size() == 1) return explainInputs(program.entries[0], inputs);
  std::string got, have;
  for (const sprig_rt_tensor &input : inputs)
    got += concat(got.empty() ? "" : ", ", shapeText(shapeOf(input), input.dtype));
  for (const Entry &entry : program.entries)
    have += concat(have.empty() ? "" : "; ", entry.name, " ", signature(entry.given(), entry));
  return {SPRIG_RT_BAD_INPUT, concat("no entry takes inputs (", got, "); there is ", have.empty() ? "none" : have)};
}

Status explainOutputs(const Entry &entry, const Choice &choice, std::span<const sprig_rt_tensor> outputs) {
  return explainMismatch(entry, "output", entry.outputs, outputs, choice);
}

} // namespace sprig::rt::core
