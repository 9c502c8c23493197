// Joining tensors and taking them apart.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/shape_ops.h"

namespace sprig {

using frontend::Emitter;

namespace {
/// All in their common element type; at least one.
std::vector<Tensor> alike(const Emitter &r, const Operands &tensors) {
  if (tensors.tensors.empty()) r.fail("joins no tensors; it takes one or more");
  DType type = r.typeOf(tensors.tensors[0]).dtype;
  for (const Tensor &each : tensors.tensors)
    if (!frontend::promoteTypes(type, r.typeOf(each).dtype, type))
      r.fail("joins " + describe(tensors.tensors[0].type(r.at)) + " with " + describe(each.type(r.at)) +
             ", which have no common element type; convert one of them with to()");
  std::vector<Tensor> result;
  for (const Tensor &each : tensors.tensors) result.push_back(r.cast(each, type));
  return result;
}

[[noreturn]] void refuse(const Emitter &r, const TensorType &first, const TensorType &other, size_t i, int axis) {
  r.fail("joins " + describe(first) + " with " + describe(other) + " (number " + std::to_string(i) + ") along axis " +
         std::to_string(axis) + "; the other sizes must be equal");
}
} // namespace

Tensor cat(const Operands &tensors, int axis) {
  Emitter r("cat", tensors.at);
  auto parts = alike(r, tensors);
  const TensorType first = parts[0].type(r.at);
  int along = r.axisOf(axis, first);
  for (size_t i = 1; i < parts.size(); ++i) {
    const TensorType &other = parts[i].type(r.at);
    if (other.shape.rank() != first.shape.rank()) refuse(r, first, other, i, along);
    for (int d = 0; d < first.shape.rank(); ++d)
      if (d != along && other.shape[d] != first.shape[d]) refuse(r, first, other, i, along);
  }
  return r.concat(parts, along);
}

Tensor stack(const Operands &tensors, int axis) {
  Emitter r("stack", tensors.at);
  auto parts = alike(r, tensors);
  const TensorType first = parts[0].type(r.at);
  int along = r.axisOf(axis, first, 1);
  if (first.shape.rank() == Shape::kMaxRank) r.fail("takes at most seven axes, got " + describe(first));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].type(r.at).shape != first.shape) refuse(r, first, parts[i].type(r.at), i, along);
    parts[i] = r.unsqueeze(parts[i], along);
  }
  return r.concat(parts, along);
}

std::vector<Tensor> meshgrid(const Operands &tensors, Indexing indexing) {
  Emitter r("meshgrid", tensors.at);
  auto vectors = alike(r, tensors);
  DType own = r.typeOf(tensors.tensors[0]).dtype;
  Shape grid;
  for (size_t i = 0; i < vectors.size(); ++i) {
    const TensorType &type = tensors.tensors[i].type(r.at);
    if (type.shape.rank() > 1) r.fail("takes vectors, got " + describe(type));
    if (type.dtype != own)
      r.fail("takes vectors of one element type, got " + describe(tensors.tensors[0].type(r.at)) + " and " +
             describe(type));
    grid.push_back(type.elements());
  }
  bool exchanges = indexing == Indexing::xy && vectors.size() > 1;
  if (exchanges) std::swap(grid[0], grid[1]);
  std::vector<Tensor> result;
  for (int i = 0; i < grid.rank(); ++i) {
    int axis = exchanges && i < 2 ? 1 - i : i;
    Shape along;
    for (int d = 0; d < grid.rank(); ++d) along.push_back(d == axis ? grid[d] : 1);
    result.push_back(r.broadcastTo(r.reshape(vectors[size_t(i)], along), grid));
  }
  return result;
}

namespace {
std::vector<Tensor> piecesOf(const Emitter &r, const Tensor &x, int along, int64_t size) {
  std::vector<Tensor> parts;
  int64_t length = x.type(r.at).shape[along];
  for (int64_t start = 0; start < length; start += size)
    parts.push_back(r.part(x, along, start, std::min(size, length - start)));
  if (parts.empty()) parts.push_back(x);
  return parts;
}
} // namespace

std::vector<Tensor> split(const Operand &x, int64_t size, int axis) {
  Emitter r("split", x.at);
  Tensor operand = r.tensorOf(x);
  int along = r.axisOf(axis, operand.type(r.at));
  if (size < 1) r.fail("splits " + describe(operand.type(r.at)) + " into parts of " + std::to_string(size));
  return piecesOf(r, operand, along, size);
}

std::vector<Tensor> split(const Operand &x, const std::vector<int64_t> &sizes, int axis) {
  Emitter r("split", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t total = 0;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(total, size, &total))
      r.fail("splits into a part of " + std::to_string(size));
  if (total != type.shape[along])
    r.fail("splits axis " + std::to_string(along) + " of " + describe(type) + " into parts that sum to " +
           std::to_string(total) + ", not " + std::to_string(type.shape[along]));
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    parts.push_back(r.part(operand, along, start, size));
    start += size;
  }
  return parts;
}

std::vector<Tensor> chunk(const Operand &x, int64_t count, int axis) {
  Emitter r("chunk", x.at);
  Tensor operand = r.tensorOf(x);
  int along = r.axisOf(axis, operand.type(r.at));
  if (count < 1) r.fail("splits " + describe(operand.type(r.at)) + " into " + std::to_string(count) + " parts");
  int64_t length = operand.type(r.at).shape[along];
  return piecesOf(r, operand, along, std::max<int64_t>(1, length / count + (length % count != 0)));
}

std::vector<Tensor> unbind(const Operand &x, int axis) {
  Emitter r("unbind", x.at);
  Tensor operand = r.tensorOf(x);
  int along = r.axisOf(axis, operand.type(r.at));
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < operand.type(r.at).shape[along]; ++i)
    parts.push_back(r.dropAxis(r.part(operand, along, i, 1), along));
  return parts;
}

} // namespace sprig
