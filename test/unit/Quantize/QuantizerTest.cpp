#include "lib/Quantize/Quantizer.h"
#include "lib/Quantize/NoiseMeter.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

TEST(QuantizerTest, ZeroIsExactAndTheRangeIsCovered) {
  for (Range range : {Range{-1, 3}, Range{0.5f, 3}, Range{-4, -1}, Range{-1e-3f, 1e3f}})
    for (bool isSigned : {false, true}) {
      QuantizerType type{isSigned, false};
      Quantizer q = quantizerOf(range, type);
      double low = (type.least() - q.zero) * double(q.scale), high = (type.most() - q.zero) * double(q.scale);
      EXPECT_LE(low, std::min(range.low, 0.0f) + q.scale / 2) << range.low;
      EXPECT_GE(high, std::max(range.high, 0.0f) - q.scale / 2) << range.high;
      EXPECT_GE(q.zero, type.least());
      EXPECT_LE(q.zero, type.most());
    }
}

TEST(QuantizerTest, WhatIsNotNegativeHasItsZeroAtTheEnd) {
  EXPECT_EQ(quantizerOf({0, 6}, {false, false}).zero, 0);
  EXPECT_EQ(quantizerOf({0, 6}, {true, false}).zero, -128);
  EXPECT_FLOAT_EQ(quantizerOf({0, 6}, {false, false}).scale, 6.0f / 255);
}

TEST(QuantizerTest, SymmetricOnesHaveOneZeroPoint) {
  EXPECT_EQ(quantizerOf({-1, 3}, {true, true}).zero, 0);
  EXPECT_EQ(quantizerOf({-1, 3}, {false, true}).zero, 128);
  EXPECT_FLOAT_EQ(quantizerOf({-1, 3}, {true, true}).scale, 3.0f / 127);
}

TEST(QuantizerTest, TensorsOfZerosHaveAScale) {
  EXPECT_EQ(quantizerOf({0, 0}, {false, false}).scale, 1);
  EXPECT_EQ(quantizerOf({0, 1e-42f}, {true, false}).scale, 1);
}

TEST(QuantizerTest, WeightsHaveAScaleForEachSlice) {
  // 2x2 in columns: 1, -2 and 100, 50.
  QuantizedWeight columns = quantizeWeight({2, 2}, {1, 100, -2, 50}, 1, {});
  EXPECT_EQ(columns.values, (std::vector<int8_t>{64, 127, -127, 64}));
  ASSERT_EQ(columns.scales.size(), 2u);
  EXPECT_FLOAT_EQ(columns.scales[0], 2.0f / 127);
  EXPECT_FLOAT_EQ(columns.scales[1], 100.0f / 127);
  QuantizedWeight whole = quantizeWeight({2, 2}, {1, 100, -2, 50}, -1, {});
  EXPECT_EQ(whole.values, (std::vector<int8_t>{1, 127, -3, 64}));
  EXPECT_EQ(whole.scales.size(), 1u);
}

TEST(QuantizerTest, ScalesOfWeightsAreAtLeastWhatTheBiasNeeds) {
  QuantizedWeight weight = quantizeWeight({2, 1}, {1e-6f, 0}, 0, {0.5f, 0.25f});
  EXPECT_EQ(weight.scales, (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(quantizeWeight({1, 1}, {0}, 0, {}).scales[0], 1);
}

TEST(QuantizerTest, NoiseIsInDecibels) {
  NoiseMeter meter;
  meter.add(10, 9);
  EXPECT_NEAR(meter.decibels(), 20, 1e-9);
  NoiseMeter equal;
  equal.add(1, 1);
  EXPECT_TRUE(std::isinf(equal.decibels()));
  NoiseMeter huge; // of which a double has no squares
  huge.add(1e200, 0.9e200);
  EXPECT_NEAR(huge.decibels(), 20, 1e-9);
  NoiseMeter tiny;
  tiny.add(1e-200, 0.9e-200);
  EXPECT_NEAR(tiny.decibels(), 20, 1e-9);
}

} // namespace
} // namespace sprig::quantize
