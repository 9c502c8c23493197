// Random graphs of small shapes: whatever is fused with whatever, the bits are those of separate kernels, and the
// values those of the interpreter. The seeds are fixed; a failure names its graph and prints it.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>
#include <random>

namespace sprig::optable {
namespace {

// Grows a function of values of the shapes RxC, Rx1, 1xC and scalar, all kept near [-1, 1] so that errors stay small.
class GraphWriter {
public:
  GraphWriter(uint64_t seed) : random(seed) {
    static const int64_t sizes[] = {1, 2, 5, 15, 16, 17, 33};
    rows = sizes[pick(7)];
    columns = sizes[pick(7)];
    for (const auto &shape : {full(), full(), row(), column()}) {
      values.push_back({"%a" + std::to_string(arguments.size()), shape});
      arguments.push_back(text(shape));
    }
  }

  Row write(const std::string &name, int operations) {
    for (int i = 0; i < operations; ++i) step();
    // The last value depends on the last three, so that little of the graph is dead.
    Value a = widen(values.back()), b = widen(values[values.size() - 2]), c = widen(values[values.size() - 3]);
    binary("add", binary("sub", a, b), c);
    return {name + ":\n" + body, arguments, body, {16, 3e-5}, std::vector<Pattern>(4, {Fill::Unit})};
  }

private:
  struct Shape {
    int64_t rows, columns;
    bool operator==(const Shape &) const = default;
  };
  struct Value {
    std::string name;
    Shape shape;
  };

  Shape full() const { return {rows, columns}; }
  Shape row() const { return {1, columns}; }
  Shape column() const { return {rows, 1}; }
  uint64_t pick(uint64_t n) { return random() % n; }
  const Value &any() { return values[values.size() - 1 - pick(std::min<size_t>(values.size(), 6))]; }
  static std::string text(Shape s) { return std::to_string(s.rows) + "x" + std::to_string(s.columns) + "xf32"; }
  static std::string type(Shape s) { return "tensor<" + text(s) + ">"; }

  Value emit(const std::string &operation, Shape shape) {
    Value value{"%v" + std::to_string(next++), shape};
    body += value.name + " = " + operation + "\n";
    return value;
  }
  Value unary(const std::string &name, const Value &x) {
    return emit("nn." + name + " " + x.name + " : " + type(x.shape), x.shape);
  }
  Value binary(const std::string &name, const Value &x, const Value &y) {
    Shape shape{std::max(x.shape.rows, y.shape.rows), std::max(x.shape.columns, y.shape.columns)};
    return emit("nn." + name + " " + x.name + ", " + y.name + " : " + type(x.shape) + ", " + type(y.shape), shape);
  }
  Value widen(const Value &x) {
    if (x.shape == full()) return x;
    return emit("nn.broadcast " + x.name + " : " + type(x.shape) + " to " + type(full()), full());
  }
  Value reduce(const std::string &kind, const Value &x, int axis) {
    Shape shape = x.shape;
    (axis ? shape.columns : shape.rows) = 1;
    return emit("nn.reduce " + kind + " " + x.name + " axes = [" + std::to_string(axis) +
                    "] {keep_dims} : " + type(x.shape),
                shape);
  }
  Value product(const Value &x) {
    Shape square{x.shape.columns, x.shape.columns};
    Value seed = emit("nn.constant dense<0.03125> : " + type(square), square);
    return emit("nn.matmul " + x.name + ", " + seed.name + " : " + type(x.shape) + ", " + type(square), x.shape);
  }
  Value transposed(const Value &x) {
    Shape turned{x.shape.columns, x.shape.rows};
    Value t = emit("nn.transpose " + x.name + " [1, 0] : " + type(x.shape), turned);
    Value u = unary(pick(2) ? "neg" : "tanh", t);
    return emit("nn.transpose " + u.name + " [1, 0] : " + type(turned), x.shape);
  }
  Value joined(const Value &x) {
    if (x.shape.columns < 2) return unary("abs", x);
    Shape left{x.shape.rows, x.shape.columns / 2}, right{x.shape.rows, x.shape.columns - left.columns};
    auto slice = [&](int64_t start, Shape part) {
      return emit("nn.slice " + x.name + " starts = [0, " + std::to_string(start) + "] sizes = [" +
                      std::to_string(part.rows) + ", " + std::to_string(part.columns) +
                      "] steps = [1, 1] : " + type(x.shape),
                  part);
    };
    Value l = slice(0, left), r = slice(left.columns, right);
    return emit("nn.concat " + r.name + ", " + l.name + " axis = 1 : " + type(right) + ", " + type(left), x.shape);
  }
  Value selected(const Value &x, const Value &y) {
    // A comparison of inputs is exact, so that no rounding decides between the branches.
    Value c{"%c" + std::to_string(next++), full()};
    body += c.name + " = nn.compare gt %a0, %a1 : " + type(full()) + ", " + type(full()) + "\n";
    Value wide = widen(x), other = widen(y);
    return emit("nn.select " + c.name + ", " + wide.name + ", " + other.name + " : tensor<" + std::to_string(rows) +
                    "x" + std::to_string(columns) + "xi1>, " + type(full()) + ", " + type(full()),
                full());
  }

  void step() {
    static const char *functions[] = {"tanh", "sigmoid", "relu", "neg",  "abs",
                                      "erf",  "sin",     "silu", "gelu", "softsign"};
    static const char *pairs[] = {"max", "min", "mul"};
    Value x = any(), y = any();
    switch (pick(10)) {
    case 0:
    case 1: values.push_back(unary(functions[pick(10)], x)); break;
    case 2: values.push_back(binary(pairs[pick(3)], x, y)); break;
    case 3: values.push_back(unary("tanh", binary("add", x, y))); break;
    case 4: values.push_back(reduce(pick(2) ? "max" : "min", x, pick(2))); break;
    case 5: values.push_back(unary("tanh", reduce("sum", x, pick(2)))); break;
    case 6: values.push_back(unary("tanh", binary("add", product(x), y))); break;
    case 7: values.push_back(pick(2) ? transposed(x) : joined(x)); break;
    case 8: values.push_back(selected(x, y)); break;
    case 9:
      values.push_back(
          emit("nn.softmax " + x.name + " axis = " + std::to_string(pick(2)) + " : " + type(x.shape), x.shape));
      break;
    }
  }

  std::mt19937_64 random;
  int64_t rows, columns;
  std::vector<Value> values;
  std::vector<std::string> arguments;
  std::string body;
  int next = 0;
};

TEST(RandomGraphs, FusedEqualsSeparate) {
  for (int batch = 0; batch < 4; ++batch) {
    std::vector<Row> graphs;
    for (int i = 0; i < 15; ++i) {
      uint64_t seed = 1000 * batch + i;
      graphs.push_back(GraphWriter(seed).write("graph " + std::to_string(seed), 4 + 4 * batch));
    }
    check(graphs, Given::program, Depth::everyWay);
  }
}

} // namespace
} // namespace sprig::optable
