// What the pass split-products makes for CUDA alone: parts of products and of gradients of filters in the model's
// layout, and sums of parts in their order.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

TEST(OpTable, PartsOfLongSums) {
  const std::string attributes = " {channels_first, window = array<i64: 3, 3>, strides = array<i64: 2, 1>, dilations = "
                                 "array<i64: 1, 1>, padding = array<i64: 1, 0, 0, 1>, groups = 2 : i64}";
  const std::vector<Pattern> units = {{Fill::Unit}, {Fill::Unit}};
  check(
      {
          row("kernel.conv_filter_grad_parts %a0, %a1" + attributes, {"5x4x31x15xf32", "5x6x15x14xf32"}, {4, 1e-4},
              units),
          row("kernel.conv_filter_grad_parts %a0, %a1" + attributes, {"1x4x9x8xf32", "1x6x4x7xf32"}, {4, 1e-4}, units),
          row("kernel.matmul_parts %a0, %a1", {"1537x40xf32", "1537x24xf32"}, {4, 1e-4}, units),
          row("kernel.matmul_parts %a0, %a1", {"1100x1xf32", "1100x9xf32"}, {4, 1e-4}, units),
          row("kernel.matmul_parts %a0, %a1", {"1531x33xf32", "1531x17xf32"}, {4, 1e-4}, units),
          row("kernel.matmul_parts %a0, %a1", {"70x20xf32", "70x12xf32"}, {4, 1e-4}, units),
          row("kernel.sum_parts %a0", {"35x7x5x3xf32"}, {4, 1e-4}, units),
          row("kernel.sum_parts %a0", {"1x13xf32"}, {}, units),
          row("kernel.sum_parts %a0", {"0x13xf32"}, {}, units),
          row("kernel.sum_parts %a0", {"5x0xf32"}, {}, units),
      },
      Given::layouts);
}

} // namespace
} // namespace sprig::optable
