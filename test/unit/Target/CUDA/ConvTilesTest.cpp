// Convolutions, transposed ones and gradients of filters by tiles: the bits of one chain for each element, which leaves
// out what is in the padding, and memory traffic close to the least.
#include "test/unit/Target/CUDA/TileKernels.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace sprig;

namespace {
enum class Kind { plain, rowsInside, transposed, transposedRowsInside, filterGradient };

struct Conv {
  const char *name;
  Kind kind;
  int64_t samples, channels, height, width; // of the operand; of a gradient, of the convolution's
  int64_t outputs, window, stride, dilation, low, high, groups;

  bool isTransposed() const { return kind == Kind::transposed || kind == Kind::transposedRowsInside; }
  bool isRowsInside() const { return kind == Kind::rowsInside || kind == Kind::transposedRowsInside; }
  int64_t reach() const { return dilation * (window - 1) + 1; }
  int64_t outputSize(int64_t size) const {
    return isTransposed() ? (size - 1) * stride + reach() - low - high : (size + low + high - reach()) / stride + 1;
  }
};

std::string shapeOf(std::initializer_list<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes) text += std::to_string(size) + "x";
  return text + "f32";
}

std::string tensor(const std::string &shape) { return "tensor<" + shape + ">"; }

std::string attributes(const Conv &c) {
  auto pair = [](int64_t a, int64_t b) { return "array<i64: " + std::to_string(a) + ", " + std::to_string(b) + ">"; };
  std::string text = "strides = " + pair(c.stride, c.stride) + ", dilations = " + pair(c.dilation, c.dilation) +
                     ", padding = array<i64: " + std::to_string(c.low) + ", " + std::to_string(c.low) + ", " +
                     std::to_string(c.high) + ", " + std::to_string(c.high) +
                     ">, groups = " + std::to_string(c.groups) + " : i64";
  if (c.isTransposed()) text += ", output_padding = array<i64: 0, 0>";
  if (c.kind == Kind::filterGradient) text += ", window = " + pair(c.window, c.window);
  return " {" + text + "} : ";
}

// A convolution, and relu(. + bias) - residual behind it; a gradient alone.
TileCase caseOf(const Conv &c) {
  std::string in = shapeOf({c.samples, c.channels, c.height, c.width});
  std::string out = shapeOf({c.samples, c.outputs, c.outputSize(c.height), c.outputSize(c.width)});
  if (c.kind == Kind::filterGradient) {
    std::string filter = shapeOf({c.outputs, c.channels / c.groups, c.window, c.window});
    return {c.name,
            {in, out},
            "    %0 = nn.conv_filter_grad %a0, %a1" + attributes(c) + tensor(in) + ", " + tensor(out),
            "%0",
            filter};
  }
  int64_t a = c.isTransposed() ? c.channels : c.outputs;
  int64_t b = (c.isTransposed() ? c.outputs : c.channels) / c.groups;
  std::string filter = shapeOf({a, b, c.window, c.window}), stored = filter, text, name = "%a1";
  if (c.isRowsInside()) {
    stored = c.isTransposed() ? shapeOf({c.window, c.window, a, b}) : shapeOf({c.window, c.window, b, a});
    text = std::string("    %w = nn.transpose %a1 ") + (c.isTransposed() ? "[2, 3, 0, 1]" : "[3, 2, 0, 1]") + " : " +
           tensor(stored) + "\n";
    name = "%w";
  }
  std::string bias = shapeOf({c.outputs, 1, 1}), t = tensor(out);
  text += std::string("    %0 = nn.conv") + (c.isTransposed() ? "_transpose" : "") + " %a0, " + name + attributes(c) +
          tensor(in) + ", " + tensor(filter);
  text += "\n    %1 = nn.add %0, %a2 : " + t + ", " + tensor(bias) + "\n    %2 = nn.relu %1 : " + t +
          "\n    %3 = nn.sub %2, %a3 : " + t + ", " + t;
  return {c.name, {in, stored, bias, out}, text, "%3", out};
}

// Sums in the order of nn's operations; those of gradients of more than 1024 products are chains of 512.
std::vector<float> expected(const Conv &c, const std::vector<std::vector<float>> &x) {
  int64_t h = c.height, w = c.width, oh = c.outputSize(h), ow = c.outputSize(w), k = c.window;
  int64_t channels = c.channels / c.groups, outputs = c.outputs / c.groups;
  auto in = [&](int64_t n, int64_t ch, int64_t y, int64_t at) {
    return x[0][((n * c.channels + ch) * h + y) * w + at];
  };
  auto inside = [](int64_t a, int64_t size) { return a >= 0 && a < size; };
  std::vector<float> result;
  if (c.kind == Kind::filterGradient) {
    int64_t steps = c.samples * oh * ow, part = steps > 1024 ? 512 : steps;
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t ch = 0; ch < channels; ++ch)
        for (int64_t tap = 0; tap < k * k; ++tap) {
          float total = 0, chain = 0;
          for (int64_t step = 0; step < steps; ++step) {
            if (step % part == 0 && step) total += std::exchange(chain, 0.0f);
            int64_t n = step / (oh * ow), p = step % (oh * ow);
            int64_t y = p / ow * c.stride + tap / k * c.dilation - c.low;
            int64_t at = p % ow * c.stride + tap % k * c.dilation - c.low;
            if (inside(y, h) && inside(at, w))
              chain =
                  std::fma(in(n, o / outputs * channels + ch, y, at), x[1][(n * c.outputs + o) * oh * ow + p], chain);
          }
          result.push_back(steps > 1024 ? total + chain : chain);
        }
    return result;
  }
  auto filter = [&](int64_t g, int64_t o, int64_t ch, int64_t tap) {
    int64_t a = c.isTransposed() ? g * channels + ch : g * outputs + o, b = c.isTransposed() ? o : ch;
    int64_t as = c.isTransposed() ? c.channels : c.outputs, bs = c.isTransposed() ? outputs : channels;
    if (!c.isRowsInside()) return x[1][(a * bs + b) * k * k + tap];
    return x[1][c.isTransposed() ? (tap * as + a) * bs + b : (tap * bs + b) * as + a];
  };
  for (int64_t n = 0; n < c.samples; ++n)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t p = 0; p < oh * ow; ++p) {
        float chain = 0;
        for (int64_t tap = 0; tap < k * k; ++tap) {
          int64_t y = p / ow, at = p % ow;
          if (c.isTransposed()) {
            y += c.low - tap / k * c.dilation, at += c.low - tap % k * c.dilation;
            if (y % c.stride || at % c.stride) continue;
            y /= c.stride, at /= c.stride;
          } else {
            y = y * c.stride + tap / k * c.dilation - c.low, at = at * c.stride + tap % k * c.dilation - c.low;
          }
          if (!inside(y, h) || !inside(at, w)) continue;
          for (int64_t ch = 0; ch < channels; ++ch)
            chain =
                std::fma(in(n, o / outputs * channels + ch, y, at), filter(o / outputs, o % outputs, ch, tap), chain);
        }
        float sum = chain + x[2][o];
        result.push_back((sum > 0 || std::isnan(sum) ? sum : 0.0f) - x[3][result.size()]);
      }
  return result;
}

int64_t countOf(const std::string &shape) {
  int64_t count = 1;
  for (size_t at = 0; shape[at] != 'f'; at = shape.find('x', at) + 1) count *= std::stoll(shape.substr(at));
  return count;
}

using Fill = std::function<void(std::vector<float> &values)>;

void fillRandom(std::vector<float> &values) {
  static std::mt19937 random(3);
  for (float &value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
}

// Whatever is multiplied by an infinity by mistake becomes a NaN.
void fillSpecial(std::vector<float> &values) {
  fillRandom(values);
  for (size_t i = 0; i < values.size(); i += 23) values[i] = i % 2 ? INFINITY : -INFINITY;
  values[values.size() / 3] = NAN;
}

// With the NaN by which kernels mark what is in the padding.
void fillMarked(std::vector<float> &values) {
  fillRandom(values);
  const uint32_t mark = 0x7fedcba9;
  std::memcpy(&values[values.size() / 2], &mark, sizeof mark);
}

std::vector<std::vector<float>> buffersOf(const Conv &c, const Fill &left, const Fill &right) {
  TileCase each = caseOf(c);
  std::vector<std::vector<float>> buffers;
  for (size_t i = 0; i < each.operands.size(); ++i) {
    auto &buffer = buffers.emplace_back(countOf(each.operands[i]));
    i == 0 ? left(buffer) : i == 1 ? right(buffer) : fillRandom(buffer);
  }
  buffers.emplace_back(countOf(each.type), 0.0f);
  return buffers;
}

TileKernels kernelsOf(const std::vector<Conv> &convolutions) {
  std::vector<TileCase> cases;
  for (const Conv &each : convolutions) cases.push_back(caseOf(each));
  return TileKernels(cases);
}

bool areSame(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }
} // namespace

TEST(ConvTiles, HaveTheBitsOfOneChain) {
  const std::vector<Conv> convolutions = {
      // samples, channels, height, width; outputs, window, stride, dilation, low, high, groups
      {"padded", Kind::plain, 1, 16, 9, 12, 32, 3, 1, 1, 1, 1, 1},
      {"strided", Kind::rowsInside, 2, 9, 11, 12, 31, 3, 2, 1, 1, 2, 1},
      {"groups", Kind::rowsInside, 1, 24, 7, 12, 64, 3, 1, 2, 2, 2, 2},
      {"few_channels", Kind::rowsInside, 1, 3, 19, 18, 30, 5, 2, 1, 2, 2, 1},
      {"far", Kind::plain, 1, 8, 4, 5, 16, 3, 1, 1, 9, 9, 1},
      {"pointwise", Kind::plain, 3, 28, 4, 6, 32, 1, 1, 1, 0, 0, 1},
      {"inside", Kind::rowsInside, 2, 5, 10, 10, 16, 3, 1, 1, 0, 0, 1},
      {"transposed", Kind::transposed, 1, 16, 7, 8, 16, 3, 1, 1, 1, 1, 1},
      {"phases", Kind::transposedRowsInside, 3, 18, 7, 6, 32, 3, 2, 1, 1, 0, 1},
      {"far_phases", Kind::transposed, 2, 32, 6, 6, 32, 4, 3, 2, 1, 0, 2},
      {"gradient", Kind::filterGradient, 2, 8, 9, 7, 16, 3, 1, 1, 1, 1, 1},
      {"strided_gradient", Kind::filterGradient, 3, 12, 22, 41, 31, 3, 2, 1, 1, 1, 1},
      {"gradient_of_groups", Kind::filterGradient, 2, 32, 6, 8, 64, 3, 1, 2, 2, 2, 2},
      {"pointwise_gradient", Kind::filterGradient, 2, 32, 8, 8, 32, 1, 1, 1, 0, 0, 1},
  };
  TileKernels kernels = kernelsOf(convolutions);
  for (const Conv &c : convolutions) {
    SCOPED_TRACE(c.name);
    std::vector<std::vector<float>> buffers = buffersOf(c, fillMarked, fillSpecial);
    EXPECT_LT(kernels.kernel(c.name).launch.threads, 256u) << "a thread for each element";
    kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
    std::vector<float> want = expected(c, buffers);
    ASSERT_EQ(want.size(), buffers.back().size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(areSame(buffers.back()[i], want[i])) << i << ": " << buffers.back()[i] << ", not " << want[i];
  }
}

// What is in the padding changes not even the sign of a zero.
TEST(ConvTiles, KeepTheSignOfZero) {
  const Conv c{"zeros", Kind::filterGradient, 1, 16, 9, 9, 16, 3, 1, 1, 1, 1, 1};
  auto tiny = [](float value) { return [value](std::vector<float> &values) { values.assign(values.size(), value); }; };
  std::vector<std::vector<float>> buffers = buffersOf(c, tiny(1e-30f), tiny(-1e-30f));
  TileKernels kernels = kernelsOf({c});
  kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
  for (float value : buffers.back()) EXPECT_TRUE(value == 0 && std::signbit(value));
}

TEST(ConvTiles, TakeFewSectorsAndNoBankTwice) {
  const std::vector<Conv> convolutions = {
      {"pointwise", Kind::plain, 1, 64, 16, 16, 64, 1, 1, 1, 0, 0, 1},
      {"large", Kind::rowsInside, 4, 32, 64, 64, 64, 3, 1, 1, 1, 1, 1},
      {"small", Kind::rowsInside, 1, 32, 32, 32, 16, 3, 1, 1, 0, 0, 1},
      {"odd", Kind::rowsInside, 1, 32, 31, 31, 32, 3, 1, 1, 1, 1, 1},
  };
  TileKernels kernels = kernelsOf(convolutions);
  for (const Conv &c : convolutions) {
    std::vector<std::vector<float>> buffers = buffersOf(c, fillRandom, fillRandom);
    TrafficRatios ratios = ratiosOf(kernels.run(c.name, buffers, 1, 1));
    // Windows begin anywhere in a sector.
    EXPECT_LE(ratios.global, c.window == 1 ? 1.1 : 1.3) << c.name;
    EXPECT_LE(ratios.shared, 1.0) << c.name;
  }
}
