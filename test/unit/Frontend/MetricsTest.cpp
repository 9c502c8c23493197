// Metrics: counts and means of batches, also within compiled functions.
#include "LayerFixture.h"
#include "sprig/function.h"
#include "sprig/metrics.h"
#include "sprig/ops.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

TEST(Metrics, mean) {
  metrics::Mean mean;
  EXPECT_TRUE(std::isnan(mean.value()));
  mean.add(Tensor(2.f), 3);
  mean.add(10);
  EXPECT_DOUBLE_EQ(mean.value(), 4);
  mean.add(Tensor({1.f, 2.f, 3.f, 2.f}));
  EXPECT_DOUBLE_EQ(mean.value(), 3);
  EXPECT_EQ(mean.count(), 8);
  metrics::Mean same = mean;
  same.reset();
  EXPECT_EQ(mean.count(), 0);
  // Sums are in f64: small numbers are not lost beside large ones.
  mean.add(Tensor(1e8f));
  for (int i = 0; i < 100; ++i) mean.add(Tensor(1.f));
  EXPECT_DOUBLE_EQ(mean.value(), (1e8 + 100) / 101);
}

TEST(Metrics, accuracy) {
  Tensor logits({{0.1f, 0.9f, 0.f}, {0.8f, 0.1f, 0.1f}, {0.2f, 0.5f, 0.3f}, {0.f, 0.1f, 0.9f}});
  Tensor classes({1, 2, 2, 2});
  metrics::Accuracy accuracy, top2(2);
  accuracy.add(logits, classes);
  EXPECT_DOUBLE_EQ(accuracy.value(), 0.5);
  top2.add(logits, classes);
  EXPECT_DOUBLE_EQ(top2.value(), 0.75);
  accuracy.add(Tensor({1, 1, 1}), Tensor({1, 1, 1}));
  EXPECT_DOUBLE_EQ(accuracy.value(), 5.0 / 7);
  EXPECT_EQ(accuracy.count(), 7);
  // Dense predictions: classes along axis 1.
  accuracy.reset();
  accuracy.add(logits.transpose(0, 1).unsqueeze(0), classes.unsqueeze(0));
  EXPECT_DOUBLE_EQ(accuracy.value(), 0.5);
  try {
    accuracy.add(logits, zeros({4, 1}, DType::i64));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("MetricsTest.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr("logits of 4x3xf32 and classes of 4x1xi64"));
  }
}

TEST(Metrics, confusion) {
  metrics::ConfusionMatrix matrix(3);
  matrix.add(Tensor({0, 1, 1, 2, 0}), Tensor({0, 1, 2, 2, 1}));
  matrix.add(Tensor({{0.f, 1.f, 0.f}}), Tensor({1}));
  EXPECT_EQ(matrix.counts().toVector<int64_t>(), (std::vector<int64_t>{1, 0, 0, 1, 2, 0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(matrix.recall()[1], 2.0 / 3);
  EXPECT_DOUBLE_EQ(matrix.precision()[0], 0.5);
  EXPECT_EQ(matrix.text(), "1 0 0\n1 2 0\n0 1 1\n");
  matrix.add(Tensor({0}), Tensor({3}));
  EXPECT_THROW(matrix.accuracy(), Error);
}

TEST(Metrics, compiled) {
  metrics::Mean mean;
  metrics::Accuracy accuracy;
  auto evaluate = compile([&](Tensor logits, Tensor classes) {
    mean.add(crossEntropy(logits, classes), classes.numel());
    accuracy.add(logits, classes);
  });
  Tensor logits = zeros({4, 2}), classes = Tensor({0, 1, 0, 0});
  for (int i = 0; i < 3; ++i) evaluate(logits, classes);
  EXPECT_NEAR(mean.value(), std::log(2.0), 1e-6);
  EXPECT_EQ(mean.count(), 12);
  EXPECT_DOUBLE_EQ(accuracy.value(), 0.75);
  EXPECT_EQ(accuracy.count(), 12);
}

} // namespace
