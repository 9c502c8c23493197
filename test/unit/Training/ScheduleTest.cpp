// Closed forms against the recurrences by which PyTorch's schedulers go from step to step, and against landmarks.
#include "lib/Training/Schedule.h"
#include "lib/Training/ReadTrainConfig.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

using namespace sprig::training;

namespace {

TrainConfig withSchedule(const std::string &schedule, double lr = 0.1, const std::string &length = "\"steps\": 20") {
  TrainConfig config = parseTrainConfig(R"({"loss": "mse", "optimizer": {"name": "sgd", "lr": )" + std::to_string(lr) +
                                            R"(}, "batch": 4, )" + length + R"(, "lr_schedule": )" + schedule + "}",
                                        "f");
  resolve(config, 40); // ten steps an epoch
  return config;
}

void expectRates(const TrainConfig &config, const std::vector<double> &rates) {
  for (size_t t = 0; t < rates.size(); ++t) EXPECT_NEAR(lrAt(config, int64_t(t)), rates[t], 1e-15) << "step " << t;
}

} // namespace

TEST(Schedule, ConstantIsTheOptimizersRate) { expectRates(withSchedule("\"constant\""), {0.1, 0.1, 0.1}); }

TEST(Schedule, StepDropsEvery) {
  TrainConfig config = withSchedule(R"({"name": "step", "step_size": 3, "gamma": 0.5})");
  double rate = 0.1;
  for (int t = 0; t < 30; ++t) {
    if (t > 0 && t % 3 == 0) rate *= 0.5;
    EXPECT_NEAR(lrAt(config, t), rate, 1e-16);
  }
}

TEST(Schedule, MultiStepDropsAtMilestones) {
  expectRates(withSchedule(R"({"name": "multi_step", "milestones": [2, 2, 5], "gamma": 0.1})"),
              {0.1, 0.1, 0.001, 0.001, 0.001, 0.0001, 0.0001});
}

TEST(Schedule, ExponentialMultiplies) {
  TrainConfig config = withSchedule(R"({"name": "exponential", "gamma": 0.9})");
  double rate = 0.1;
  for (int t = 0; t < 20; ++t, rate *= 0.9) EXPECT_NEAR(lrAt(config, t), rate, 1e-15);
}

TEST(Schedule, LinearFollowsTheRecurrence) {
  TrainConfig config = withSchedule(R"({"name": "linear", "start_factor": 0.25, "total_steps": 8})");
  double rate = 0.1 * 0.25;
  for (int t = 0; t < 12; ++t) {
    if (t > 0 && t <= 8) rate *= 1 + (1 - 0.25) / (8 * 0.25 + (t - 1) * (1 - 0.25));
    EXPECT_NEAR(lrAt(config, t), rate, 1e-15) << t;
  }
}

TEST(Schedule, CosineFollowsTheRecurrenceAndStaysAtItsEnd) {
  TrainConfig config = withSchedule(R"({"name": "cosine", "min_lr": 0.01})"); // 20 steps by default
  const double pi = std::numbers::pi;
  double rate = 0.1;
  for (int t = 0; t < 20; ++t) {
    EXPECT_NEAR(lrAt(config, t), rate, 1e-15) << t;
    rate = 0.01 + (rate - 0.01) * (1 + std::cos(pi * (t + 1) / 20)) / (1 + std::cos(pi * t / 20));
  }
  expectRates(config, {0.1});
  EXPECT_EQ(lrAt(config, 20), 0.01);
  EXPECT_EQ(lrAt(config, 1000), 0.01);
}

TEST(Schedule, WarmRestartsFollowTheRecurrence) {
  // As PyTorch's scheduler goes from step to step: the place in the cycle and the cycle's length.
  for (int64_t factor : {1, 2, 3}) {
    TrainConfig config = withSchedule(R"({"name": "warm_restarts", "period": 4, "min_lr": 0.01, "period_factor": )" +
                                      std::to_string(factor) + "}");
    int64_t at = 0, length = 4;
    for (int t = 0; t < 200; ++t) {
      double expected = 0.01 + 0.09 * (1 + std::cos(std::numbers::pi * double(at) / double(length))) / 2;
      EXPECT_NEAR(lrAt(config, t), expected, 1e-15) << factor << " at " << t;
      if (++at >= length) {
        at -= length;
        length *= factor;
      }
    }
  }
  // A cycle begins at its step exactly, also far out: 2^52 - 1 is the sum of the cycles before it.
  TrainConfig config = withSchedule(R"({"name": "warm_restarts", "period": 1, "period_factor": 2})");
  const int64_t far = (int64_t(1) << 52) - 1;
  EXPECT_EQ(lrAt(config, far), 0.1);
  EXPECT_LT(lrAt(config, far - 1), 1e-15);
  config = withSchedule(R"({"name": "warm_restarts", "period": 4503599627370496, "period_factor": 9007199254740992})");
  EXPECT_EQ(lrAt(config, 0), 0.1);
  EXPECT_EQ(lrAt(config, int64_t(1) << 52), 0.1);
}

TEST(Schedule, WarmUps) {
  expectRates(withSchedule(R"({"name": "warmup", "warmup_steps": 4})"), {0.025, 0.05, 0.075, 0.1, 0.1, 0.1});
  TrainConfig config =
      withSchedule(R"({"name": "warmup_cosine", "warmup_steps": 6, "total_steps": 30, "min_lr": 0.001})");
  EXPECT_NEAR(lrAt(config, 0), 0.1 / 6, 1e-16);
  EXPECT_NEAR(lrAt(config, 5), 0.1, 1e-16);
  EXPECT_NEAR(lrAt(config, 6), 0.1, 1e-16);
  EXPECT_NEAR(lrAt(config, 18), 0.0505, 1e-16);
  EXPECT_NEAR(lrAt(config, 30), 0.001, 1e-16);
  EXPECT_NEAR(lrAt(config, 31), 0.001, 1e-16);
}

TEST(Schedule, OneCycleRisesFallsAndEndsOnTheLastStep) {
  TrainConfig config = withSchedule(R"({"name": "one_cycle", "max_lr": 1, "anneal": "linear"})");
  EXPECT_NEAR(lrAt(config, 0), 1 / 25., 1e-15);
  EXPECT_NEAR(lrAt(config, 5), 1, 1e-15); // 0.3 of 20 steps is 6: the peak is the sixth
  EXPECT_NEAR(lrAt(config, 12), (1 + 1 / 25. / 1e4) / 2, 1e-15);
  EXPECT_NEAR(lrAt(config, 19), 1 / 25. / 1e4, 1e-15);
  EXPECT_NEAR(lrAt(config, 25), 1 / 25. / 1e4, 1e-15);
  TrainConfig cosine = withSchedule(R"({"name": "one_cycle"})"); // its peak is the optimizer's rate
  EXPECT_NEAR(lrAt(cosine, 5), 0.1, 1e-15);
  EXPECT_NEAR(lrAt(cosine, 1), 0.1 + (0.004 - 0.1) / 2 * (1 + std::cos(std::numbers::pi / 5)), 1e-15);
  // A rise of no length starts at the peak.
  EXPECT_NEAR(lrAt(withSchedule(R"({"name": "one_cycle", "pct_start": 0.05})"), 0), 0.1, 1e-15);
}

TEST(Schedule, ListHoldsItsLastRate) { expectRates(withSchedule("[0.3, 0.2, 0]"), {0.3, 0.2, 0, 0, 0}); }

TEST(Schedule, CountsEpochsWhereAsked) {
  TrainConfig config = withSchedule(R"({"name": "exponential", "gamma": 0.5, "per": "epoch"})", 0.1, "\"epochs\": 3");
  EXPECT_EQ(config.steps, 30);
  for (int t = 0; t < 30; ++t) EXPECT_NEAR(lrAt(config, t), 0.1 * std::pow(0.5, t / 10), 1e-16);
  TrainConfig cosine = withSchedule(R"({"name": "cosine", "per": "epoch"})", 0.1, "\"epochs\": 4");
  EXPECT_EQ(cosine.schedule.totalSteps, 4);
  EXPECT_NEAR(lrAt(cosine, 25), 0.05, 1e-16);
}

// A larger batch has larger rates at every step, those that the schedule names itself among them.
TEST(Schedule, RatesGrowWithTheBatchByRule) {
  EXPECT_EQ(rateFactor(RateRule::none, 4), 1);
  EXPECT_EQ(rateFactor(RateRule::linear, 4), 4);
  EXPECT_EQ(rateFactor(RateRule::sqrt, 4), 2);
  for (const char *schedule :
       {"\"constant\"", R"({"name": "warmup", "warmup_steps": 5})", R"({"name": "cosine", "min_lr": 0.01})",
        R"({"name": "warm_restarts", "period": 3, "period_factor": 2, "min_lr": 0.01})",
        R"({"name": "warmup_cosine", "warmup_steps": 5, "min_lr": 0.01})", R"({"name": "one_cycle", "max_lr": 1})",
        R"({"name": "step", "step_size": 3})", "[0.3, 0.2, 0.1]"}) {
    TrainConfig config = withSchedule(schedule), scaled = config;
    scaleRates(scaled, 4);
    for (int t = 0; t < 25; ++t) EXPECT_NEAR(lrAt(scaled, t), 4 * lrAt(config, t), 1e-15) << schedule << " at " << t;
  }
}
