// Einsum: diagonals, sums, and pairwise products as batched matrix products.
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

namespace {

using Labels = std::vector<int>; // letters by their code, dimensions of an ellipsis from kEllipsis on
constexpr int kEllipsis = 1000;

struct Term {
  Value value;
  Labels labels;
  int64_t sizeOf(int label) const { return Emit::shape(value)[size_t(llvm::find(labels, label) - labels.begin())]; }
  bool has(int label) const { return llvm::is_contained(labels, label); }
};

/// Reads one term of the equation; an ellipsis stands for `ellipsis` dimensions, aligned to the right.
Labels readLabels(Node &n, const std::string &text, int64_t ellipsis, int64_t widest) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      n.require(text.compare(i, 3, "...") == 0 && ellipsis >= 0, "has a malformed ellipsis in '" + text + "'");
      for (int64_t k = widest - ellipsis; k < widest; ++k) labels.push_back(kEllipsis + int(k));
      i += 2;
      continue;
    }
    n.require((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
              std::string("has '") + c + "' in its equation; labels are letters");
    labels.push_back(c);
  }
  return labels;
}

int64_t countLetters(const std::string &text) {
  return int64_t(llvm::count_if(text, [](char c) { return c != ' ' && c != '.'; }));
}

Term permuted(Node &n, const Term &term, const Labels &order) {
  Ints permutation;
  for (int label : order) permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
  return {n.transpose(term.value, permutation), order};
}

/// Equal labels within a term select the diagonal.
Term withoutRepeats(Node &n, Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = i + 1; j < term.labels.size(); ++j) {
      if (term.labels[i] != term.labels[j]) continue;
      int64_t size = Emit::shape(term.value)[i];
      n.require(size == Emit::shape(term.value)[j], "takes the diagonal of " + typeText(term.value));
      Ints permutation, shape;
      Labels labels;
      for (size_t k = 0; k < term.labels.size(); ++k) {
        if (k == i || k == j) continue;
        permutation.push_back(int64_t(k));
        shape.push_back(Emit::shape(term.value)[k]);
        labels.push_back(term.labels[k]);
      }
      permutation.append({int64_t(i), int64_t(j)});
      shape.push_back(size * size);
      Value flat = n.reshape(n.transpose(term.value, permutation), shape);
      labels.push_back(term.labels[i]);
      Value diagonal = n.sliceAxis(flat, int64_t(shape.size()) - 1, 0, size, size + 1);
      return withoutRepeats(n, {diagonal, labels});
    }
  return term;
}

Term summed(Node &n, const Term &term, llvm::function_ref<bool(int)> keep) {
  Ints axes;
  Labels labels;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (keep(term.labels[i]))
      labels.push_back(term.labels[i]);
    else
      axes.push_back(int64_t(i));
  }
  return {n.reduce(ir::ReduceKind::sum, term.value, axes, false), labels};
}

Term multiply(Node &n, Term a, Term b, llvm::function_ref<bool(int)> neededLater) {
  a = summed(n, a, [&](int l) { return b.has(l) || neededLater(l); });
  b = summed(n, b, [&](int l) { return a.has(l) || neededLater(l); });
  Labels batch, contracted, rows, columns;
  for (int l : a.labels) (b.has(l) ? (neededLater(l) ? batch : contracted) : rows).push_back(l);
  for (int l : b.labels)
    if (!a.has(l)) columns.push_back(l);
  // Dimensions of size 1 broadcast against their partner.
  auto widen = [&](Term &term, const Term &other) {
    Ints shape(Emit::shape(term.value));
    for (size_t i = 0; i < shape.size(); ++i)
      if (other.has(term.labels[i]) && shape[i] == 1) shape[i] = other.sizeOf(term.labels[i]);
    term.value = n.broadcast(term.value, shape);
  };
  widen(a, b);
  widen(b, a);
  for (int l : a.labels)
    n.require(!b.has(l) || a.sizeOf(l) == b.sizeOf(l), "gives a label the sizes " + std::to_string(a.sizeOf(l)) +
                                                           " and " + std::to_string(b.has(l) ? b.sizeOf(l) : 0));
  Labels result(batch), orderA(batch), orderB(batch);
  int64_t sizes[4] = {1, 1, 1, 1}; // batch, rows, contracted, columns
  Ints shape;
  for (int l : batch) sizes[0] *= a.sizeOf(l), shape.push_back(a.sizeOf(l));
  for (int l : rows) sizes[1] *= a.sizeOf(l), shape.push_back(a.sizeOf(l)), orderA.push_back(l), result.push_back(l);
  for (int l : contracted) sizes[2] *= a.sizeOf(l), orderA.push_back(l), orderB.push_back(l);
  for (int l : columns) sizes[3] *= b.sizeOf(l), shape.push_back(b.sizeOf(l)), orderB.push_back(l), result.push_back(l);
  Value left = n.reshape(permuted(n, a, orderA).value, {sizes[0], sizes[1], sizes[2]});
  Value right = n.reshape(permuted(n, b, orderB).value, {sizes[0], sizes[2], sizes[3]});
  return {n.reshape(n.matmul(left, right), shape), result};
}

void einsum(Node &n) {
  std::string equation = n.stringAttr("equation", "");
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  llvm::SmallVector<llvm::StringRef> texts;
  llvm::StringRef(left).split(texts, ',');
  n.require(texts.size() == n.inputs(), "has " + std::to_string(texts.size()) + " terms in '" + equation + "' for " +
                                            std::to_string(n.inputs()) + " inputs");
  std::vector<int64_t> ellipses;
  int64_t widest = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    int64_t rank = Emit::rank(n.in(unsigned(i))), letters = countLetters(texts[i].str());
    bool has = texts[i].contains('.');
    n.require(has ? letters <= rank : letters == rank,
              "has the term '" + texts[i].str() + "' for " + typeText(n.in(unsigned(i))));
    ellipses.push_back(has ? rank - letters : 0);
    widest = std::max(widest, ellipses.back());
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < texts.size(); ++i)
    terms.push_back(withoutRepeats(n, {n.in(unsigned(i)), readLabels(n, texts[i].str(), ellipses[i], widest)}));
  Labels output;
  if (arrow != std::string::npos) {
    output = readLabels(n, equation.substr(arrow + 2), widest, widest);
  } else { // the ellipsis, then every label that occurs once
    for (int64_t k = 0; k < widest; ++k) output.push_back(kEllipsis + int(k));
    for (int c = 0; c < 128; ++c)
      if (std::count(left.begin(), left.end(), char(c)) == 1 && std::isalpha(c)) output.push_back(c);
  }
  for (size_t i = 0; i < output.size(); ++i) {
    n.require(llvm::any_of(terms, [&](const Term &t) { return t.has(output[i]); }),
              "has a label in its result that no term has, in '" + equation + "'");
    n.require(std::count(output.begin(), output.end(), output[i]) == 1,
              "has a label twice in its result, in '" + equation + "'");
  }
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    result = multiply(n, result, terms[i], [&](int l) {
      return llvm::is_contained(output, l) ||
             llvm::any_of(llvm::drop_begin(terms, i + 1), [&](const Term &t) { return t.has(l); });
    });
  result = summed(n, result, [&](int l) { return llvm::is_contained(output, l); });
  n.out(permuted(n, result, output).value);
}

} // namespace

void addEinsum(Table &t) { t.add("Einsum", {12, 28}, einsum); }

} // namespace sprig::onnximport
