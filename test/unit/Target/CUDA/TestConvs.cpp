#include "test/unit/Target/CUDA/TestConvs.h"
#include <random>

using namespace sprig;

static std::string shapeOf(std::initializer_list<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes) text += std::to_string(size) + "x";
  return text + "f32";
}

static std::string tensor(const std::string &shape) { return "tensor<" + shape + ">"; }

static std::string attributes(const TestConv &c) {
  auto pair = [](int64_t a, int64_t b) { return "array<i64: " + std::to_string(a) + ", " + std::to_string(b) + ">"; };
  std::string text = "strides = " + pair(c.stride, c.stride) + ", dilations = " + pair(c.dilation, c.dilation) +
                     ", padding = array<i64: " + std::to_string(c.low) + ", " + std::to_string(c.low) + ", " +
                     std::to_string(c.high) + ", " + std::to_string(c.high) +
                     ">, groups = " + std::to_string(c.groups) + " : i64";
  if (c.isTransposed()) text += ", output_padding = array<i64: 0, 0>";
  if (c.isGradient()) text += ", window = " + pair(c.window, c.window);
  if (c.kind == TestConv::filterGradientParts) text += ", channels_first";
  return " {" + text + "} : ";
}

TileCase sprig::caseOf(const TestConv &c) {
  std::string in = shapeOf({c.samples, c.channels, c.height, c.width});
  std::string out = shapeOf({c.samples, c.outputs, c.outputSize(c.height), c.outputSize(c.width)});
  if (c.isGradient()) {
    std::string filter = shapeOf({c.outputs, c.channels / c.groups, c.window, c.window}), op = "nn.conv_filter_grad";
    if (c.kind == TestConv::filterGradientParts) {
      filter = std::to_string((c.steps() + 511) / 512) + "x" + filter;
      op = "kernel.conv_filter_grad_parts";
    }
    return {c.name, {in, out}, "    %0 = " + op + " %a0, %a1" + attributes(c) + tensor(in) + ", " + tensor(out),
            "%0",   filter,    c.tf32};
  }
  int64_t a = c.isTransposed() ? c.channels : c.outputs;
  int64_t b = (c.isTransposed() ? c.outputs : c.channels) / c.groups;
  std::string filter = shapeOf({a, b, c.window, c.window}), stored = filter, text, name = "%a1";
  if (c.isView()) {
    stored = c.isFirstInside() ? shapeOf({c.window, c.window, b, a}) : shapeOf({c.window, c.window, a, b});
    text = std::string("    %w = nn.transpose %a1 ") + (c.isFirstInside() ? "[3, 2, 0, 1]" : "[2, 3, 0, 1]") + " : " +
           tensor(stored) + "\n";
    name = "%w";
  }
  std::string bias = shapeOf({c.outputs, 1, 1}), t = tensor(out);
  text += std::string("    %0 = nn.conv") + (c.isTransposed() ? "_transpose" : "") + " %a0, " + name + attributes(c) +
          tensor(in) + ", " + tensor(filter);
  text += "\n    %1 = nn.add %0, %a2 : " + t + ", " + tensor(bias) + "\n    %2 = nn.relu %1 : " + t +
          "\n    %3 = nn.sub %2, %a3 : " + t + ", " + t;
  return {c.name, {in, stored, bias, out}, text, "%3", out, c.tf32};
}

void sprig::forProducts(const TestConv &c, const std::vector<std::vector<float>> &x,
                        const std::function<void(int64_t, float, float)> &product,
                        const std::function<void(int64_t)> &end, const std::function<bool(int64_t, int64_t)> &wanted) {
  int64_t h = c.height, w = c.width, oh = c.outputSize(h), ow = c.outputSize(w), k = c.window;
  int64_t channels = c.channels / c.groups, outputs = c.outputs / c.groups;
  auto in = [&](int64_t n, int64_t ch, int64_t y, int64_t at) {
    return x[0][((n * c.channels + ch) * h + y) * w + at];
  };
  auto inside = [](int64_t a, int64_t size) { return a >= 0 && a < size; };
  if (c.isGradient()) {
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t ch = 0; ch < channels; ++ch)
        for (int64_t tap = 0; tap < k * k; ++tap) {
          for (int64_t step = 0; step < c.steps(); ++step) {
            int64_t n = step / (oh * ow), p = step % (oh * ow);
            int64_t y = p / ow * c.stride + tap / k * c.dilation - c.low;
            int64_t at = p % ow * c.stride + tap % k * c.dilation - c.low;
            if (inside(y, h) && inside(at, w))
              product(step, in(n, o / outputs * channels + ch, y, at), x[1][(n * c.outputs + o) * oh * ow + p]);
          }
          end(o);
        }
    return;
  }
  auto filter = [&](int64_t g, int64_t o, int64_t ch, int64_t tap) {
    int64_t a = c.isTransposed() ? g * channels + ch : g * outputs + o, b = c.isTransposed() ? o : ch;
    int64_t as = c.isTransposed() ? c.channels : c.outputs, bs = c.isTransposed() ? outputs : channels;
    if (!c.isView()) return x[1][(a * bs + b) * k * k + tap];
    return x[1][c.isFirstInside() ? (tap * bs + b) * as + a : (tap * as + a) * bs + b];
  };
  for (int64_t n = 0; n < c.samples; ++n)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t p = 0; p < oh * ow; ++p) {
        int64_t taps = !wanted || wanted((n * c.outputs + o) * oh * ow + p, o) ? k * k : 0;
        for (int64_t tap = 0; tap < taps; ++tap) {
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
            product(tap * channels + ch, in(n, o / outputs * channels + ch, y, at),
                    filter(o / outputs, o % outputs, ch, tap));
        }
        end(o);
      }
}

static int64_t countOf(const std::string &shape) {
  int64_t count = 1;
  for (size_t at = 0; shape[at] != 'f'; at = shape.find('x', at) + 1) count *= std::stoll(shape.substr(at));
  return count;
}

void sprig::fillRandom(std::vector<float> &values) {
  static std::mt19937 random(3);
  for (float &value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
}

std::vector<std::vector<float>> sprig::buffersOf(const TestConv &c, const TestFill &left, const TestFill &right) {
  TileCase each = caseOf(c);
  std::vector<std::vector<float>> buffers;
  for (size_t i = 0; i < each.operands.size(); ++i) {
    auto &buffer = buffers.emplace_back(countOf(each.operands[i]));
    i == 0 ? left(buffer) : i == 1 ? right(buffer) : fillRandom(buffer);
  }
  buffers.emplace_back(countOf(each.type), 0.0f);
  return buffers;
}

TileKernels sprig::kernelsOf(const std::vector<TestConv> &convolutions) {
  std::vector<TileCase> cases;
  for (const TestConv &each : convolutions) cases.push_back(caseOf(each));
  return TileKernels(cases);
}
