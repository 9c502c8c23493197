#include "lib/TrainLoop/RunChart.h"
#include "lib/Data/File.h"
#include "lib/Plot/TrainingChart.h"

namespace sprig::training {

void writeRunChart(const std::filesystem::path &path, const std::string &title, const std::string &subtitle,
                   std::span<const StepMetrics> history) {
  plot::TrainingRun run;
  run.title = title;
  run.subtitle = subtitle;
  for (const StepMetrics &line : history) {
    run.steps.push_back(double(line.step));
    run.loss.push_back(double(line.loss));
    run.lr.push_back(double(line.lr));
    if (!line.evalLoss) continue;
    run.evalSteps.push_back(double(line.step));
    run.evalLoss.push_back(*line.evalLoss);
    if (line.evalAccuracy) run.evalAccuracy.push_back(*line.evalAccuracy);
  }
  data::writeFile(path, plot::toSvg(plot::trainingChart(run)));
}

} // namespace sprig::training
