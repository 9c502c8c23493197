#include "lib/Frontend/Trainer/RatePlateau.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"

namespace sprig::frontend {

static std::string describe(const optim::PlateauOptions &o, bool evaluates) {
  std::string text = std::string(", plateau of ") + (evaluates ? "evaluations" : "epochs");
  for (double number : {o.factor, double(o.patience), o.threshold, double(o.absoluteThreshold), double(o.highest),
                        double(o.cooldown), o.minLr, o.eps})
    text += " " + realText(number);
  return text;
}

RatePlateau::RatePlateau(const optim::Optimizer &optimizer, const optim::PlateauOptions &options, bool evaluates,
                         Source at)
    : rule(optimizer, options, at), sums(Tensor(std::vector<double>{0, 0}), /*trainable=*/false, at),
      byAccuracy(options.highest), text(describe(options, evaluates)), at(at) {
  if (byAccuracy && !evaluates)
    fail(at, "Trainer", "plateau.highest is of the accuracy of evaluations, and there are none");
  sums.setName(training::kPlateauLoss);
}

bool RatePlateau::endEpoch(const EpochReport &report) const {
  if (!byAccuracy) return rule.step(report.evalLoss.value_or(report.loss), at);
  if (!report.accuracy)
    fail(at, "Trainer",
         "plateau.highest is of the accuracy of evaluations, and epoch " + std::to_string(report.epoch) +
             " was evaluated without counting hits");
  return rule.step(*report.accuracy, at);
}

void RatePlateau::keepSums(const StepLog &log) const {
  auto [loss, samples] = log.sums();
  sums.set(Tensor(std::vector<double>{loss, double(samples)}), at);
}

void RatePlateau::restoreSums(StepLog &log) const {
  const auto *numbers = sums.value().data<double>(at);
  log.setSums({numbers[0], int64_t(numbers[1])});
}

std::vector<std::pair<std::string, Parameter>> RatePlateau::namedState() const {
  std::vector<std::pair<std::string, Parameter>> named = rule.namedState();
  named.emplace_back(sums.name(), sums);
  return named;
}

} // namespace sprig::frontend
