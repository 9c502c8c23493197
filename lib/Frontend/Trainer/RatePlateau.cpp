#include "lib/Frontend/Trainer/RatePlateau.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"

namespace sprig::frontend {

static std::string describe(const optim::PlateauOptions &o) {
  std::string text = ", plateau";
  for (double number : {o.factor, double(o.patience), o.threshold, double(o.absoluteThreshold), double(o.highest),
                        double(o.cooldown), o.minLr, o.eps})
    text += " " + realText(number);
  return text;
}

RatePlateau::RatePlateau(const optim::Optimizer &optimizer, const optim::PlateauOptions &options, Source at)
    : rule(optimizer, options, at), sums(Tensor(std::vector<double>{0, 0}), /*trainable=*/false, at),
      byAccuracy(options.highest), text(describe(options)), at(at) {
  sums.setName(training::kPlateauLoss);
}

bool RatePlateau::endEpoch(const EpochReport &report) const {
  if (!byAccuracy) return rule.step(report.evalLoss.value_or(report.loss), at);
  if (!report.accuracy)
    fail(at, "Trainer",
         "plateau.highest is of the accuracy of evaluations, and epoch " + std::to_string(report.epoch) +
             (report.evalLoss ? " was evaluated without counting hits" : " was not evaluated"));
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
