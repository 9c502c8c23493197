#include "lib/Plot/SvgText.h"
#include "lib/Plot/Ticks.h"
#include "lib/Plot/Timeline.h"
#include "lib/Plot/TrainingChart.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sprig::plot;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::vector<double> iota(size_t n) {
  std::vector<double> result(n);
  for (size_t i = 0; i < n; ++i) result[i] = double(i);
  return result;
}

// Every tag is closed, every attribute quoted: what a parser would stumble over.
void expectSound(const std::string &svg) {
  std::vector<std::string> open;
  for (size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    std::string tag = svg.substr(at + 1, end - at - 1);
    EXPECT_EQ(count(tag, "\"") % 2, 0u) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_EQ(count(svg, "inf"), 0u);
}

} // namespace

TEST(Ticks, AreRound) {
  EXPECT_EQ(linearScale(0, 10, 5).ticks, (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linearScale(-3, 3, 6).ticks, (std::vector<double>{-3, -2, -1, 0, 1, 2, 3}));
  Scale scale = linearScale(0.113, 0.187, 5);
  ASSERT_EQ(scale.ticks.size(), 4u);
  EXPECT_NEAR(scale.ticks.front(), 0.12, 1e-12);
  EXPECT_EQ(tickText(scale.ticks.front(), 0.02), "0.12");
  for (auto [low, high] : {std::pair(5.0, 5.0), std::pair(0.0, 0.0), std::pair(kNaN, 1.0), std::pair(-HUGE_VAL, 1.0),
                           std::pair(1e300, 1e300), std::pair(-1e-300, 1e-300), std::pair(2.0, 1.0)}) {
    Scale odd = linearScale(low, high, 5);
    EXPECT_LT(odd.low, odd.high);
    EXPECT_GE(odd.ticks.size(), 2u) << low;
    EXPECT_LE(odd.ticks.size(), 12u) << low;
  }
}

TEST(Ticks, LogarithmicOnesAreDecades) {
  Scale scale = logScale(1e-4, 1e3, 8);
  for (double power : {1e-4, 1e-3, 1e-2, 1e-1, 1., 1e1, 1e2, 1e3})
    EXPECT_TRUE(std::any_of(scale.ticks.begin(), scale.ticks.end(), [&](double t) {
      return std::fabs(t / power - 1) < 1e-9;
    })) << power;
  EXPECT_EQ(logScale(0.02, 2, 5).ticks.size(), 7u); // 0.02 0.05 0.1 0.2 0.5 1 2
  EXPECT_LE(logScale(1e-30, 1e30, 6).ticks.size(), 7u);
  EXPECT_LE(logScale(5e-324, 1.7e308, 6).ticks.size(), 7u); // whose ratio is no number
  for (auto [low, high] : {std::pair(0.0, 1.0), std::pair(-1.0, 1.0), std::pair(3.0, 3.0), std::pair(kNaN, kNaN)})
    EXPECT_GE(logScale(low, high, 5).ticks.size(), 2u);
  EXPECT_NEAR(scale.share(scale.low), 0, 1e-12);
  EXPECT_NEAR(scale.share(scale.high), 1, 1e-12);
}

TEST(Ticks, NumbersAreShort) {
  EXPECT_EQ(tickText(0, 5), "0");
  EXPECT_EQ(tickText(20000, 5000), "20k");
  EXPECT_EQ(tickText(2500, 500), "2.5k");
  EXPECT_EQ(tickText(1500000, 500000), "1.5M");
  EXPECT_EQ(tickText(1200, 1), "1200");
  EXPECT_EQ(tickText(0.25, 0.05), "0.25");
  EXPECT_EQ(tickText(2e-6, 1e-6), "2e-06");
  EXPECT_EQ(tickText(1e-5), "1e-05");
  EXPECT_EQ(tickText(0.05), "0.05");
  EXPECT_EQ(tickText(1e5), "1e+05");
}

TEST(Curves, ThinningKeepsExtremesEndsAndGaps) {
  Series series{"s", iota(100000), std::vector<double>(100000), 0, false, false, false};
  for (size_t i = 0; i < series.y.size(); ++i) series.y[i] = std::sin(double(i) / 1000);
  series.y[12345] = 50;
  series.y[54321] = -60;
  series.y[77777] = kNaN;
  Series few = thinned(series, 500, 0, 99999);
  EXPECT_LE(few.y.size(), 2100u);
  EXPECT_EQ(few.x.size(), few.y.size());
  EXPECT_EQ(std::count(few.y.begin(), few.y.end(), 50), 1);
  EXPECT_EQ(std::count(few.y.begin(), few.y.end(), -60), 1);
  EXPECT_EQ(std::count_if(few.y.begin(), few.y.end(), [](double y) { return std::isnan(y); }), 1);
  EXPECT_EQ(few.x.front(), 0);
  EXPECT_EQ(few.x.back(), 99999);
  EXPECT_TRUE(std::is_sorted(few.x.begin(), few.x.end()));
  EXPECT_EQ(thinned(few, 1000, 0, 99999).y.size(), few.y.size()); // few enough already
}

TEST(Curves, SmoothingJumpsOverGaps) {
  std::vector<double> result = smoothed({4, 2, kNaN, 3}, 0.5);
  EXPECT_EQ(result[0], 4);
  EXPECT_EQ(result[1], 3);
  EXPECT_TRUE(std::isnan(result[2]));
  EXPECT_EQ(result[3], 3);
}

TEST(Curves, ALogarithmHelpsWhereMostValuesSpanMuch) {
  Series series{"", iota(100), std::vector<double>(100, 1), 0, false, false, false};
  EXPECT_FALSE(logHelps({&series}));
  series.y[3] = 1000; // one spike
  EXPECT_FALSE(logHelps({&series}));
  for (size_t i = 0; i < 100; ++i) series.y[i] = std::pow(10, -double(i) / 30);
  EXPECT_TRUE(logHelps({&series}));
  series.y[0] = 0;
  EXPECT_FALSE(logHelps({&series}));
}

TEST(TrainingChart, HasCurvesLegendsAndMarks) {
  TrainingRun run{"mlp & <friends>", "adam, batch 32", iota(5000),      {}, {},
                  {999, 1999, 2999}, {1, 0.5, 0.4},    {0.8, 0.9, 0.95}};
  for (double step : run.steps) {
    run.loss.push_back(2 * std::exp(-step / 800) + 0.01);
    run.lr.push_back(step < 2500 ? 0.1 : 0.01);
  }
  run.loss[4000] = kNaN;
  run.loss[4001] = INFINITY;
  std::string svg = toSvg(trainingChart(run));
  expectSound(svg);
  EXPECT_NE(svg.find("mlp &amp; &lt;friends&gt;"), std::string::npos);
  for (const char *label : {">loss (log)<", ">accuracy<", ">learning rate<", ">step<", ">training (smoothed)<",
                            ">evaluation<", ">90%<", ">4k<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(count(svg, "class=\"bad\""), 1u); // two steps beside each other are one mark
  EXPECT_EQ(count(svg, "<circle"), 6u);
  EXPECT_LT(svg.size(), 150000u);
  EXPECT_EQ(toSvg(trainingChart(run)), svg);
}

TEST(TrainingChart, WhatThereIsLittleOf) {
  for (size_t steps : {0, 1, 2, 30}) {
    TrainingRun run{"t", "", iota(steps), std::vector<double>(steps, 0.5), std::vector<double>(steps, 0.1), {}, {}, {}};
    std::string svg = toSvg(trainingChart(run));
    expectSound(svg);
    EXPECT_EQ(count(svg, ">learning rate<"), 0u); // it does not change
  }
  TrainingRun lost{"t", "", iota(3), {kNaN, kNaN, INFINITY}, {0.1, 0.1, 0.1}, {}, {}, {}};
  std::string svg = toSvg(trainingChart(lost));
  expectSound(svg);
  EXPECT_EQ(count(svg, "class=\"bad\""), 1u);
}

TEST(SweepChart, HasTwoAxes) {
  Sweep sweep{"sweep", "", "lr", true, "accuracy", {{"", 0.1, 0.9, 2}, {"", 0.001, 0.7, 3}, {"", 0.01, kNaN, 4}}};
  std::string svg = toSvg(sweepChart(sweep));
  expectSound(svg);
  for (const char *label : {">accuracy<", ">seconds<", ">time<", ">0.01<", ">lr<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(count(svg, "<circle"), 5u);
  sweep.numeric = false;
  sweep.points[0].setting = "adam";
  svg = toSvg(sweepChart(sweep));
  expectSound(svg);
  EXPECT_NE(svg.find(">adam<"), std::string::npos);
}

TEST(SvgText, HasNothingThatXmlHasNot) {
  EXPECT_EQ(escape("a\xef\xbf\xbe"
                   "b\xef\xbf\xbf\x01<&>\"\t"),
            "ab&lt;&amp;&gt;&quot;\t");
  EXPECT_EQ(escape("\xef\xbf\xbd \xef\xbf \xff"), "\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd");
}

TEST(Timeline, HasARowForEachAndAllThatIsSeen) {
  Timeline timeline{"a \"program\" & more", "on two devices", 2000, {}, {{"work", 0}, {"copies", 1}}};
  timeline.rows.push_back({"lane 0 on cpu:0", {{0, 1500, "matmul <1>", 0}, {1500, 2000, "copy", 1}}, false});
  timeline.rows.push_back({"cpu:0", {{0, 1500, "", 0}}, true});
  std::string svg = toSvg(timeline);
  expectSound(svg);
  for (const char *label : {">lane 0 on cpu:0<", ">cpu:0<", ">matmul &lt;1&gt;<", ">us<", ">work<", ">copies<",
                            "matmul &lt;1&gt;, 1.500 us"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(count(svg, "<rect class=\"f"), 5u);
}

TEST(Timeline, WhatIsMarkedIsUnderlined) {
  Timeline timeline{"t", "", 2000, {}, {{"work", 0}, {"critical path", 0, false, true}}};
  timeline.rows.push_back({"lane", {{0, 1000, "a", 0}, {1000, 2000, "b", 0, false, true}}, false});
  std::string svg = toSvg(timeline);
  expectSound(svg);
  EXPECT_EQ(count(svg, "<rect class=\"f"), 3u);
  EXPECT_EQ(count(svg, "<rect class=\"text"), 2u); // of the span and of the key
}

TEST(Timeline, ManySpansStayFewRectangles) {
  Timeline timeline{"t", "", 1e6, {}, {}};
  timeline.rows.push_back({"lane", {}, false});
  for (int i = 0; i < 100000; ++i) timeline.rows[0].spans.push_back({i * 10.0, i * 10.0 + 9, "c", 0});
  std::string svg = toSvg(timeline);
  expectSound(svg);
  EXPECT_LT(svg.size(), 200000u);
}

TEST(Timeline, WhatThereIsLittleOf) {
  expectSound(toSvg(Timeline{}));
  Timeline timeline{"t", "", 0, {{"lane", {{0, 0, "nothing", 0}}, false}}, {}};
  expectSound(toSvg(timeline));
}
