#include "lib/Quantize/Observer.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace sprig::quantize {
namespace {

/// A triangle's numbers around 0, and one far away.
std::vector<float> numbers(float outlier) {
  std::vector<float> result;
  for (int i = -100; i <= 100; ++i)
    for (int k = 0; k <= 100 - std::abs(i); ++k) result.push_back(float(i) / 100);
  result.push_back(outlier);
  return result;
}

Observer observe(const std::vector<float> &numbers) {
  Observer observer;
  observer.see(numbers.data(), int64_t(numbers.size()));
  observer.countAgain(numbers.data(), int64_t(numbers.size()));
  return observer;
}

Range rangeOf(const Observer &observer, Calibration method, QuantizerType type = {}) {
  return observer.range({method, 99.9}, type);
}

TEST(ObserverTest, ExtremesHaveZeroInThem) {
  Range range = rangeOf(observe({2, 3, 5}), Calibration::minmax);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 5);
  range = rangeOf(observe({-2, -3}), Calibration::minmax);
  EXPECT_EQ(range.low, -3);
  EXPECT_EQ(range.high, 0);
}

TEST(ObserverTest, WhatIsNotFiniteIsNotCounted) {
  float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Range range = rangeOf(observe({-1, inf, nan, 2, -inf}), Calibration::minmax);
  EXPECT_EQ(range.low, -1);
  EXPECT_EQ(range.high, 2);
  EXPECT_EQ(rangeOf(observe({nan}), Calibration::mse).high, 0);
  EXPECT_EQ(observe({nan, inf}).notFinite(), 2);
  EXPECT_EQ(observe({nan, 1, 2}).notFinite(), 1);
  EXPECT_TRUE(observe({nan, inf}).isEmpty());
}

TEST(ObserverTest, CallsMayDivideTheNumbersInAnyWay) {
  std::vector<float> all = numbers(4);
  Observer parts;
  for (size_t i = 0; i < all.size(); i += 7) parts.see(&all[i], int64_t(std::min<size_t>(7, all.size() - i)));
  for (size_t i = 0; i < all.size(); i += 11) parts.countAgain(&all[i], int64_t(std::min<size_t>(11, all.size() - i)));
  EXPECT_EQ(parts.histogram(), observe(all).histogram());
}

TEST(ObserverTest, PercentilesLeaveAnOutlierOut) {
  Range range = rangeOf(observe(numbers(50)), Calibration::percentile);
  EXPECT_LT(range.high, 1.1f);
  EXPECT_GT(range.high, 0.9f);
  EXPECT_EQ(rangeOf(observe(numbers(50)), Calibration::minmax).high, 50);
  // One side alone where there is nothing on the other.
  Range positive = rangeOf(observe({1, 2, 3}), Calibration::percentile);
  EXPECT_EQ(positive.low, 0);
}

double squaredError(const std::vector<float> &numbers, Range range) {
  Quantizer q = quantizerOf(range, {});
  double sum = 0;
  for (double x : numbers) {
    double integer = std::min(255.0, std::max(0.0, std::nearbyint(x / q.scale) + q.zero));
    sum += std::pow((integer - q.zero) * q.scale - x, 2);
  }
  return sum;
}

TEST(ObserverTest, LeastErrorIsNoWorseThanExtremes) {
  for (float outlier : {1.0f, 3.0f, 8.0f}) {
    std::vector<float> all = numbers(outlier);
    Observer observer = observe(all);
    Range found = rangeOf(observer, Calibration::mse), whole = rangeOf(observer, Calibration::minmax);
    EXPECT_LE(squaredError(all, found), squaredError(all, whole) * 1.01) << outlier;
  }
  // With many numbers near 0 an outlier costs less than a step that is as wide as it asks for.
  EXPECT_LT(rangeOf(observe(numbers(8)), Calibration::mse).high, 8);
}

TEST(ObserverTest, LeastDivergenceLeavesAnOutlierOut) {
  Range range = rangeOf(observe(numbers(8)), Calibration::kl);
  EXPECT_LT(range.high, 4);
  EXPECT_GE(range.high, 0.5f);
  EXPECT_GE(range.low, -1);
}

// Where no number is near zero, small ranges would have next to none of them.
TEST(ObserverTest, LeastDivergenceKeepsNumbersThatAreFarFromZero) {
  for (float sign : {-1.f, 1.f}) {
    std::vector<float> far;
    for (int i = 0; i < 4000; ++i) far.push_back(sign * (1.01f + 3.6f * float(i * 7919 % 4000) / 4000));
    Range range = rangeOf(observe(far), Calibration::kl);
    EXPECT_GE(std::max(range.high, -range.low), 4.2f);
    for (int i = 0; i < 2000; ++i) far.push_back(-far[size_t(i)]);
    range = rangeOf(observe(far), Calibration::kl);
    EXPECT_GE(std::min(range.high, -range.low), 4.2f);
  }
}

TEST(ObserverTest, LeastDivergenceOfAFewNumbersIsThatOfAll) {
  std::vector<float> few;
  for (int i = 0; i < 300; ++i) few.push_back(-1 - float(i) / 100);
  few.push_back(-4.6f);
  EXPECT_EQ(rangeOf(observe(few), Calibration::kl).low, -4.6f);
}

} // namespace
} // namespace sprig::quantize
