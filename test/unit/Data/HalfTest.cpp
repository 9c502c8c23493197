#include "lib/Data/Array.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sprig::data;

TEST(Half, EveryPatternSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = fromHalf(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromHalf(toHalf(value)))) << bits;
    else
      EXPECT_EQ(toHalf(value), bits);
    value = fromBFloat16(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromBFloat16(toBFloat16(value)))) << bits;
    else
      EXPECT_EQ(toBFloat16(value), bits);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(toHalf(65504), 0x7bff);
  EXPECT_EQ(toHalf(65519.999), 0x7bff);
  EXPECT_EQ(toHalf(65520), 0x7c00);
  EXPECT_EQ(toHalf(1 + std::ldexp(1, -11)), 0x3c00);     // a tie, down to even
  EXPECT_EQ(toHalf(1 + 3 * std::ldexp(1, -11)), 0x3c02); // a tie, up to even
  EXPECT_EQ(toHalf(std::ldexp(1, -25)), 0);              // half of the smallest denormal
  EXPECT_EQ(toHalf(-0.0), 0x8000);
  EXPECT_EQ(toBFloat16(1 + std::ldexp(1, -8)), 0x3f80);
  EXPECT_EQ(toBFloat16(1 + 3 * std::ldexp(1, -8)), 0x3f82);
  // Just above a tie, by less than a float can tell: no double rounding.
  EXPECT_EQ(toBFloat16(1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3f81);
  EXPECT_EQ(toBFloat16(1e38), 0x7e96);
}
