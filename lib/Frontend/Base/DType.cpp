#include "sprig/dtype.h"
#include "sprig/error.h"
#include <ostream>

namespace sprig {

namespace {
struct Row {
  const char *name;
  int64_t size;
};
constexpr Row kTypes[] = {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4}, {"i16", 2},
                          {"i8", 1},  {"u64", 8}, {"u32", 4}, {"u16", 2},  {"u8", 1},  {"i1", 1}};
} // namespace

const char *name(DType type) { return kTypes[int(type)].name; }
int64_t size(DType type) { return kTypes[int(type)].size; }

std::string describe(const TensorType &type) {
  std::string text;
  for (int64_t n : type.shape) text += std::to_string(n) + "x";
  return text + name(type.dtype);
}

std::string describe(const Shape &shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::ostream &operator<<(std::ostream &out, DType type) { return out << name(type); }
std::ostream &operator<<(std::ostream &out, const Shape &shape) { return out << describe(shape); }
std::ostream &operator<<(std::ostream &out, const TensorType &type) { return out << describe(type); }

void Shape::refuseRank(size_t count) {
  badUse("a tensor has at most " + std::to_string(kMaxRank) + " dimensions, asked for are " + std::to_string(count));
}

} // namespace sprig
