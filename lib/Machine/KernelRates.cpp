#include "lib/Machine/KernelRates.h"
#include <charconv>

namespace sprig::machine {
namespace {

struct Row {
  std::string_view kind;
  double share;
};
// Fitted to the dispatches of networks of docs/performance.md and of their training steps, one thread of a Zen 4 server
// with AVX-512. An elementwise operation costs a part of a load and a store, or a polynomial, beside its flop.
constexpr Row kShares[] = {
    {"kernel.matmul_packed", 1},
    {"kernel.matmul_narrow", 0.85},
    {"kernel.matmul_narrow_dot", 0.55},
    {"kernel.conv_packed", 1},
    {"kernel.conv_winograd", 0.75},
    {"kernel.conv_depthwise", 1.4},
    {"kernel.conv_depthwise_dot", 0.3},
    {"kernel.conv_filter_grad_parts", 0.75},
    {"nn.matmul", 0.95},
    {"nn.conv", 0.3},
    {"nn.conv_filter_grad", 0.9},
    {"nn.scan", 0.85},
    {"nn.add", 0.38},
    {"nn.sub", 0.38},
    {"nn.mul", 0.38},
    {"nn.compare", 0.38},
    {"nn.select", 0.38},
    {"nn.gather", 0.45},
    {"nn.gather_elements", 0.45},
    {"nn.gather_nd", 0.45},
    {"nn.scatter_elements", 0.45},
    {"nn.scatter_nd", 0.45},
    {"nn.relu", 0.45},
    {"nn.max", 0.45},
    {"nn.min", 0.45},
    {"nn.div", 0.3},
    {"nn.sqrt", 0.3},
    {"nn.rsqrt", 0.2},
    {"nn.reduce", 0.2},
    {"nn.pool", 0.13},
    {"nn.pool_grad", 0.05},
    {"nn.exp", 0.055},
    {"nn.log", 0.05},
    {"nn.tanh", 0.036},
    {"nn.sigmoid", 0.036},
    {"nn.erf", 0.022},
    {"nn.sin", 0.021},
    {"nn.cos", 0.021},
};
constexpr double kOther = 0.1;

// Lanes of a register, and of half of one, which few columns take.
constexpr int64_t kLanes = 16, kFewColumns = 8;

bool fillsLanes(std::string_view kind) { return kind.starts_with("kernel.matmul_") || kind == "kernel.conv_winograd"; }

} // namespace

double reachedShare(std::string_view kind) {
  for (const Row &row : kShares)
    if (row.kind == kind) return row.share;
  return kOther;
}

double fillFactor(std::string_view kind, std::string_view shape) {
  if (!fillsLanes(kind)) return 1;
  size_t type = shape.rfind('x');
  if (type == std::string_view::npos) return 1;
  size_t before = type ? shape.rfind('x', type - 1) : std::string_view::npos;
  std::string_view last = shape.substr(before == std::string_view::npos ? 0 : before + 1, type);
  int64_t columns = 0;
  std::from_chars(last.data(), last.data() + last.size(), columns);
  if (columns < 1) return 1;
  int64_t lanes = columns <= kFewColumns ? kFewColumns : kLanes;
  return double((columns + lanes - 1) / lanes * lanes) / double(columns);
}

} // namespace sprig::machine
