#include "lib/Frontend/Generic/Scratch.h"
#include <vector>

namespace sprig::frontend::generic {

bool throughF32(const Call &call, const std::function<bool(const Call &wide)> &run) {
  std::vector<std::unique_ptr<Scratch<float>>> memory;
  std::vector<TensorType> types;
  std::vector<ArrayRef> arrays;
  types.reserve(call.operands.size() + call.results.size());
  auto widen = [&](const ArrayRef &array) {
    if (!isHalf(array.type->dtype)) return array;
    memory.push_back(std::make_unique<Scratch<float>>(array.type->elements()));
    types.push_back({DType::f32, array.type->shape});
    return ArrayRef{memory.back()->data(), &types.back()};
  };
  for (const ArrayRef &operand : call.operands) {
    arrays.push_back(widen(operand));
    if (arrays.back().data != operand.data && !runCast({call.node, {&operand, 1}, {&arrays.back(), 1}}, 0))
      return false;
  }
  for (const ArrayRef &result : call.results) arrays.push_back(widen(result));
  std::span<const ArrayRef> all(arrays), operands = all.first(call.operands.size()),
                                         results = all.subspan(call.operands.size());
  if (!run({call.node, operands, results})) return false;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].data != call.results[i].data && !runCast({call.node, {&results[i], 1}, {&call.results[i], 1}}, 0))
      return false;
  return true;
}

} // namespace sprig::frontend::generic
