#include "lib/TrainLoop/Metrics.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include <bit>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace sprig;
using namespace sprig::training;
namespace fs = std::filesystem;

namespace {

class Metrics : public ::testing::Test {
protected:
  fs::path file = fs::temp_directory_path() / ("sprig-metrics-" + std::to_string(::getpid()) + ".jsonl");
  void TearDown() override { fs::remove(file); }
  std::string text() {
    auto bytes = data::readFile(file);
    return {bytes.begin(), bytes.end()};
  }
  void run(int64_t from, int64_t to, std::optional<int64_t> resume = std::nullopt) {
    MetricsWriter writer(file, resume);
    for (int64_t step = from; step < to; ++step) writer.write({step, 1.f / float(step + 1), 1, 0.1f, double(step)});
  }
};

} // namespace

TEST_F(Metrics, ALineAStep) {
  StepMetrics metrics{3, 0.1f, 2, 1e-5f, 0.5};
  EXPECT_EQ(formatMetrics(metrics), "{\"step\":3,\"loss\":0.1,\"grad_norm\":2,\"lr\":1e-05,\"seconds\":0.5}\n");
  metrics.evalLoss = 0.25;
  metrics.evalAccuracy = 0.975;
  EXPECT_TRUE(formatMetrics(metrics).ends_with(",\"seconds\":0.5,\"eval_loss\":0.25,\"eval_accuracy\":0.975}\n"));
  EXPECT_EQ(parseMetrics(formatMetrics(metrics)), metrics);
  metrics.waitSeconds = 0.125;
  EXPECT_TRUE(formatMetrics(metrics).find(",\"seconds\":0.5,\"wait_seconds\":0.125,\"eval_loss\"") !=
              std::string::npos);
  EXPECT_EQ(parseMetrics(formatMetrics(metrics)), metrics);
  metrics.exposedSeconds = 0.25;
  EXPECT_TRUE(formatMetrics(metrics).find(",\"wait_seconds\":0.125,\"exposed_communication_seconds\":0.25,") !=
              std::string::npos);
  EXPECT_EQ(parseMetrics(formatMetrics(metrics)), metrics);
  metrics.loss = NAN;
  metrics.gradNorm = -HUGE_VALF;
  EXPECT_TRUE(formatMetrics(metrics).starts_with("{\"step\":3,\"loss\":\"NaN\",\"grad_norm\":\"-Infinity\","));
  auto read = parseMetrics(formatMetrics(metrics));
  EXPECT_TRUE(read && std::isnan(read->loss) && read->gradNorm == -HUGE_VALF);
  for (const char *line :
       {"", "x", "{}", "[1]", "{\"step\":1}", "{\"step\":1,\"loss\":2,\"grad_norm\":3,\"lr\":\"a\",\"seconds\":1}"})
    EXPECT_FALSE(parseMetrics(line)) << line;
  const std::string others = ",\"loss\":2,\"grad_norm\":3,\"lr\":1,\"seconds\":1}";
  EXPECT_TRUE(parseMetrics("{\"step\":9223372036854775807" + others));
  for (std::string step : {"9223372036854775808", "18446744073709551615", "-1", "1e3", "0.5", "\"1\"", "[[1]]"})
    EXPECT_FALSE(parseMetrics("{\"step\":" + step + others)) << step;
  EXPECT_FALSE(parseMetrics("{\"step\":" + std::string(100'000, '[') + std::string(100'000, ']') + others));
}

TEST_F(Metrics, FloatsComeBackInAllTheirBits) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    float value = std::bit_cast<float>(uint32_t(random()));
    if (!std::isfinite(value)) continue;
    auto read = parseMetrics(formatMetrics({0, value, value, value, double(value) * 1.1}));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::bit_cast<uint32_t>(read->loss), std::bit_cast<uint32_t>(value));
    EXPECT_EQ(read->seconds, double(value) * 1.1);
  }
}

TEST_F(Metrics, AResumedRunHasTheLinesOfOneThatWasNeverKilled) {
  run(0, 20);
  std::string whole = text();
  for (int64_t resumed : {0, 1, 7, 20}) {
    fs::remove(file);
    run(0, 11);
    std::string killed = text();
    // The kill tore a line, or lost the last ones.
    for (std::string behind : {std::string(), std::string("{\"step\":11,\"lo"), std::string("{")}) {
      data::writeFile(file, killed + behind);
      if (resumed > 11) run(11, 20, 11);
      run(resumed, 20, resumed);
      EXPECT_EQ(text(), whole) << resumed;
    }
  }
  MetricsWriter writer(file, 5);
  EXPECT_EQ(writer.kept().size(), 5u);
  EXPECT_EQ(writer.kept().back().step, 4);
}

TEST_F(Metrics, OtherFilesAreNotTouched) {
  data::writeFile(file, std::string("precious\n"));
  EXPECT_THROW(MetricsWriter(file, 3), Error);
  EXPECT_EQ(text(), "precious\n");
  EXPECT_THROW(MetricsWriter("/no/such/folder/m.jsonl"), Error);
  MetricsWriter null("/dev/null", 3);
  null.write({0, 1, 1, 1, 1});
  null.flush();
}

TEST_F(Metrics, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  MetricsWriter writer("/dev/full");
  writer.write({0, 1, 1, 1, 0.001});
  try {
    writer.flush();
    ADD_FAILURE() << "written";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    EXPECT_STREQ(error.what(), "/dev/full: cannot write: No space left on device");
  }
}

TEST_F(Metrics, LinesAppearWithinAFlushInterval) {
  MetricsWriter writer(file);
  writer.write({0, 1, 1, 1, 0.1});
  EXPECT_EQ(text(), "");
  writer.write({1, 1, 1, 1, 0.4});
  EXPECT_EQ(text().size(), formatMetrics({0, 1, 1, 1, 0.1}).size() * 2);
}
