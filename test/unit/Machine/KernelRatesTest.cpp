#include "lib/Machine/KernelRates.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

TEST(KernelRates, EveryKindReachesAShare) {
  for (const char *kind : {"kernel.matmul_packed", "kernel.conv_winograd", "nn.reduce", "nn.erf", "nn.anything", ""}) {
    EXPECT_GT(reachedShare(kind), 0) << kind;
  }
  EXPECT_GT(reachedShare("kernel.matmul_packed"), reachedShare("nn.reduce"));
  for (const char *product : {"kernel.matmul_narrow", "kernel.matmul_narrow_dot", "kernel.conv_depthwise_dot"})
    EXPECT_GT(reachedShare(product), reachedShare("nn.anything")) << product;
}

TEST(KernelRates, ColumnsAreFilledUpToRegisters) {
  for (const char *kind :
       {"kernel.matmul_packed", "kernel.matmul_narrow", "kernel.matmul_narrow_dot", "kernel.conv_winograd"}) {
    EXPECT_EQ(fillFactor(kind, "64x10xf32"), 1.6) << kind;
    EXPECT_EQ(fillFactor(kind, "64x2xf32"), 4) << kind;
    EXPECT_EQ(fillFactor(kind, "64x16xf32"), 1) << kind;
    EXPECT_EQ(fillFactor(kind, "1x8x8x40xf32"), 48.0 / 40) << kind;
    EXPECT_EQ(fillFactor(kind, "33xf32"), 48.0 / 33) << kind;
    for (const char *odd : {"", "f32", "x", "xf32", "0xf32", "axbxf32", "-3xf32"})
      EXPECT_EQ(fillFactor(kind, odd), 1) << kind << odd;
  }
  for (const char *kind : {"nn.matmul", "kernel.conv_packed", "kernel.conv_depthwise", ""})
    EXPECT_EQ(fillFactor(kind, "64x10xf32"), 1);
}

} // namespace
