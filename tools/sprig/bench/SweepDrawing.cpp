#include "tools/sprig/bench/SweptTraining.h"
#include "lib/Plot/Chart.h"
#include <algorithm>
#include <limits>

namespace sprig::cli {
namespace {

struct Curve {
  std::string name;
  std::vector<const SweptRun *> runs;
};

std::vector<Curve> curvesOf(SweptOver over, const std::vector<SweptRun> &runs) {
  std::vector<Curve> curves;
  bool areSeveral = std::any_of(runs.begin(), runs.end(), [](const SweptRun &run) { return run.point.seed > 1; });
  for (const SweptRun &run : runs) {
    std::string name = over == SweptOver::rates ? "batch " + std::to_string(run.point.batch) : "";
    if (areSeveral) name += ", seed " + std::to_string(run.point.seed);
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const Curve &each) { return each.name == name; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{name, {}});
    curve->runs.push_back(&run);
  }
  return curves;
}

} // namespace

std::string drawSweep(const std::string &title, const std::string &subtitle, SweptOver over,
                      const std::vector<SweptRun> &runs) {
  plot::Chart chart{title, subtitle, "learning rate", {}, false, {}};
  if (over != SweptOver::rates) {
    chart.xLabel = over == SweptOver::ranks ? "ranks" : "batch";
    for (const SweptRun &run : runs)
      chart.categories.push_back(std::to_string(over == SweptOver::ranks ? run.point.ranks : run.point.batch));
  }
  const std::vector<Curve> curves = curvesOf(over, runs);
  auto panel = [&](const char *label, double height, bool percent, auto valueOf) {
    plot::Panel each{label, {}, height, plot::LogChoice::never, percent, ""};
    for (size_t c = 0; c < curves.size(); ++c) {
      plot::Series series{curves[c].name, {}, {}, int(c), false, true, false};
      for (size_t i = 0; i < curves[c].runs.size(); ++i) {
        const SweptRun &run = *curves[c].runs[i];
        series.x.push_back(over == SweptOver::rates ? run.point.rate : double(i));
        series.y.push_back(run.outcome ? valueOf(run) : std::numeric_limits<double>::quiet_NaN());
      }
      each.series.push_back(std::move(series));
    }
    chart.panels.push_back(std::move(each));
  };
  panel("accuracy", 240, true, [](const SweptRun &run) { return *run.outcome->evaluation->accuracy; });
  panel("s an epoch", 140, false, [](const SweptRun &run) { return run.epochSeconds(); });
  // A program serves all rates of a batch.
  if (over != SweptOver::rates)
    panel("memory, MB", 140, false, [](const SweptRun &run) { return double(run.memoryPeak) / 1e6; });
  return plot::toSvg(chart);
}

} // namespace sprig::cli
