// sprig bench matmul and dtypes: products of matrices that are known at run time only, compiled as any model is.
#include "lib/Data/Largest.h"
#include "lib/Machine/MachineModel.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/inspect/MachineFile.h"
#include "tools/sprig/Model.h"
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace sprig::cli {
namespace {

struct Shape {
  int64_t rows, columns, depth;
  double flops() const { return 2.0 * double(rows) * double(columns) * double(depth); }
  std::string text() const {
    return std::to_string(rows) + " x " + std::to_string(depth) + " x " + std::to_string(columns);
  }
};

Model productModel(Shape s, const std::string &type) {
  auto tensor = [&](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  };
  std::string a = tensor(s.rows, s.depth), b = tensor(s.depth, s.columns);
  Model model;
  model.path = "matmul of " + type;
  model.kind = ModelKind::mlir;
  model.text = "func.func @main(%a: " + a + ", %b: " + b + ") -> " + tensor(s.rows, s.columns) +
               " {\n  %c = nn.matmul %a, %b : " + a + ", " + b + "\n  return %c : " + tensor(s.rows, s.columns) +
               "\n}\n";
  return model;
}

/// What a product with a constant multiplies and sums, and the bytes of an element of the constant.
struct Factors {
  std::string name, left, right, sum;
  int64_t bytes;
};

/// The elements of a constant, in hexadecimal digits: bytes that look random, or floats of moderate size.
std::string constantDigits(int64_t elements, int64_t bytes) {
  std::string digits;
  uint32_t state = 1;
  for (int64_t i = 0; i < elements; ++i) {
    state = state * 1664525u + 1013904223u;
    uint32_t bits = bytes == 1 ? state : std::bit_cast<uint32_t>(float(int32_t(state)) * 0x1p-31f);
    // The upper bytes of a number are those of a narrower one.
    for (int64_t place = 4 - bytes; place < 4; ++place)
      for (int64_t shift : {8 * place + 4, 8 * place}) digits += "0123456789ABCDEF"[bits >> shift & 15];
  }
  return digits;
}

/// A product with a constant: how a network multiplies.
Model constantProductModel(Shape s, const Factors &f) {
  auto tensor = [](int64_t rows, int64_t columns, const std::string &type) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  };
  std::string a = tensor(s.rows, s.depth, f.left), b = tensor(s.depth, s.columns, f.right);
  std::string c = tensor(s.rows, s.columns, f.sum), attributes;
  if (f.sum != f.left) attributes = " {accumulator = " + f.sum + "}";
  Model model;
  model.path = "matmul of " + f.name;
  model.kind = ModelKind::mlir;
  model.text = "func.func @main(%a: " + a + ") -> " + c + " {\n  %b = nn.constant dense<\"0x" +
               constantDigits(s.depth * s.columns, f.bytes) + "\"> : " + b + "\n  %c = nn.matmul %a, %b" + attributes +
               " : " + a + ", " + b + "\n  return %c : " + c + "\n}\n";
  return model;
}

/// One compiled product on its random operands.
class Product {
public:
  Product(Shape shape, const std::string &type, const Settings &settings, int threads)
      : Product(productModel(shape, type), shape, settings, threads) {}
  Product(Model model, Shape shape, Settings settings, int threads) {
    settings.threads = threads;
    runner = compileAndLoad(model, {EntryRequest{}}, settings);
    // By constants alone, rows are samples that do not depend on each other.
    fillRandom(runner->inputSpecs(), 1, {{"batch", shape.rows}}, arrays);
    call = runner->prepare(arrays);
    call.invoke();
  }

  double once() {
    auto start = std::chrono::steady_clock::now();
    call.invoke();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  // The quickest of at least three calls, and of more while they are short.
  double seconds() {
    double best = 1e30, spent = 0;
    for (int i = 0; i < 3 || (spent < 0.3 && i < 1000); ++i) {
      double took = once();
      best = std::min(best, took);
      spent += took;
    }
    return best;
  }

  // The largest error of some elements of a product of two inputs, in units of what rounding may do: 0 or infinite for
  // integers, which wrap in their own type.
  double error(Shape s) {
    const data::Array &a = arrays.begin()->second, &b = std::next(arrays.begin())->second;
    call.invoke();
    data::Array got = std::move(call.takeOutputs().front());
    double worst = 0;
    for (int64_t i = 0; i < 400; ++i) {
      // The corners and edges first, then all over.
      int64_t row = i < 4 ? (i & 1) * (s.rows - 1) : i * 7919 % s.rows,
              column = i < 4 ? (i >> 1) * (s.columns - 1) : i * 104729 % s.columns;
      int64_t at = row * s.columns + column;
      double exact = 0, size = 0;
      uint64_t whole = 0;
      for (int64_t k = 0; k < s.depth; ++k) {
        int64_t left = row * s.depth + k, right = k * s.columns + column;
        if (!data::isFloat(got.dtype)) {
          whole += uint64_t(a.integerAt(left)) * uint64_t(b.integerAt(right));
          continue;
        }
        double product = a.at(left) * b.at(right);
        exact += product;
        size += std::fabs(product);
      }
      if (!data::isFloat(got.dtype)) {
        int unused = 64 - 8 * int(data::size(got.dtype));
        if ((whole ^ uint64_t(got.integerAt(at))) << unused) worst = INFINITY;
        continue;
      }
      double bound = size * double(s.depth) * (got.dtype == data::DType::f64 ? 0x1p-53 : 0x1p-24);
      if (data::size(got.dtype) == 2) bound += std::fabs(exact) * (got.dtype == data::DType::f16 ? 0x1p-11 : 0x1p-8);
      worst = data::largest(worst, std::fabs(got.at(at) - exact) / (bound + 1e-30));
    }
    return worst;
  }

private:
  std::optional<Runner> runner;
  std::map<std::string, data::Array> arrays;
  PreparedCall call;
};

// Both in turn, so that a slow moment of the machine hits both.
std::pair<double, double> inTurn(Product &one, Product &all) {
  double first = 1e30, second = 1e30;
  for (int round = 0; round < 12; ++round) {
    first = std::min(first, one.once());
    second = std::min(second, all.once());
  }
  return {first, second};
}

} // namespace

void benchMatmul(const ExperimentOptions &options, ExperimentReport &report) {
  machine::MachineModel peak = machine::modelOf(calibration(machine::readCpu()));
  int64_t n = options.n ? options.n : 4096;
  report.table("matmul", {"f32, rows x depth x columns", "threads", "ms", "GFLOP/s", "% of peak"});
  auto add = [&](Shape shape, int threads, double seconds) {
    double rate = shape.flops() / seconds;
    report.row({shape.text(), threads, seconds * 1e3, rate / 1e9, 100 * rate / peak.flopRate(threads)});
  };
  {
    Shape shape{n, n, n};
    Product product(shape, "f32", options.settings, options.threads);
    double seconds = product.seconds();
    add(shape, options.threads, seconds);
    report.note(formatDouble(shape.flops() / seconds / 1e12, 4) + " TFLOPS at " + std::to_string(n));
  }
  if (options.threads > 1) {
    Shape shape{1000, 1000, 1000};
    Product one(shape, "f32", options.settings, 1), all(shape, "f32", options.settings, options.threads);
    auto [first, second] = inTurn(one, all);
    add(shape, 1, first);
    add(shape, options.threads, second);
    report.timed("at 1000 x 1000, " + std::to_string(options.threads) + " threads are more than 1.6 times as fast",
                 formatDouble(first / second, 3) + " times", first / second > 1.6);
  }
  double worst = 0;
  for (Shape shape : {Shape{1, 1, 1}, Shape{1, 33, 17}, Shape{3, 5, 1000}, Shape{127, 129, 131}, Shape{509, 63, 257}}) {
    Product product(shape, "f32", options.settings, options.threads);
    add(shape, options.threads, product.seconds());
    worst = data::largest(worst, product.error(shape));
  }
  report.verdict("odd sizes are right", formatDouble(worst, 3) + " of the bound on rounding, against double precision",
                 worst <= 1);
}

void benchDtypes(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 1024;
  Shape shape{n, n, n};
  report.table("dtypes", {"element type", "bytes", "ms", "GOP/s", "times f32", "at best"});
  double f32 = 0, best = 0, error = 0;
  for (auto [type, bytes] : {std::pair("f32", 4), {"f64", 8}, {"bf16", 2}, {"f16", 2}, {"i32", 4}, {"i8", 1}}) {
    try {
      Product product(shape, type, options.settings, options.threads);
      double seconds = product.seconds();
      error = data::largest(error, product.error(shape));
      if (f32 == 0) f32 = seconds;
      report.row({type, bytes, seconds * 1e3, shape.flops() / seconds / 1e9, f32 / seconds, 4.0 / bytes});
      if (bytes < 4) best = std::max(best, f32 / seconds * bytes / 4);
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      report.row({type, bytes, nullptr, nullptr, "not supported", nullptr});
    }
  }
  // How networks multiply: weights are packed once.
  double constants = 0;
  for (const Factors &factors : {Factors{"f32 by constants", "f32", "f32", "f32", 4},
                                 {"bf16 by constants, in f32", "bf16", "bf16", "f32", 2},
                                 {"ui8 by constants of i8, in i32", "ui8", "i8", "i32", 1}}) {
    double seconds = Product(constantProductModel(shape, factors), shape, options.settings, options.threads).seconds();
    if (constants == 0) constants = seconds;
    double times = constants / seconds, atBest = 4.0 / double(factors.bytes);
    report.row({factors.name, factors.bytes, seconds * 1e3, shape.flops() / seconds / 1e9, times, atBest});
    best = std::max(best, times / atBest);
  }
  report.verdict("products are right in every type", formatDouble(error, 3) + " of the bound on rounding", error <= 1);
  report.timed("half the bytes are at best twice as fast", formatDouble(2 * best, 3) + " times for half of them",
               best <= 1.1);
  report.note(
      "bf16 and f16 are stored in 2 bytes and computed in f32: each element is converted when it is loaded, so a "
      "product bound by arithmetic is slower than in f32, and what they save is memory. Integers wrap in their "
      "own type. By constants, bytes are multiplied in fours and bf16 in twos where the processor has instructions for "
      "that (VNNI, AVX512_BF16): a result does not depend on the processor. Products of computed bytes, as i8 above, "
      "are not.");
}

} // namespace sprig::cli
