#include "lib/Frontend/Trainer/RunIdentity.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/TrainLoop/ResumePoint.h"
#include "lib/Training/StateNames.h"
#include "runtime/base/Decimal.h"

namespace sprig::frontend {

// The digests are those of all trainers so far, whose checkpoints had no settings.
static std::string plateauText(const optim::PlateauOptions &o, bool evaluates) {
  std::string text = std::string(", plateau of ") + (evaluates ? "evaluations" : "epochs");
  for (double number : {o.factor, double(o.patience), o.threshold, double(o.absoluteThreshold), double(o.highest),
                        double(o.cooldown), o.minLr, o.eps})
    text += " " + realText(number);
  return text;
}

checkpoints::Manifest identityOf(const TrainerOptions &options, const ModuleRunner &runner, const Training &training,
                                 const data::Loader &train, bool evaluates) {
  checkpoints::Manifest identity;
  std::string types = runner.slots().types();
  if (options.plateau)
    for (auto [name, count] : {std::pair(training::kPlateau, int64_t(3)), {training::kPlateauLoss, 2}})
      types += std::string(name) + " " + describe(TensorType{DType::f64, {count}}) + "\n";
  identity.modelDigest = checkpoints::digest(types);
  const data::LoaderOptions &loader = train.options();
  training::TrainConfig config;
  config.optimizer = training.optimizer.settings(runner.at);
  if (const std::optional<optim::Schedule> &schedule = training.optimizer.schedule())
    config.schedule = schedule->settings();
  config.batch = loader.batch;
  config.accumulate = options.accumulate;
  config.shuffle = bool(loader.shuffle);
  config.dropLast = loader.dropLast;
  if (options.clipNorm > 0) config.gradClipNorm = options.clipNorm;
  if (options.clipValue > 0) config.gradClipValue = options.clipValue;
  config.emaDecay = options.ema;
  config.batchNormOfReplicas = options.batchNorms == NormStatistics::replica;
  identity.seed = config.seed = loader.shuffle ? train.seed() : 0;
  std::optional<training::ScheduleConfig> plateau;
  if (options.plateau) plateau = optim::scheduleOf(*options.plateau, placeText(runner.at) + "Trainer: plateau");
  training::identifyConfig(config, train.dataset().size(), identity, plateau ? &*plateau : nullptr);
  identity.configDigest = checkpoints::digest(
      "trainer, batch " + std::to_string(loader.batch) + (loader.shuffle ? ", shuffled" : "") +
      (loader.dropLast ? ", whole batches" : "") + ", " + std::to_string(train.dataset().size()) + " samples, clip " +
      decimal::fixed(options.clipNorm, 6) + " " + decimal::fixed(options.clipValue, 6) +
      (options.plateau ? plateauText(*options.plateau, evaluates) : ""));
  return identity;
}

std::optional<checkpoints::Checkpoint> findCheckpoint(const TrainerOptions &options,
                                                      const checkpoints::Manifest &identity, Source at) {
  if (isOther(options.group)) return std::nullopt;
  return training::findCheckpoint({.folder = options.checkpoint.string(),
                                   .newest = options.resume,
                                   .from = options.resumeFrom.string(),
                                   .place = placeText(at) + "Trainer: ",
                                   .advice = "resume = true",
                                   .where = "resume: from where? checkpoint names no folder",
                                   .model = "module or optimizer",
                                   .free = "maxEpochs, maxSteps, evaluations and what ends a run early"},
                                  identity);
}

} // namespace sprig::frontend
