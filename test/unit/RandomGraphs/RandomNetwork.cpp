#include "test/unit/RandomGraphs/RandomNetwork.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <sstream>

namespace sprig::randoms {

namespace {

constexpr int64_t kMostElements = 24000;
constexpr double kMostBound = 8;

int64_t countOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

std::string listOf(const Shape &numbers, const char *separator = ", ") {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : separator) + std::to_string(number);
  return text;
}

std::string typeOf(const Shape &shape, const std::string &element) {
  return "tensor<" + listOf(shape, "x") + (shape.empty() ? "" : "x") + element + ">";
}

class Drawing {
public:
  explicit Drawing(RandomNetwork &network) : network(network), random(network.seed) {}

  void draw() {
    if (oneIn(5)) network.element = "f64";
    network.freezes = oneIn(2);
    image = {pick({1, 2}), pick({1, 3, 4, 8, 16, 17}), pick({5, 8, 9, 24}), pick({4, 8, 11, 20})};
    matrix = {pick({1, 2, 5, 16, 33, 130}), pick({3, 8, 16, 17, 40, 150})};
    argument(oneIn(2) ? image : matrix);
    argument(matrix);
    if (oneIn(2)) argument({1, matrix[1]});
    uint64_t states = below(3);
    for (uint64_t i = 0; i < states; ++i) parameter(oneIn(3) ? network.values[0].shape : matrix, 1);
    size_t firstState = network.values.size() - states;
    for (uint64_t left = 2 + below(oneIn(4) ? 30 : 12); left > 0; --left) addOperation();
    for (size_t i = firstState; i < firstState + states; ++i) update(i);
    chooseResults();
    if (oneIn(2)) learn();
  }

private:
  uint64_t below(uint64_t n) { return random() % n; }
  bool oneIn(uint64_t n) { return below(n) == 0; }
  int64_t pick(std::initializer_list<int64_t> list) { return list.begin()[below(list.size())]; }

  void argument(Shape shape) { network.values.push_back({Value::Argument, "", {}, std::move(shape), 1}); }
  size_t parameter(Shape shape, double bound) {
    network.values.push_back({Value::Parameter, "", {}, std::move(shape), bound});
    return network.values.size() - 1;
  }
  const Value &at(size_t value) const { return network.values[value]; }

  size_t emit(std::string format, std::vector<size_t> operands, Shape shape, double bound) {
    network.values.push_back({Value::Operation, std::move(format), std::move(operands), std::move(shape), bound});
    size_t made = network.values.size() - 1;
    if (bound > kMostBound) {
      Shape same = at(made).shape;
      return emit("$= nn.tanh $0 : $t0", {made}, std::move(same), 1);
    }
    return made;
  }
  size_t unary(const std::string &name, size_t x, double bound) {
    return emit("$= nn." + name + " $0 : $t0", {x}, Shape(at(x).shape), bound);
  }

  // Late ones mostly; any, so that branches begin everywhere.
  size_t any(const std::function<bool(const Shape &)> &fits = nullptr) {
    std::vector<size_t> found;
    for (size_t i = 0; i < network.values.size(); ++i)
      if (!fits || fits(at(i).shape)) found.push_back(i);
    if (found.empty()) return SIZE_MAX;
    uint64_t late = std::min<uint64_t>(found.size(), 3);
    return oneIn(2) ? found[found.size() - 1 - below(late)] : found[below(found.size())];
  }

  // One that broadcasts to x without growing.
  size_t partner(size_t x) {
    Shape wide = at(x).shape;
    size_t y = any([&](const Shape &shape) {
      if (shape.size() > wide.size()) return false;
      for (size_t i = 0; i < shape.size(); ++i)
        if (int64_t size = shape[shape.size() - 1 - i]; size != 1 && size != wide[wide.size() - 1 - i]) return false;
      return true;
    });
    return y == SIZE_MAX ? x : y;
  }

  void addOperation() {
    size_t x = any();
    switch (below(18)) {
    case 0:
    case 1: {
      static const char *const functions[] = {"tanh", "sigmoid", "relu", "neg",  "abs",
                                              "erf",  "sin",     "silu", "gelu", "softsign"};
      uint64_t chosen = below(std::size(functions));
      bool keeps = chosen == 2 || chosen == 3 || chosen == 4 || chosen == 7 || chosen == 8;
      unary(functions[chosen], x, keeps ? at(x).bound : 1);
      return;
    }
    case 2:
    case 3:
    case 4: {
      size_t y = partner(x);
      static const char *const pairs[] = {"add", "sub", "mul", "max", "min"};
      uint64_t chosen = below(std::size(pairs));
      double a = at(x).bound, b = at(y).bound;
      emit(std::string("$= nn.") + pairs[chosen] + " $0, $1 : $t0, $t1", {x, y}, Shape(at(x).shape),
           chosen < 2    ? a + b
           : chosen == 2 ? a * b
                         : std::max(a, b));
      return;
    }
    case 5: return reduce(x);
    case 6: return product();
    case 7:
    case 8: return convolution();
    case 9: return pool();
    case 10: return normalize(x);
    case 11: return reshape(x);
    case 12: return transpose(x);
    case 13: return oneIn(2) ? slice(x) : concat(x);
    case 14: return oneIn(2) ? pad(x) : gather(x);
    case 15: return oneIn(2) ? upsample() : average();
    case 16: return oneIn(2) ? accumulate(x) : linear();
    default: return oneIn(2) ? select(x) : branch(x);
    }
  }

  void reduce(size_t x) {
    if (at(x).shape.empty()) return;
    size_t axis = below(at(x).shape.size());
    bool keeps = oneIn(2);
    Shape shape = at(x).shape;
    double bound = at(x).bound;
    static const char *const kinds[] = {"sum", "max", "min"};
    uint64_t kind = below(3);
    if (kind == 0) bound *= double(shape[axis]);
    keeps ? void(shape[axis] = 1) : void(shape.erase(shape.begin() + std::ptrdiff_t(axis)));
    emit(std::string("$= nn.reduce ") + kinds[kind] + " $0 axes = [" + std::to_string(axis) + "]" +
             (keeps ? " {keep_dims}" : "") + " : $t0",
         {x}, shape, bound);
  }

  // With a parameter, or with another value that fits.
  void product() {
    size_t x = any([](const Shape &shape) { return shape.size() == 2; });
    if (x == SIZE_MAX) return;
    int64_t k = at(x).shape[1], n = pick({1, 8, 16, 17, 33, 100});
    size_t y = oneIn(3) ? any([&](const Shape &shape) { return shape.size() == 2 && shape[0] == k; }) : SIZE_MAX;
    if (y == SIZE_MAX) y = parameter({k, n}, 1 / std::sqrt(double(k)));
    emit("$= nn.matmul $0, $1 : $t0, $t1", {x, y}, {at(x).shape[0], at(y).shape[1]},
         double(k) * at(x).bound * at(y).bound);
  }

  void convolution() {
    size_t x = any([](const Shape &shape) { return shape.size() == 4; });
    if (x == SIZE_MAX) return;
    Shape in = at(x).shape;
    bool depthwise = oneIn(4);
    int64_t channels = depthwise ? in[1] : pick({1, 4, 8, 16, 17}), window = pick({1, 3, 3}), stride = pick({1, 1, 2});
    int64_t pad = window == 3 ? pick({0, 1, 1}) : 0;
    auto out = [&](int64_t size) { return (size + 2 * pad - window) / stride + 1; };
    if (in[2] + 2 * pad < window || in[3] + 2 * pad < window) return;
    int64_t inner = depthwise ? 1 : in[1], terms = inner * window * window;
    size_t filter = parameter({channels, inner, window, window}, 1 / std::sqrt(double(terms)));
    Shape shape = {in[0], channels, out(in[2]), out(in[3])};
    if (countOf(shape) > kMostElements) return;
    emit("$= nn.conv $0, $1 {strides = array<i64: " + listOf({stride, stride}) + ">, dilations = array<i64: 1, 1>, " +
             "padding = array<i64: " + listOf({pad, pad, pad, pad}) +
             ">, groups = " + std::to_string(depthwise ? channels : 1) + " : i64} : $t0, $t1",
         {x, filter}, shape, double(terms) * at(x).bound * at(filter).bound);
  }

  void pool() {
    size_t x = any([](const Shape &shape) { return shape.size() == 4 && shape[2] >= 2 && shape[3] >= 2; });
    if (x == SIZE_MAX) return;
    Shape in = at(x).shape;
    int64_t stride = pick({1, 2});
    Shape shape = {in[0], in[1], (in[2] - 2) / stride + 1, (in[3] - 2) / stride + 1};
    emit("$= nn.pool max $0 {window = array<i64: 2, 2>, strides = array<i64: " + listOf({stride, stride}) +
             ">, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : $t0",
         {x}, shape, at(x).bound);
  }

  void normalize(size_t x) {
    if (at(x).shape.empty()) return;
    std::string axis = std::to_string(below(at(x).shape.size()));
    if (at(x).shape.size() == 2 && oneIn(3)) {
      size_t scale = parameter({at(x).shape[1]}, 1);
      emit("$= nn.layer_norm $0, $1 axis = 1 {epsilon = 0.1 : f64} : $t0, $t1", {x, scale}, Shape(at(x).shape),
           2 * kMostBound);
      return;
    }
    emit("$= nn." + std::string(oneIn(4) ? "log_" : "") + "softmax $0 axis = " + axis + " : $t0", {x},
         Shape(at(x).shape), 2 * kMostBound);
  }

  void reshape(size_t x) {
    Shape shape = {1};
    // Prime by prime into two factors, or flat to a matrix.
    if (at(x).shape.size() > 2 && oneIn(2)) {
      shape = {at(x).shape[0], countOf(at(x).shape) / at(x).shape[0]};
    } else {
      int64_t left = countOf(at(x).shape), rows = 1;
      for (int64_t factor = 2; factor <= left; ++factor)
        for (; left % factor == 0; left /= factor) rows *= oneIn(2) ? factor : 1;
      shape = {rows, countOf(at(x).shape) / rows};
    }
    emit("$= nn.reshape $0 : $t0 to $r", {x}, shape, at(x).bound);
  }

  void transpose(size_t x) {
    Shape order(at(x).shape.size()), shape;
    if (order.size() < 2) return;
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    for (int64_t axis : order) shape.push_back(at(x).shape[size_t(axis)]);
    emit("$= nn.transpose $0 [" + listOf(order) + "] : $t0", {x}, shape, at(x).bound);
  }

  void slice(size_t x) {
    Shape starts, sizes, steps;
    for (int64_t size : at(x).shape) {
      starts.push_back(oneIn(2) ? 0 : int64_t(below(uint64_t(size))));
      sizes.push_back(1 + int64_t(below(uint64_t(size - starts.back()))));
      steps.push_back(1);
    }
    if (sizes.empty()) return;
    emit("$= nn.slice $0 starts = [" + listOf(starts) + "] sizes = [" + listOf(sizes) + "] steps = [" + listOf(steps) +
             "] : $t0",
         {x}, sizes, at(x).bound);
  }

  void concat(size_t x) {
    if (at(x).shape.empty() || 2 * countOf(at(x).shape) > kMostElements) return;
    size_t axis = below(at(x).shape.size());
    size_t y = any([&](const Shape &shape) { return shape == at(x).shape; });
    Shape shape = at(x).shape;
    shape[axis] *= 2;
    emit("$= nn.concat $0, $1 axis = " + std::to_string(axis) + " : $t0, $t1", {x, y}, shape,
         std::max(at(x).bound, at(y).bound));
  }

  void pad(size_t x) {
    Shape low, high, shape;
    for (int64_t size : at(x).shape) {
      low.push_back(pick({0, 1, 2}));
      high.push_back(pick({0, 0, 3}));
      shape.push_back(low.back() + size + high.back());
    }
    if (shape.empty() || countOf(shape) > kMostElements) return;
    emit("%zero$n = nn.constant dense<0.5> : tensor<$T>\n  $= nn.pad constant $0, %zero$n low = [" + listOf(low) +
             "] high = [" + listOf(high) + "] : $t0, tensor<$T>",
         {x}, shape, std::max(0.5, at(x).bound));
  }

  void gather(size_t x) {
    if (at(x).shape.empty()) return;
    size_t axis = below(at(x).shape.size());
    Shape places, shape = at(x).shape;
    for (uint64_t left = 1 + below(20); left > 0; --left)
      places.push_back(int64_t(below(uint64_t(shape[axis]))) - (oneIn(3) ? shape[axis] : 0));
    shape[axis] = int64_t(places.size());
    if (countOf(shape) > kMostElements) return;
    std::string type = typeOf({shape[axis]}, "i64");
    emit("%places$n = nn.constant dense<[" + listOf(places) + "]> : " + type +
             "\n  $= nn.gather $0, %places$n axis = " + std::to_string(axis) + " : $t0, " + type,
         {x}, shape, at(x).bound);
  }

  void upsample() {
    size_t x = any([](const Shape &shape) { return shape.size() == 4; });
    if (x == SIZE_MAX) return;
    Shape in = at(x).shape;
    int64_t channels = pick({1, 3, 8}), window = pick({2, 3}), pad = window - 2;
    Shape shape = {in[0], channels, 2 * (in[2] - 1) + window - 2 * pad, 2 * (in[3] - 1) + window - 2 * pad};
    if (shape[2] < 1 || shape[3] < 1 || countOf(shape) > kMostElements) return;
    double terms = double(in[1] * window * window);
    size_t filter = parameter({in[1], channels, window, window}, 1 / std::sqrt(terms));
    emit(
        "$= nn.conv_transpose $0, $1 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: " +
            listOf({pad, pad, pad, pad}) + ">, output_padding = array<i64: 0, 0>} : $t0, $t1",
        {x, filter}, shape, terms * at(x).bound * at(filter).bound);
  }

  void average() {
    size_t x = any([](const Shape &shape) { return shape.size() == 4 && shape[2] >= 3 && shape[3] >= 3; });
    if (x == SIZE_MAX) return;
    Shape in = at(x).shape;
    if (oneIn(3)) {
      emit("$= nn.reduce_mean $0 axes = [2, 3] : $t0", {x}, {in[0], in[1]}, at(x).bound);
      return;
    }
    emit("$= nn.avg_pool $0 {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, "
         "padding = array<i64: 1, 1, 1, 1>, counted_padding = array<i64: 0, 0, 0, 0>} : $t0",
         {x}, {in[0], in[1], (in[2] - 1) / 2 + 1, (in[3] - 1) / 2 + 1}, at(x).bound);
  }

  void accumulate(size_t x) {
    if (at(x).shape.empty()) return;
    size_t axis = below(at(x).shape.size());
    emit("$= nn.cumulative sum $0 axis = " + std::to_string(axis) + (oneIn(2) ? " {exclusive}" : "") + " : $t0", {x},
         Shape(at(x).shape), double(at(x).shape[axis]) * at(x).bound);
  }

  void linear() {
    size_t x = any([](const Shape &shape) { return shape.size() == 2; });
    if (x == SIZE_MAX) return;
    int64_t k = at(x).shape[1], n = pick({1, 10, 16, 48});
    double bound = 1 / std::sqrt(double(k));
    size_t weight = parameter({n, k}, bound), bias = parameter({n}, 1);
    emit("$= nn.linear $0, $1, $2 : $t0, $t1, $t2", {x, weight, bias}, {at(x).shape[0], n},
         double(k) * at(x).bound * bound + 1);
  }

  // What jumps goes by arguments, whose values are exact.
  void select(size_t x) {
    size_t y = any([&](const Shape &shape) { return shape == at(x).shape; });
    size_t by = any([&](const Shape &shape) { return shape == at(x).shape; });
    if (at(by).kind != Value::Argument) return;
    std::string flags = typeOf(at(x).shape, "i1");
    emit("%zero$n = nn.constant dense<0.125> : tensor<$T>\n"
         "  %flags$n = nn.compare gt $2, %zero$n : $t2, tensor<$T>\n"
         "  $= nn.select %flags$n, $0, $1 : " +
             flags + ", $t0, $t1",
         {x, y, by}, Shape(at(x).shape), std::max(at(x).bound, at(y).bound));
  }

  void branch(size_t x) {
    size_t y = any([&](const Shape &shape) { return shape == at(x).shape; });
    Shape ones(at(0).shape.size(), 1), zeros(at(0).shape.size(), 0);
    std::string one = typeOf(ones, "$T");
    emit("%some$n = nn.slice $2 starts = [" + listOf(zeros) + "] sizes = [" + listOf(ones) + "] steps = [" +
             listOf(ones) + "] : $t2\n  %first$n = nn.reshape %some$n : " + one +
             " to tensor<$T>\n"
             "  %zero$n = nn.constant dense<0.125> : tensor<$T>\n"
             "  %flag$n = nn.compare gt %first$n, %zero$n : tensor<$T>, tensor<$T>\n"
             "  $= nn.cond %flag$n with (%a$n = $0 : $t0, %b$n = $1 : $t1) -> $r {\n"
             "    %c$n = nn.tanh %a$n : $t0\n    %d$n = nn.mul %c$n, %b$n : $t0, $t1\n    nn.yield %d$n : $r\n"
             "  } else {\n    %c$n = nn.sin %b$n : $t1\n    nn.yield %c$n : $r\n  }",
         {x, y, 0}, Shape(at(x).shape), std::max(1.0, at(y).bound));
  }

  void update(size_t parameter) {
    Shape shape = at(parameter).shape;
    size_t value = any([&](const Shape &other) { return other == shape; });
    if (oneIn(2)) value = emit("$= nn.sub $0, $1 : $t0, $t1", {parameter, value}, shape, 2);
    if (at(value).bound > 1 || at(value).kind != Value::Operation) value = unary("tanh", value, 1);
    network.updates.push_back({parameter, value});
  }

  void chooseResults() {
    std::vector<char> used(network.values.size(), false);
    for (const Value &value : network.values)
      for (size_t operand : value.operands) used[operand] = true;
    for (size_t i = 0; i < used.size(); ++i)
      if (at(i).kind == Value::Operation && (!used[i] || oneIn(12))) network.results.push_back(i);
    if (network.results.empty()) network.results.push_back(unary("tanh", 0, 1));
  }

  // Parameters that a value depends on and that nothing sets yet.
  std::vector<size_t> parametersOf(size_t result) const {
    std::vector<char> needed(network.values.size(), false);
    needed[result] = true;
    std::vector<size_t> found;
    for (size_t i = result + 1; i-- > 0;) {
      if (!needed[i]) continue;
      for (size_t operand : at(i).operands) needed[operand] = true;
      auto isSet = [&](const RandomNetwork::Update &update) { return update.parameter == i; };
      if (at(i).kind == Value::Parameter && std::none_of(network.updates.begin(), network.updates.end(), isSet))
        found.push_back(i);
    }
    return found;
  }

  // Steps along the gradient of the sum of a result, which stay small.
  void learn() {
    size_t result = 0;
    std::vector<size_t> parameters;
    for (size_t each : network.results) {
      std::vector<size_t> found = parametersOf(each);
      if (found.size() > parameters.size() && !at(each).shape.empty()) result = each, parameters = std::move(found);
    }
    if (parameters.empty()) return;
    network.learns = true;
    Shape axes(at(result).shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    size_t loss = emit("$= nn.reduce sum $0 axes = [" + listOf(axes) + "] : $t0", {result}, {}, 1);
    for (size_t parameter : parameters) {
      Shape shape = at(parameter).shape;
      size_t gradient = emit("$= nn.gradient $0 wrt $1 : ($t0, $t1) -> $r", {loss, parameter}, shape, 1);
      size_t set = emit("%rate$n = nn.constant dense<0.015625> : tensor<$T>\n  %tanh$n = nn.tanh $1 : $t1\n"
                        "  %step$n = nn.mul %tanh$n, %rate$n : $t1, tensor<$T>\n  $= nn.sub $0, %step$n : $t0, $t1",
                        {parameter, gradient}, shape, 1);
      network.updates.push_back({parameter, set});
    }
  }

  RandomNetwork &network;
  std::mt19937_64 random;
  Shape image, matrix;
};

// Elements of a parameter as MLIR's hexadecimal text: spread over [-bound, bound].
std::string elementsOf(const Value &value, size_t number, const std::string &element) {
  if (value.isEven) return std::to_string(value.bound);
  std::mt19937_64 random(number + 99);
  std::string text = "\"0x";
  auto add = [&](auto bits) {
    for (size_t byte = 0; byte < sizeof bits; ++byte) {
      static const char digits[] = "0123456789ABCDEF";
      text += digits[bits >> (8 * byte + 4) & 15];
      text += digits[bits >> (8 * byte) & 15];
    }
  };
  for (int64_t i = 0; i < countOf(value.shape); ++i) {
    double number = value.bound * (double(random() >> 11) * 0x1p-52 - 1);
    element == "f64" ? add(std::bit_cast<uint64_t>(number)) : add(std::bit_cast<uint32_t>(float(number)));
  }
  return text + "\"";
}

} // namespace

RandomNetwork::RandomNetwork(uint64_t seed) : seed(seed) { Drawing(*this).draw(); }

size_t RandomNetwork::operations() const {
  return size_t(
      std::count_if(values.begin(), values.end(), [](const Value &value) { return value.kind == Value::Operation; }));
}

std::string RandomNetwork::text() const {
  std::vector<char> needed(values.size(), false);
  for (size_t result : results) needed[result] = true;
  for (const Update &update : updates) needed[update.value] = needed[update.parameter] = true;
  for (size_t i = values.size(); i-- > 0;)
    for (size_t operand : values[i].operands) needed[operand] |= needed[i];

  auto type = [&](size_t i) { return typeOf(values[i].shape, element); };
  std::string parameters, arguments, body;
  auto fill = [&](size_t number) {
    const Value &value = values[number];
    std::string text;
    for (size_t c = 0; c < value.format.size(); ++c) {
      if (value.format[c] != '$') {
        text += value.format[c];
        continue;
      }
      switch (char next = value.format[++c]) {
      case '=': text += "%v" + std::to_string(number) + " ="; break;
      case 'n': text += std::to_string(number); break;
      case 'r': text += type(number); break;
      case 'T': text += element; break;
      case 't': text += type(value.operands[size_t(value.format[++c] - '0')]); break;
      default: text += "%v" + std::to_string(value.operands[size_t(next - '0')]);
      }
    }
    return text;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (!needed[i]) continue;
    std::string name = "v" + std::to_string(i);
    if (values[i].kind == Value::Argument) arguments += (arguments.empty() ? "%" : ", %") + name + ": " + type(i);
    if (values[i].kind == Value::Parameter) {
      parameters += "nn.param @" + name + " = dense<" + elementsOf(values[i], i, element) + "> : " + type(i) + "\n";
      body += "  %" + name + " = nn.get_param @" + name + " : " + type(i) + "\n";
    }
    if (values[i].kind == Value::Operation) body += "  " + fill(i) + "\n";
  }
  for (const Update &update : updates)
    body += "  nn.set_param @v" + std::to_string(update.parameter) + ", %v" + std::to_string(update.value) + " : " +
            type(update.value) + "\n";
  std::string names, types;
  for (size_t result : results) {
    names += (names.empty() ? "%v" : ", %v") + std::to_string(result);
    types += (types.empty() ? "" : ", ") + type(result);
  }
  return parameters + "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "  return " + names + " : " +
         types + "\n}\n";
}

RandomNetwork RandomNetwork::without(size_t operation) const {
  RandomNetwork fewer = *this;
  Value &value = fewer.values[operation];
  value.kind = Value::Argument;
  value.operands.clear();
  value.bound = 1;
  // Nothing of a result or an update that an operation does not make.
  auto isGone = [&](size_t each) { return fewer.values[each].kind != Value::Operation; };
  if (fewer.results.size() > 1) std::erase_if(fewer.results, isGone);
  std::erase_if(fewer.updates, [&](const Update &update) { return isGone(update.value); });
  return fewer;
}

RandomNetwork shrink(RandomNetwork network, const std::function<bool(const RandomNetwork &)> &fails) {
  auto accept = [&](RandomNetwork candidate) {
    if (!fails(candidate)) return false;
    network = std::move(candidate);
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = network.results.size(); i-- > 0 && network.results.size() > 1;) {
      RandomNetwork fewer = network;
      fewer.results.erase(fewer.results.begin() + std::ptrdiff_t(i));
      changed |= accept(std::move(fewer));
    }
    for (size_t i = network.updates.size(); i-- > 0;) {
      RandomNetwork fewer = network;
      fewer.updates.erase(fewer.updates.begin() + std::ptrdiff_t(i));
      changed |= accept(std::move(fewer));
    }
    for (size_t i = network.values.size(); i-- > 0;)
      if (network.values[i].kind == Value::Operation && network.results != std::vector<size_t>{i})
        changed |= accept(network.without(i));
  }
  for (size_t i = 0; i < network.values.size(); ++i)
    if (network.values[i].kind == Value::Parameter) {
      RandomNetwork even = network;
      even.values[i].isEven = true;
      accept(std::move(even));
    }
  return network;
}

} // namespace sprig::randoms
