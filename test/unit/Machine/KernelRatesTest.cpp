#include "lib/Machine/KernelRates.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

TEST(KernelRates, EveryKindReachesAShare) {
  for (const char *kind : {"kernel.matmul_packed", "kernel.conv_winograd", "nn.reduce", "nn.erf", "nn.anything", ""}) {
    EXPECT_GT(reachedShare(kind), 0) << kind;
    EXPECT_LE(reachedShare(kind), 1) << kind;
  }
  EXPECT_GT(reachedShare("kernel.matmul_packed"), reachedShare("nn.reduce"));
  for (const char *product : {"kernel.matmul_narrow", "kernel.matmul_narrow_dot", "kernel.conv_depthwise_dot"})
    EXPECT_GT(reachedShare(product), reachedShare("nn.anything")) << product;
}

TEST(KernelRates, ColumnsAreFilledUpToPanels) {
  EXPECT_EQ(panelFactor("kernel.matmul_packed", "64x10xf32"), 3.2);
  EXPECT_EQ(panelFactor("kernel.matmul_packed", "64x32xf32"), 1);
  EXPECT_EQ(panelFactor("kernel.matmul_narrow", "64x10xf32"), 3.2);
  EXPECT_EQ(panelFactor("kernel.matmul_narrow_dot", "64x10xf32"), 3.2);
  EXPECT_EQ(panelFactor("kernel.matmul_packed", "1x8x8x48xf32"), 64.0 / 48);
  EXPECT_EQ(panelFactor("kernel.matmul_packed", "33xf32"), 64.0 / 33);
  EXPECT_EQ(panelFactor("nn.matmul", "64x10xf32"), 1);
  for (const char *odd : {"", "f32", "x", "xf32", "0xf32", "axbxf32", "-3xf32"})
    EXPECT_EQ(panelFactor("kernel.matmul_packed", odd), 1) << odd;
}

} // namespace
