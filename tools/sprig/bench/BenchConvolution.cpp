// sprig bench convolution: all of n x n * n x n, directly and by Fourier transforms that are products of small
// matrices, each on one thread and on all, so that what the algorithm gains and what threads gain are told apart.
#include "lib/Data/Largest.h"
#include "runtime/base/Decimal.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

namespace sprig::cli {
namespace {

std::string typeOf(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + "f32>";
}

// nn.conv correlates: the filter is turned around.
Model directModel(int64_t n) {
  int64_t out = 2 * n - 1, pad = n - 1;
  std::string from = typeOf({n, n}), in = typeOf({1, 1, n, n}), to = typeOf({1, 1, out, out}),
              last = std::to_string(pad), size = std::to_string(n), flat = typeOf({out, out});
  return textModel("direct convolution",
                   "func.func @main(%x: " + from + ", %w: " + from + ") -> " + flat +
                       " {\n  %0 = nn.slice %w starts = [" + last + ", " + last + "] sizes = [" + size + ", " + size +
                       "] steps = [-1, -1] : " + from + "\n  %1 = nn.reshape %x : " + from + " to " + in +
                       "\n  %2 = nn.reshape %0 : " + from + " to " + in +
                       "\n  %3 = nn.conv %1, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = " +
                       "array<i64: " + last + ", " + last + ", " + last + ", " + last + ">} : " + in + ", " + in +
                       "\n  %4 = nn.reshape %3 : " + to + " to " + flat + "\n  return %4 : " + flat + "\n}\n");
}

// A complex value of a program: names of its real and imaginary part; no imaginary part where it is zero.
struct Complex {
  std::string re, im;
};

// Writes transforms of length N = a * b of the rows of an N x N matrix in two steps (Cooley and Tukey, 1965): over
// places of the same remainder by b, a factor each, over the remainders. Frequency k1 + a * k2 stands at k1 * b + k2:
// both factors of a product are in that order, and the way back begins with it.
class FourierWriter {
public:
  explicit FourierWriter(int64_t least)
      : a(int64_t(std::ceil(std::sqrt(double(least))))), b((least + a - 1) / a), size(a * b) {}

  Model model(int64_t n) {
    int64_t out = 2 * n - 1;
    std::string from = typeOf({n, n}), result = typeOf({out, out}), pads = std::to_string(size - n);
    auto spectrum = [&](const std::string &name) {
      std::string padded = emit("nn.pad constant " + name + ", %zero low = [0, 0] high = [" + pads + ", " + pads +
                                "] : " + from + ", tensor<f32>");
      return transform(turned(transform({padded, ""}, -1)), -1);
    };
    Complex x = spectrum("%x"), w = spectrum("%w");
    Complex product = {sum("sub", times(x.re, w.re), times(x.im, w.im)),
                       sum("add", times(x.re, w.im), times(x.im, w.re))};
    Complex back = transform(turned(transform(product, 1)), 1);
    std::string scale = constant(1, 1, [&](int64_t, int64_t) { return 1.0 / double(size) / double(size); });
    std::string scaled = emit("nn.mul " + back.re + ", " + scale + " : " + square() + ", " + typeOf({1, 1}));
    std::string cut = emit("nn.slice " + scaled + " starts = [0, 0] sizes = [" + std::to_string(out) + ", " +
                           std::to_string(out) + "] steps = [1, 1] : " + square());
    return textModel("convolution by Fourier transforms", "func.func @main(%x: " + from + ", %w: " + from + ") -> " +
                                                              result +
                                                              " {\n  %zero = nn.constant dense<0.0> : tensor<f32>\n" +
                                                              body + "  return " + cut + " : " + result + "\n}\n");
  }

private:
  std::string emit(const std::string &operation) {
    std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }
  template <typename At> std::string constant(int64_t rows, int64_t columns, At at) {
    std::string list = "[";
    for (int64_t i = 0; i < rows; ++i) {
      list += i ? ", [" : "[";
      for (int64_t j = 0; j < columns; ++j)
        list += (j ? ", " : "") + decimal::format(at(i, j), std::chars_format::scientific, 9);
      list += "]";
    }
    return emit("nn.constant dense<" + list + "]> : " + typeOf({rows, columns}));
  }
  // exp(sign * 2 pi i * i * j / of), in parts.
  Complex roots(int64_t rows, int64_t columns, int64_t of, int sign) {
    auto angle = [=](int64_t i, int64_t j) { return sign * 2 * std::numbers::pi * double(i * j % of) / double(of); };
    return {constant(rows, columns, [=](int64_t i, int64_t j) { return std::cos(angle(i, j)); }),
            constant(rows, columns, [=](int64_t i, int64_t j) { return std::sin(angle(i, j)); })};
  }

  std::string square() const { return typeOf({size, size}); }
  std::string times(const std::string &x, const std::string &y) {
    return emit("nn.mul " + x + ", " + y + " : " + square() + ", " + square());
  }
  std::string sum(const char *what, const std::string &x, const std::string &y, std::string type = "") {
    if (type.empty()) type = square();
    return emit("nn." + std::string(what) + " " + x + ", " + y + " : " + type + ", " + type);
  }
  std::string reshape(const std::string &x, const std::string &from, const std::string &to) {
    return emit("nn.reshape " + x + " : " + from + " to " + to);
  }

  Complex turned(const Complex &x) {
    auto turn = [&](const std::string &part) { return emit("nn.transpose " + part + " [1, 0] : " + square()); };
    return {turn(x.re), turn(x.im)};
  }

  // Of the last axis: from places to frequencies, or back.
  Complex transform(const Complex &x, int sign) {
    return sign < 0 ? step(factors(step(x, a, b, true, sign), sign), b, a, false, sign)
                    : step(factors(step(x, b, a, false, sign), sign), a, b, true, sign);
  }

  // Products with the m x m matrix of roots: over the middle one of [rows, m, other], or the last one of
  // [rows, other, m]. Between the two steps of a transform values are [rows, a, b].
  Complex step(const Complex &x, int64_t m, int64_t other, bool middle, int sign) {
    std::string flat = typeOf({size * other, m}), matrix = typeOf({m, m});
    std::string blocks = typeOf({size, a, b}), sideways = typeOf({size, b, a});
    Complex root = roots(m, m, m, sign);
    auto enter = [&](const std::string &part) {
      std::string cut = reshape(part, square(), blocks);
      if (middle) cut = emit("nn.transpose " + cut + " [0, 2, 1] : " + blocks);
      return reshape(cut, middle ? sideways : blocks, flat);
    };
    auto leave = [&](const std::string &part) {
      std::string cut = reshape(part, flat, middle ? sideways : blocks);
      if (middle) cut = emit("nn.transpose " + cut + " [0, 2, 1] : " + sideways);
      return reshape(cut, blocks, square());
    };
    auto by = [&](const std::string &part, const std::string &roots) {
      return emit("nn.matmul " + part + ", " + roots + " : " + flat + ", " + matrix);
    };
    std::string re = enter(x.re);
    if (x.im.empty()) return {leave(by(re, root.re)), leave(by(re, root.im))};
    std::string im = enter(x.im);
    return {leave(sum("sub", by(re, root.re), by(im, root.im), flat)),
            leave(sum("add", by(re, root.im), by(im, root.re), flat))};
  }

  // Times the root of each place of [a, b], the same in all rows.
  Complex factors(const Complex &x, int sign) {
    std::string blocks = typeOf({size, a, b}), place = typeOf({a, b});
    Complex root = roots(a, b, size, sign);
    std::string re = reshape(x.re, square(), blocks), im = reshape(x.im, square(), blocks);
    auto by = [&](const std::string &part, const std::string &roots) {
      return emit("nn.mul " + part + ", " + roots + " : " + blocks + ", " + place);
    };
    return {reshape(sum("sub", by(re, root.re), by(im, root.im), blocks), blocks, square()),
            reshape(sum("add", by(re, root.im), by(im, root.re), blocks), blocks, square())};
  }

  int64_t a, b, size;
  std::string body;
  int next = 0;
};

std::vector<float> floatsOf(const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

} // namespace

void benchConvolution(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 100;
  std::string sizes = std::to_string(n) + " x " + std::to_string(n);
  report.table("convolution", {"all of " + sizes + " * " + sizes, "threads", "ms", "MFLOP", "GFLOP/s"});
  Model models[] = {directModel(n), FourierWriter(2 * n - 1).model(n)};
  std::vector<int> threads = {1};
  if (options.threads > 1) threads.push_back(options.threads);
  std::vector<std::unique_ptr<TimedProgram>> programs;
  for (const Model &model : models)
    for (int count : threads) {
      Settings settings = options.settings;
      settings.threads = count;
      programs.push_back(std::make_unique<TimedProgram>(model, settings));
    }
  std::vector<TimedProgram *> all;
  for (auto &program : programs) all.push_back(program.get());
  std::vector<double> best = bestInTurn(all, 2, n < 50 ? 0.1 : 0.5);
  for (size_t i = 0; i < all.size(); ++i)
    report.row({i < threads.size() ? "direct" : "by Fourier transforms", threads[i % threads.size()], best[i] * 1e3,
                all[i]->flops() / 1e6, all[i]->flops() / best[i] / 1e9});

  double direct = best[0], fourier = best[threads.size()];
  std::vector<float> wanted = floatsOf(all[0]->outputs().at(0)), got = floatsOf(all[threads.size()]->outputs().at(0));
  double largest = 0, error = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, double(std::fabs(wanted[i])));
    error = data::largest(error, double(std::fabs(wanted[i] - got[i])));
  }
  report.verdict("both give the same values within rounding",
                 formatDouble(error, 2) + " apart at most, of " + formatDouble(largest, 3), error <= 1e-5 * largest);
  report.timed("the transforms win, on one thread", formatDouble(direct / fourier, 3) + " times as fast",
               direct > fourier);
  if (options.threads == 1) return;
  bool same = true;
  for (size_t way = 0; way < 2; ++way) {
    double gain = best[way * 2] / best[way * 2 + 1];
    same &= all[way * 2]->outputs() == all[way * 2 + 1]->outputs();
    report.timed(std::to_string(options.threads) + " threads win " + (way ? "for the transforms" : "directly"),
                 formatDouble(gain, 3) + " times as fast", gain > 1);
  }
  report.verdict("threads change no bit", same ? "of both" : "other bits", same);
}

} // namespace sprig::cli
