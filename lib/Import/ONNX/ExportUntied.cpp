#include "dialects/NN/Constants.h"
#include "lib/Import/ONNX/ExportTraces.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace sprig::onnximport {

namespace {

bool isMatrix(const Initializer &initializer) {
  return initializer.tensor->dims_size() == 2 && initializer.tensor->dims(0) > 1 && initializer.tensor->dims(1) > 1;
}

bool isUsedAs(const Initializer &initializer, Role role) {
  return llvm::any_of(initializer.uses, [&](const Use &use) { return use.role == role; });
}

/// Whether `b` has the elements of `a`, or those of its transpose.
bool sameElements(const ir::ConstantView &a, const ir::ConstantView &b, bool transposed) {
  if (a.elementType() != b.elementType() || a.isSplat() || b.isSplat()) return false;
  int64_t rows = a.type().getDimSize(0), columns = a.type().getDimSize(1);
  llvm::ArrayRef<int64_t> shape = b.type().getShape();
  if (!transposed) return shape == a.type().getShape() && a.bytes() == b.bytes();
  if (shape[0] != columns || shape[1] != rows) return false;
  size_t size = a.element(0).size();
  const char *from = a.bytes().data(), *to = b.bytes().data();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (std::memcmp(from + size_t(row * columns + column) * size, to + size_t(column * rows + row) * size, size) != 0)
        return false;
  return true;
}

std::string usesOf(const Initializer &initializer) {
  std::vector<std::string> names;
  for (const Use &use : initializer.uses)
    if (std::string name = use.node->name(); !llvm::is_contained(names, name)) names.push_back(name);
  return listed(names);
}

void report(std::vector<ExportFinding> &findings, const std::string &first, const Initializer &a,
            const std::string &second, const Initializer &b, const std::string &relation) {
  findings.push_back({"untied",
                      true,
                      "initializers " + inQuotes(first) + " (of " + usesOf(a) + ") and " + inQuotes(second) + " (of " +
                          usesOf(b) + ") are one weight written twice: the second " + relation +
                          "; they would be trained apart",
                      {first, second}});
}

} // namespace

void findUntied(ExportGraph &graph, std::vector<ExportFinding> &findings) {
  // What the exporter says that it computed from a weight which is still there.
  std::vector<std::pair<std::string, std::string>> told;
  for (auto &[name, initializer] : graph.initializers())
    for (const std::string &source : initializer.foldedFrom) {
      const Initializer *other = graph.find(source);
      if (!other || other->uses.empty() || initializer.uses.empty() || other->count() < 2) continue;
      report(findings, source, *other, name, initializer, "was computed from the first when the model was exported");
      told.push_back({source, name});
    }
  // Equal values: a table and a weight, or a weight and its transpose. Two weights that are equal as they stand may be
  // copies of one layer, which start alike.
  std::vector<std::pair<const std::string *, const Initializer *>> matrices;
  for (auto &[name, initializer] : graph.initializers())
    if (isMatrix(initializer) && (isUsedAs(initializer, Role::weight) || isUsedAs(initializer, Role::table)))
      matrices.push_back({&name, &initializer});
  for (size_t i = 0; i < matrices.size(); ++i)
    for (size_t k = i + 1; k < matrices.size(); ++k) {
      auto [first, a] = matrices[i];
      auto [second, b] = matrices[k];
      bool isTurned = a->tensor->dims(0) == b->tensor->dims(1) && a->tensor->dims(1) == b->tensor->dims(0);
      bool isLike = a->tensor->dims(0) == b->tensor->dims(0) && a->tensor->dims(1) == b->tensor->dims(1);
      bool lookedUp = isUsedAs(*a, Role::table) != isUsedAs(*b, Role::table);
      if (!isTurned && !(isLike && lookedUp)) continue;
      if (llvm::any_of(told, [&](auto &pair) {
            return (pair.first == *first && pair.second == *second) || (pair.first == *second && pair.second == *first);
          }))
        continue;
      mlir::ElementsAttr left = graph.value(*a), right = graph.value(*b);
      ir::ConstantView from(left), to(right);
      bool equal = isLike && sameElements(from, to, false);
      if (equal && lookedUp)
        report(findings, *first, *a, *second, *b, "has the same elements");
      else if (!equal && isTurned && sameElements(from, to, true))
        report(findings, *first, *a, *second, *b, "is the transpose of the first");
    }
}

} // namespace sprig::onnximport
