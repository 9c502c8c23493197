#include "runtime/format/Types.h"
#include "runtime/load/Verify.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

constexpr int64_t kMost = int64_t(1) << 31; // so that no product of two overflows

Status verifyGrowing(const TensorType &tensor, const Lengths &lengths) {
  for (const GrowingDim &each : tensor.growing) {
    if (each.dim >= tensor.shape.size())
      return badPackage(concat("expected dimensions that grow below ", tensor.shape.size(), ", found ", each.dim));
    if (std::count_if(tensor.growing.begin(), tensor.growing.end(),
                      [&](const GrowingDim &other) { return other.dim == each.dim; }) > 1)
      return badPackage(concat("dimension ", each.dim, " grows twice"));
    bool isModest = each.multiple >= 1 && each.multiple <= kMost && each.divisor >= 1 && each.divisor <= kMost &&
                    each.add >= -kMost && each.add <= kMost && each.multiple * lengths.first + each.add >= 0;
    if (!isModest || each.at(lengths.last) != tensor.shape[each.dim])
      return badPackage(concat("dimension ", each.dim, " of ", tensor.shape[each.dim], " elements is not (",
                               each.multiple, " t + ", each.add, ") / ", each.divisor, " at ", lengths.last));
  }
  return {};
}

} // namespace

Status verifyLengths(const Entry &entry) {
  if (!entry.lengths) {
    for (const std::vector<TensorType> *ports : {&entry.inputs, &entry.outputs})
      for (const TensorType &tensor : *ports)
        if (!tensor.growing.empty())
          return badPackage(concat("'", tensor.name, "' has dimensions that grow, and the entry no lengths"));
    return {};
  }
  const Lengths &lengths = *entry.lengths;
  if (lengths.axis.empty() || lengths.first < 1 || lengths.last < lengths.first || lengths.last > kMost)
    return badPackage(concat("expected lengths of an axis with a name, from 1 to ", kMost, ", found ", lengths.first,
                             " to ", lengths.last, " of '", lengths.axis, "'"));
  auto isLength = [](const TensorType &tensor) {
    return tensor.shape.empty() && tensor.dtype == SPRIG_RT_I64 && tensor.growing.empty();
  };
  if (entry.inputs.empty() || !isLength(entry.inputs.back()))
    return badPackage("takes several lengths, and has no last input for the length");
  if (entry.ranks > 1 || entry.independentSamples)
    return badPackage("takes several lengths, and is of several ranks or has independent samples");
  bool tells = false;
  for (const std::vector<TensorType> *ports : {&entry.inputs, &entry.outputs})
    for (const TensorType &tensor : *ports) {
      SPRIG_RETURN_IF_ERROR(verifyGrowing(tensor, lengths), concat("'", tensor.name, "'"));
      if (ports == &entry.inputs)
        for (const GrowingDim &each : tensor.growing) tells |= each.divisor == 1;
    }
  return tells ? Status() : badPackage("takes several lengths, of which no input's shape tells");
}

} // namespace sprig::rt::core
