#include "lib/Plot/TrainingChart.h"
#include <algorithm>
#include <cmath>

namespace sprig::plot {

Chart trainingChart(const TrainingRun &run) {
  Chart chart{run.title, run.subtitle, "step", {}, false, {}};
  Panel loss{"loss", {}, 260, LogChoice::whenItHelps, false, ""};
  // Short runs show every step; of long ones the average over about a fiftieth shows the way.
  size_t count = run.loss.size();
  bool smooth = count > 100;
  loss.series.push_back({smooth ? "" : "training", run.steps, run.loss, 0, smooth, false, false});
  if (smooth)
    loss.series.push_back(
        {"training (smoothed)", run.steps, smoothed(run.loss, 50.0 / double(count)), 0, false, false, false});
  // The smooth curve has the marks of what is not finite, so the raw one need not.
  bool evaluated = !run.evalLoss.empty();
  bool few = run.evalSteps.size() <= 60;
  if (evaluated) loss.series.push_back({"evaluation", run.evalSteps, run.evalLoss, 1, false, few, false});
  chart.panels.push_back(loss);
  if (!run.evalAccuracy.empty())
    chart.panels.push_back({"accuracy",
                            {{"evaluation", run.evalSteps, run.evalAccuracy, 2, false, few, false}},
                            180,
                            LogChoice::never,
                            true,
                            ""});
  if (!run.lr.empty() &&
      *std::min_element(run.lr.begin(), run.lr.end()) != *std::max_element(run.lr.begin(), run.lr.end()))
    chart.panels.push_back(
        {"learning rate", {{"", run.steps, run.lr, 3, false, false, false}}, 120, LogChoice::never, false, ""});
  return chart;
}

Chart sweepChart(const Sweep &sweep) {
  Chart chart{sweep.title, sweep.subtitle, sweep.parameter, {}, false, {}};
  std::vector<SweepPoint> points = sweep.points;
  if (sweep.numeric) {
    std::sort(points.begin(), points.end(), [](auto &a, auto &b) { return a.value < b.value; });
    chart.logX = points.size() > 1 && points.front().value > 0 && points.back().value / points.front().value >= 20;
  }
  Series measured{sweep.measure, {}, {}, 0, false, true, false}, time{"time", {}, {}, 1, false, true, true};
  for (size_t i = 0; i < points.size(); ++i) {
    double x = sweep.numeric ? points[i].value : double(i);
    measured.x.push_back(x), time.x.push_back(x);
    measured.y.push_back(points[i].measured), time.y.push_back(points[i].seconds);
    if (!sweep.numeric) chart.categories.push_back(points[i].setting);
  }
  chart.panels.push_back(
      {sweep.measure, {measured, time}, 320, LogChoice::whenItHelps, sweep.measure == "accuracy", "seconds"});
  return chart;
}

} // namespace sprig::plot
