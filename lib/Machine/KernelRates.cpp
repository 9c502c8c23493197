#include "lib/Machine/KernelRates.h"
#include <charconv>

namespace sprig::machine {
namespace {

struct Row {
  std::string_view kind;
  double share;
};
// Fitted to the dispatches of the networks of docs/performance.md, one thread of a Zen 4 server with AVX-512. An
// elementwise operation costs a load and a store, or a polynomial, beside its flop.
constexpr Row kShares[] = {
    {"kernel.matmul_packed", 0.95},
    {"kernel.conv_packed", 0.9},
    {"kernel.conv_winograd", 0.38},
    {"kernel.conv_depthwise", 0.55},
    {"nn.matmul", 0.31},
    {"nn.conv", 0.3},
    {"nn.relu", 0.5},
    {"nn.max", 0.5},
    {"nn.min", 0.5},
    {"nn.reduce", 0.045},
    {"nn.pool", 0.06},
    {"nn.exp", 0.05},
    {"nn.log", 0.05},
    {"nn.tanh", 0.03},
    {"nn.sigmoid", 0.03},
    {"nn.erf", 0.017},
    {"nn.sin", 0.03},
    {"nn.cos", 0.03},
};
constexpr double kOther = 0.1;

constexpr int64_t kPanel = 32;

} // namespace

double reachedShare(std::string_view kind) {
  for (const Row &row : kShares)
    if (row.kind == kind) return row.share;
  return kOther;
}

double panelFactor(std::string_view kind, std::string_view shape) {
  if (kind != "kernel.matmul_packed" && kind != "kernel.conv_packed") return 1;
  size_t type = shape.rfind('x');
  if (type == std::string_view::npos) return 1;
  size_t before = type ? shape.rfind('x', type - 1) : std::string_view::npos;
  std::string_view last = shape.substr(before == std::string_view::npos ? 0 : before + 1, type);
  int64_t columns = 0;
  std::from_chars(last.data(), last.data() + last.size(), columns);
  if (columns < 1) return 1;
  return double((columns + kPanel - 1) / kPanel * kPanel) / double(columns);
}

} // namespace sprig::machine
