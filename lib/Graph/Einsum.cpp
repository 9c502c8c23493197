#include "lib/Graph/Einsum.h"
#include <algorithm>
#include <cctype>
#include <functional>

namespace sprig::graph {

namespace {

using Numbers = std::vector<int64_t>;
using Labels = std::vector<int>; // letters by their code, dimensions of an ellipsis from kEllipsis on
using Kind = EinsumStep::Kind;
constexpr int kEllipsis = 1000;

std::string textOf(const Numbers &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

bool contains(const Labels &labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

struct Term {
  size_t value;
  Numbers shape;
  Labels labels;
  size_t axisOf(int label) const { return size_t(std::find(labels.begin(), labels.end(), label) - labels.begin()); }
  int64_t sizeOf(int label) const { return shape[axisOf(label)]; }
  bool has(int label) const { return contains(labels, label); }
};

class Planner {
public:
  Planner(const std::string &equation, const std::vector<Numbers> &shapes) : equation(equation), shapes(shapes) {}

  EinsumPlan run() {
    if (!readTerms() || !readOutput()) return std::move(plan);
    Term result = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) {
      auto isNeededLater = [&](int label) {
        return contains(output, label) ||
               std::any_of(terms.begin() + int64_t(i) + 1, terms.end(), [&](const Term &t) { return t.has(label); });
      };
      if (!multiply(result, terms[i], isNeededLater)) return std::move(plan);
    }
    sum(result, [&](int label) { return contains(output, label); });
    permute(result, output);
    plan.result = result.value;
    return std::move(plan);
  }

private:
  bool fail(const std::string &text) {
    plan.error = text + ", in '" + equation + "'";
    return false;
  }

  size_t step(Kind kind, size_t a, Numbers numbers, size_t b = 0) {
    plan.steps.push_back({kind, a, b, std::move(numbers)});
    return shapes.size() + plan.steps.size() - 1;
  }
  void reshape(Term &term, Numbers shape) {
    if (term.shape == shape) return;
    term.value = step(Kind::reshape, term.value, shape);
    term.shape = std::move(shape);
  }
  void permute(Term &term, const Labels &order) {
    if (term.labels == order) return;
    Numbers permutation, shape;
    for (int label : order) {
      permutation.push_back(int64_t(term.axisOf(label)));
      shape.push_back(term.sizeOf(label));
    }
    term = {step(Kind::transpose, term.value, std::move(permutation)), std::move(shape), order};
  }
  void sum(Term &term, const std::function<bool(int)> &keeps) {
    Numbers axes, shape;
    Labels labels;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (!keeps(term.labels[i])) {
        axes.push_back(int64_t(i));
        continue;
      }
      labels.push_back(term.labels[i]);
      shape.push_back(term.shape[i]);
    }
    if (!axes.empty()) term = {step(Kind::sum, term.value, std::move(axes)), std::move(shape), std::move(labels)};
  }

  /// Reads one term of the equation; an ellipsis stands for the last of the `widest` dimensions.
  bool readLabels(const std::string &text, int64_t ellipsis, Labels &labels) {
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == ' ') continue;
      if (c == '.') {
        if (text.compare(i, 3, "...") != 0) return fail("has a malformed ellipsis in '" + text + "'");
        for (int64_t k = widest - ellipsis; k < widest; ++k) labels.push_back(kEllipsis + int(k));
        i += 2;
        continue;
      }
      if (!std::isalpha(static_cast<unsigned char>(c))) return fail(std::string("has '") + c + "'; labels are letters");
      labels.push_back(c);
    }
    return true;
  }

  bool readTerms() {
    size_t arrow = equation.find("->");
    left = equation.substr(0, arrow);
    std::vector<std::string> texts(1);
    for (char c : left) {
      if (c == ',')
        texts.emplace_back();
      else
        texts.back() += c;
    }
    if (texts.size() != shapes.size())
      return fail("has " + std::to_string(texts.size()) + " terms for " + std::to_string(shapes.size()) + " operands");
    Numbers ellipses;
    for (size_t i = 0; i < texts.size(); ++i) {
      int64_t rank = int64_t(shapes[i].size()),
              letters = std::count_if(texts[i].begin(), texts[i].end(), [](char c) { return c != ' ' && c != '.'; });
      bool hasEllipsis = texts[i].find('.') != std::string::npos;
      if (hasEllipsis ? letters > rank : letters != rank)
        return fail("has the term '" + texts[i] + "' for an operand of shape " + textOf(shapes[i]));
      ellipses.push_back(hasEllipsis ? rank - letters : 0);
      widest = std::max(widest, ellipses.back());
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      Labels labels;
      if (!readLabels(texts[i], ellipses[i], labels)) return false;
      terms.push_back({i, shapes[i], labels});
      if (!takeDiagonals(terms.back())) return false;
    }
    return true;
  }

  bool readOutput() {
    size_t arrow = equation.find("->");
    if (arrow != std::string::npos) {
      if (!readLabels(equation.substr(arrow + 2), widest, output)) return false;
    } else {
      for (int64_t k = 0; k < widest; ++k) output.push_back(kEllipsis + int(k));
      for (int c = 0; c < 128; ++c)
        if (std::isalpha(c) && std::count(left.begin(), left.end(), char(c)) == 1) output.push_back(c);
    }
    for (int label : output) {
      if (std::none_of(terms.begin(), terms.end(), [&](const Term &t) { return t.has(label); }))
        return fail("has a label in its result that no term has");
      if (std::count(output.begin(), output.end(), label) > 1) return fail("has a label twice in its result");
    }
    return true;
  }

  /// Equal labels within a term select the diagonal.
  bool takeDiagonals(Term &term) {
    for (size_t i = 0; i < term.labels.size(); ++i)
      for (size_t j = i + 1; j < term.labels.size(); ++j) {
        if (term.labels[i] != term.labels[j]) continue;
        int64_t size = term.shape[i];
        if (size != term.shape[j]) return fail("takes the diagonal of an operand of shape " + textOf(term.shape));
        int label = term.labels[i];
        Numbers order, shape;
        Labels labels;
        for (size_t k = 0; k < term.labels.size(); ++k) {
          if (k == i || k == j) continue;
          order.push_back(int64_t(k));
          shape.push_back(term.shape[k]);
          labels.push_back(term.labels[k]);
        }
        order.push_back(int64_t(i));
        order.push_back(int64_t(j));
        term.value = step(Kind::transpose, term.value, order);
        term.shape.clear(); // the axes' order is another
        shape.push_back(size * size);
        reshape(term, shape);
        shape.back() = size;
        labels.push_back(label);
        term = {step(Kind::slice, term.value, {0, size, size > 1 ? size + 1 : 1}), shape, labels};
        return takeDiagonals(term);
      }
    return true;
  }

  /// Dimensions of size 1 broadcast against their partner.
  void widen(Term &term, const Term &other) {
    Numbers shape = term.shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (other.has(term.labels[i]) && shape[i] == 1) shape[i] = other.sizeOf(term.labels[i]);
    if (shape != term.shape) term = {step(Kind::broadcast, term.value, shape), shape, term.labels};
  }

  bool multiply(Term &a, Term b, const std::function<bool(int)> &isNeededLater) {
    sum(a, [&](int l) { return b.has(l) || isNeededLater(l); });
    sum(b, [&](int l) { return a.has(l) || isNeededLater(l); });
    widen(a, b);
    widen(b, a);
    Labels batch, rows, contracted, columns;
    for (int l : a.labels) {
      if (b.has(l) && a.sizeOf(l) != b.sizeOf(l))
        return fail("gives " + (l < kEllipsis ? "label '" + std::string(1, char(l)) + "'" : "a dimension of '...'") +
                    " the sizes " + std::to_string(a.sizeOf(l)) + " and " + std::to_string(b.sizeOf(l)));
      (b.has(l) ? (isNeededLater(l) ? batch : contracted) : rows).push_back(l);
    }
    for (int l : b.labels)
      if (!a.has(l)) columns.push_back(l);
    Labels labels(batch), orderA(batch), orderB(batch);
    Numbers shape;
    auto append = [](Labels &to, const Labels &from) { to.insert(to.end(), from.begin(), from.end()); };
    auto product = [&](const Labels &each, const Term &of) {
      int64_t size = 1;
      for (int l : each) size *= of.sizeOf(l);
      return size;
    };
    append(labels, rows);
    append(labels, columns);
    for (int l : labels) shape.push_back(a.has(l) ? a.sizeOf(l) : b.sizeOf(l));
    append(orderA, rows);
    append(orderA, contracted);
    append(orderB, contracted);
    append(orderB, columns);
    int64_t b0 = product(batch, a), m = product(rows, a), k = product(contracted, a), n = product(columns, b);
    permute(a, orderA);
    permute(b, orderB);
    // Where nothing is summed, a product of elements.
    bool sums = !contracted.empty();
    reshape(a, sums ? Numbers{b0, m, k} : Numbers{b0, m, 1});
    reshape(b, sums ? Numbers{b0, k, n} : Numbers{b0, 1, n});
    a = {step(sums ? Kind::matmul : Kind::multiply, a.value, {}, b.value), {b0, m, n}, {}};
    reshape(a, shape);
    a.labels = labels;
    return true;
  }

  const std::string &equation;
  const std::vector<Numbers> &shapes;
  std::string left;   ///< of the arrow
  int64_t widest = 0; ///< dimensions of the longest ellipsis
  std::vector<Term> terms;
  Labels output;
  EinsumPlan plan;
};

} // namespace

EinsumPlan planEinsum(const std::string &equation, const std::vector<std::vector<int64_t>> &shapes) {
  return Planner(equation, shapes).run();
}

} // namespace sprig::graph
