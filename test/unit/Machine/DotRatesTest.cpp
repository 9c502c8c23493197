#include "lib/Machine/DotRates.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/Rates.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

// What was measured counts; else bytes go four times as fast where the processor has instructions for them.
TEST(DotRates, ProductsOfNarrowNumbersHaveRatesOfTheirOwn) {
  EXPECT_EQ(factorsOf("ui8"), Factors::bytes);
  EXPECT_EQ(factorsOf("bf16"), Factors::bf16);
  EXPECT_EQ(factorsOf(""), Factors::f32);
  Calibration found;
  found.isa = "x86-64-v4";
  found.threads = 2;
  found.fmaFlops = 100e9;
  found.fmaFlopsAll = 190e9;
  found.byteDots = 420e9;
  found.bf16Dots = 210e9;
  ProductRates rates(found);
  EXPECT_EQ(rates.rate(Factors::bytes), 420e9);
  EXPECT_DOUBLE_EQ(rates.rate(Factors::bytes, 2), 420e9 * 1.9);
  EXPECT_EQ(rates.rate(Factors::bf16), 210e9);
  EXPECT_EQ(rates.rate(Factors::f32), 100e9);
  found.byteDots = 0;
  EXPECT_EQ(ProductRates(found).rate(Factors::bytes), productsOfOne(Factors::bytes) * 100e9);
}

TEST(DotRates, LevelsHaveTheRatesOfTheirInstructions) {
  auto of = [](std::vector<std::string> cpus, Factors factors) {
    ProductRates rates(cpus);
    return rates.rate(factors) / rates.rate(Factors::f32);
  };
  EXPECT_EQ(of({"x86-64-v4-vnni"}, Factors::bytes), 4);
  EXPECT_EQ(of({"x86-64-v4-vnni"}, Factors::bf16), 1);
  EXPECT_EQ(of({"x86-64-v3-vnni"}, Factors::bytes), 4);
  EXPECT_EQ(of({"x86-64-v4"}, Factors::bytes), 1);
  EXPECT_EQ(of({"x86-64-v4-vnni", "x86-64-v4"}, Factors::bytes), 1);
  EXPECT_EQ(of({"x86-64-v4-bf16"}, Factors::bf16), 2);
  EXPECT_EQ(of({"x86-64-v4-amx"}, Factors::bytes), 32);
  EXPECT_EQ(of({"x86-64-v4-amx"}, Factors::bf16), 1);
  EXPECT_EQ(of({"x86-64-v4-amx", "x86-64-v4-bf16"}, Factors::bytes), 4);
}

// An instruction is there to be quicker than what it takes the place of; without it, pairs of 16 bits are not far from
// f32.
TEST(DotRates, MeasuredRatesAreRates) {
  double f32 = fmaRate(1), bytes = dotRate(Factors::bytes, 1), bf16 = dotRate(Factors::bf16, 1);
  EXPECT_GT(bytes, f32 * (productsOfOne(Factors::bytes) > 1 ? 1.3 : 0.3));
  EXPECT_GT(bf16, f32 * (productsOfOne(Factors::bf16) > 1 ? 1.1 : 0.3));
  EXPECT_LT(bytes, 2.2 * std::max(productsOfOne(Factors::bytes), 4) * f32);
}

} // namespace
