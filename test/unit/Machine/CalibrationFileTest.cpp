#include "lib/Machine/MachineFile.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

Calibration small() {
  Calibration found;
  found.model = "a \"processor\"";
  found.isa = "x86-64-v3";
  found.threads = 3;
  found.fmaFlops = 1e11;
  found.fmaFlopsAll = 2.5e11;
  found.levels = {{1, 32768, 4, 2e11, 5e11, 1e11, 2e11}, {0, 0, 0, 1.5e10, 2e10, 1e10, 1e10}};
  found.randomSeconds = 1e-7;
  found.handOffSeconds = 2e-7;
  found.crossCore = {3e-7, 2e10};
  found.latency = {{4096, 1.25}};
  found.cacheKnees = {4096, 65536};
  return found;
}

TEST(CalibrationFile, ComesBackAsItWas) {
  std::string text = calibrationToText(small());
  auto back = calibrationFromText(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(calibrationToText(*back), text);
  EXPECT_EQ(back->model, "a \"processor\"");
  EXPECT_EQ(back->levels[0].instances, 4);
  EXPECT_EQ(back->cacheKnees, small().cacheKnees);
}

TEST(CalibrationFile, KeepsHowSteadyItWas) {
  EXPECT_EQ(calibrationFromText(calibrationToText(small()))->steadiness.sweeps, 0);
  Calibration found = small();
  found.steadiness = {4, 8.5, 0.25, 0.125, "read L3", 0.5};
  auto back = calibrationFromText(calibrationToText(found));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->steadiness.describe(),
            "the best two of 4 sweeps agree within 50 % (read L3); other programs had 25 % "
            "of the processors, 13 % was stolen by other machines");
  EXPECT_EQ(calibrationToText(*back), calibrationToText(found));
  found.steadiness.spread = -1;
  EXPECT_FALSE(calibrationFromText(calibrationToText(found)));
}

TEST(CalibrationFile, KeepsRatesOfNarrowProductsWhereTheyWereMeasured) {
  EXPECT_EQ(calibrationFromText(calibrationToText(small()))->byteDots, 0);
  Calibration found = small();
  found.byteDots = 4e11;
  found.bf16Dots = 2e11;
  auto back = calibrationFromText(calibrationToText(found));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->byteDots, 4e11);
  EXPECT_EQ(back->bf16Dots, 2e11);
  found.bf16Dots = -1;
  EXPECT_FALSE(calibrationFromText(calibrationToText(found)));
}

TEST(CalibrationFile, DamageIsAsGoodAsNoFile) {
  std::string text = calibrationToText(small());
  for (size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_FALSE(calibrationFromText(std::string_view(text).substr(0, length))) << length;
  EXPECT_FALSE(calibrationFromText("[]"));
  EXPECT_FALSE(calibrationFromText("{\"version\": 1}"));
  std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(calibrationFromText("{\"version\": 3, \"model\": " + nested + ", \"isa\": 1, \"threads\": 1}"));
  Calibration zero = small();
  zero.levels[1].read = 0;
  EXPECT_FALSE(calibrationFromText(calibrationToText(zero)));
  Calibration none = small();
  none.levels.clear();
  EXPECT_FALSE(calibrationFromText(calibrationToText(none)));
}

} // namespace
