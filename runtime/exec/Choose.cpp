#include "runtime/exec/Choose.h"

#include "runtime/exec/ExplainChoice.h"
#include "runtime/format/Types.h"

#include <algorithm>

namespace sprig::rt::core {

// Longer than any entry takes, so that no difference overflows.
static constexpr int64_t kLongest = int64_t(1) << 40;

int64_t lengthOf(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const GrowingDim &each : entry.inputs[i].growing)
      if (each.divisor == 1 && each.dim < inputs[i].rank)
        return (std::min(inputs[i].shape[each.dim], kLongest) - each.add) / each.multiple;
  return 0;
}

namespace {

bool sameFrom(size_t axis, const TensorType &want, const sprig_rt_tensor &got) {
  return want.dtype == got.dtype && want.shape.size() == got.rank &&
         std::equal(want.shape.begin() + std::ptrdiff_t(std::min<size_t>(axis, got.rank)), want.shape.end(),
                    got.shape + std::min<size_t>(axis, got.rank));
}

bool fits(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  if (entry.inputs.size() != inputs.size() || entry.lengths) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!sameFrom(0, entry.inputs[i], inputs[i])) return false;
  return true;
}

// The length at which the inputs fit an entry that takes several; 0: they do not.
int64_t fittingLength(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  if (!entry.lengths || entry.given().size() != inputs.size()) return 0;
  int64_t length = lengthOf(entry, inputs);
  if (length < entry.lengths->first || length > entry.lengths->last) return 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType &type = entry.inputs[i];
    if (type.dtype != inputs[i].dtype || type.shape.size() != inputs[i].rank) return 0;
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (inputs[i].shape[axis] != type.sizeAt(axis, length)) return 0;
  }
  return length;
}

// Whether the inputs differ from the entry's in the number of samples only, the same number in all.
bool fitsButSamples(const Entry &entry, std::span<const sprig_rt_tensor> inputs) {
  if (!entry.independentSamples || inputs.empty() || entry.inputs.size() != inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].rank == 0 || inputs[i].shape[0] != inputs[0].shape[0] || !sameFrom(1, entry.inputs[i], inputs[i]))
      return false;
  return entry.inputs[0].shape[0] > 0;
}

// Whether two entries do the same for different numbers of samples.
bool sameFamily(const Entry &a, const Entry &b) {
  auto alike = [](const std::vector<TensorType> &left, const std::vector<TensorType> &right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const auto &l, const auto &r) {
      return l.dtype == r.dtype && std::equal(l.shape.begin() + 1, l.shape.end(), r.shape.begin() + 1, r.shape.end());
    });
  };
  return a.independentSamples && b.independentSamples && a.name == b.name && alike(a.inputs, b.inputs) &&
         alike(a.outputs, b.outputs);
}

Status checkTensors(std::span<const sprig_rt_tensor> tensors, const char *what) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const sprig_rt_tensor &tensor = tensors[i];
    if (tensor.rank && !tensor.shape)
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat(what, " ", i, ": expected a shape of ", tensor.rank, " values, got null")};
    if (!dtypeName(tensor.dtype))
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat(what, " ", i, ": expected an element type below ", kDTypeCount, ", got ", tensor.dtype)};
    uint64_t bytes = 0;
    if (!tensorBytes(shapeOf(tensor), tensor.dtype, bytes))
      return {SPRIG_RT_BAD_INPUT, concat(what, " ", i, ": no array is ", shapeText(shapeOf(tensor), tensor.dtype))};
    if (bytes && !tensor.data)
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat(what, " ", i, ": expected data for ", shapeText(shapeOf(tensor), tensor.dtype), ", got null")};
  }
  return {};
}

} // namespace

Status chooseEntry(const Program &program, int32_t entry, std::span<const sprig_rt_tensor> inputs, Choice &choice,
                   int rank) {
  SPRIG_RETURN_IF_ERROR(checkTensors(inputs, "input"));
  bool any = entry == SPRIG_RT_ANY_ENTRY;
  if (!any && (entry < 0 || size_t(entry) >= program.entries.size()))
    return {SPRIG_RT_INVALID_ARGUMENT, concat("expected an entry below ", program.entries.size(), ", got ", entry)};
  uint32_t first = any ? 0 : uint32_t(entry);
  uint32_t end = any ? uint32_t(program.entries.size()) : first + 1;
  auto isOthers = [&](const Entry &each) { return any && rank >= 0 && each.rank >= 0 && each.rank != rank; };
  for (uint32_t i = first; i < end; ++i)
    if (!isOthers(program.entries[i]) && fits(program.entries[i], inputs)) {
      choice = {i};
      return {};
    }
  for (uint32_t i = first; i < end; ++i)
    if (int64_t length = fittingLength(program.entries[i], inputs)) {
      choice = {.entry = i, .exact = false, .length = length};
      return {};
    }
  for (uint32_t i = first; i < end; ++i)
    if (!isOthers(program.entries[i]) && fitsButSamples(program.entries[i], inputs)) {
      choice = {.entry = i, .exact = false, .samples = inputs[0].shape[0]};
      return {};
    }
  return any ? explainNoEntry(program, inputs) : explainInputs(program.entries[first], inputs);
}

uint32_t entryForSamples(const Program &program, uint32_t like, int64_t samples) {
  auto samplesOf = [&](uint32_t entry) { return program.entries[entry].inputs[0].shape[0]; };
  uint32_t best = like;
  for (uint32_t i = 0; i < program.entries.size(); ++i) {
    if (i == like || !sameFamily(program.entries[i], program.entries[like])) continue;
    int64_t candidate = samplesOf(i), current = samplesOf(best);
    bool better = current >= samples ? candidate >= samples && candidate < current : candidate > current;
    if (better) best = i;
  }
  return best;
}

Status checkOutputs(const Entry &entry, const Choice &choice, std::span<const sprig_rt_tensor> outputs) {
  SPRIG_RETURN_IF_ERROR(checkTensors(outputs, "output"));
  auto isRight = [&](size_t i) {
    const TensorType &type = entry.outputs[i];
    if (outputs[i].dtype != type.dtype || outputs[i].rank != type.shape.size()) return false;
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (outputs[i].shape[axis] != choice.sizeOf(type, axis)) return false;
    return true;
  };
  bool same = entry.outputs.size() == outputs.size();
  for (size_t i = 0; same && i < outputs.size(); ++i) same = isRight(i);
  return same ? Status() : explainOutputs(entry, choice, outputs);
}

} // namespace sprig::rt::core
