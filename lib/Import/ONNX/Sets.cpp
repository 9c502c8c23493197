// Operators whose results need the data itself: they are computed when the data is known while importing.
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

/// Distinct slices along an axis (or elements), sorted or by first occurrence, with indices.
void unique(Node &n) {
  Value x = n.in(0);
  ElementsAttr value =
      n.known(x, "input 0 ('" + n.proto.input(0) + "'), whose distinct elements decide the shape of the result,");
  bool sorted = n.intAttr("sorted", 1) != 0;
  int64_t axis = 0;
  if (n.attribute("axis"))
    axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  else
    x = n.reshape(x, {Emit::count(x)});
  // Slices as rows.
  ir::ConstantView view(value);
  int64_t outer = 1, size = Emit::shape(x)[axis], inner = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= Emit::shape(x)[i];
  for (int64_t i = axis + 1; i < Emit::rank(x); ++i) inner *= Emit::shape(x)[i];
  auto row = [&](int64_t k) {
    std::vector<double> elements;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) elements.push_back(view.asDouble((o * size + k) * inner + i));
    return elements;
  };
  if (Emit::count(x) * 16 > n.state.limits.foldedBytes) n.unsupported("looks for distinct elements in " + typeText(x));
  std::vector<std::vector<double>> rows;
  for (int64_t k = 0; k < size; ++k) rows.push_back(row(k));
  Ints firsts, inverse(size_t(size), 0), counts;
  std::map<std::vector<double>, int64_t> places;
  for (int64_t k = 0; k < size; ++k)
    if (places.emplace(rows[size_t(k)], k).second) firsts.push_back(k);
  if (sorted) llvm::sort(firsts, [&](int64_t a, int64_t b) { return rows[size_t(a)] < rows[size_t(b)]; });
  for (size_t i = 0; i < firsts.size(); ++i) places[rows[size_t(firsts[i])]] = int64_t(i);
  counts.assign(firsts.size(), 0);
  for (int64_t k = 0; k < size; ++k) ++counts[size_t(inverse[size_t(k)] = places[rows[size_t(k)]])];
  n.out(n.gather(x, n.ints(firsts), axis), 0);
  n.out(n.ints(firsts), 1);
  n.out(n.ints(inverse), 2);
  n.out(n.ints(counts), 3);
}

/// Determinant by expansion along the first row: fine for the small matrices of geometry.
Value determinant(Node &n, Value m) {
  int64_t rank = Emit::rank(m), size = Emit::shape(m)[rank - 1];
  auto element = [&](int64_t column) {
    return n.squeeze(n.squeeze(n.sliceAxis(n.sliceAxis(m, rank - 2, 0, 1), rank - 1, column, 1), rank - 1), rank - 2);
  };
  if (size == 1) return element(0);
  Value below = n.sliceAxis(m, rank - 2, 1, size - 1), sum;
  for (int64_t c = 0; c < size; ++c) {
    Values parts;
    if (c > 0) parts.push_back(n.sliceAxis(below, rank - 1, 0, c));
    if (c + 1 < size) parts.push_back(n.sliceAxis(below, rank - 1, c + 1, size - c - 1));
    Value term = n.mul(element(c), determinant(n, n.concat(parts, rank - 1)));
    sum = !sum ? term : c % 2 ? n.sub(sum, term) : n.add(sum, term);
  }
  return sum;
}
void det(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  n.require(rank >= 2 && Emit::shape(x)[rank - 1] == Emit::shape(x)[rank - 2],
            "takes the determinant of " + typeText(x) + "; expected square matrices");
  int64_t size = Emit::shape(x)[rank - 1];
  if (size < 1 || size > 4)
    n.unsupported("takes the determinant of matrices of size " + std::to_string(size) + "; supported are 1 to 4");
  n.out(determinant(n, x));
}

} // namespace

void addSets(Table &t) {
  t.add("Unique", {11, 28}, unique);
  t.add("Det", {11, 22}, det);
}

} // namespace sprig::onnximport
