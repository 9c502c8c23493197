#include "tools/sprig/train/ResumePoint.h"
#include "lib/Data/File.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/train/ConfigDifference.h"

namespace sprig::cli {

void identifyConfig(training::TrainConfig config, int64_t samples, checkpoints::Manifest &identity) {
  config.steps = config.epochs = std::nullopt;
  if (config.schedule.kind != training::ScheduleKind::plateau) { // whose rate goes by them
    config.evalEvery = 1;
    config.evalBatch = std::nullopt;
  }
  config.rematBytes = std::nullopt;
  config.rematLayers = std::nullopt;
  config.net.clear();
  std::string text = training::toJson(config);
  identity.configDigest = checkpoints::digest(text + std::to_string(samples));
  Json settings = Json::parse(text);
  settings["samples"] = samples;
  identity.settings = settings.dump();
}

std::string modelDigest(const Model &model) {
  if (!model.text.empty()) return checkpoints::digest(model.text);
  std::vector<char> bytes = data::readFile(model.path);
  return checkpoints::digest({bytes.data(), bytes.size()});
}

std::optional<checkpoints::Checkpoint> findCheckpoint(const TrainOptions &options,
                                                      const checkpoints::Manifest &identity) {
  std::vector<int64_t> steps =
      options.checkpoints.empty() ? std::vector<int64_t>() : checkpoints::listSteps(options.checkpoints);
  if (options.resume.empty()) {
    if (!steps.empty())
      badUse(options.checkpoints + ": holds the checkpoint of step " + std::to_string(steps.front()) +
             " of another run\nnote: --resume goes on with it; or give another folder");
    return std::nullopt;
  }
  std::string from = options.resume == "true" ? options.checkpoints : options.resume;
  if (from.empty()) badUse("--resume: from where? give --checkpoint DIR, or --resume=DIR");
  if (options.resume == "true" && steps.empty()) {
    inform("no checkpoint in " + from + " yet: starting at step 0");
    return std::nullopt;
  }
  checkpoints::Checkpoint found = checkpoints::loadForResume(from);
  auto differs = [&](const std::string &what, const std::string &may) {
    badInput(from + ": the checkpoint of step " + std::to_string(found.manifest.step) + " is of another " + what +
             ", so the run would not be the same" + may);
  };
  if (found.manifest.modelDigest != identity.modelDigest) differs("model", "");
  if (found.manifest.configDigest != identity.configDigest) {
    // Checkpoints of before have none.
    std::string there = found.manifest.settings;
    std::string field = there.empty() ? "" : firstDifference(Json::parse(there), Json::parse(identity.settings));
    differs("configuration or number of samples",
            (field.empty() ? "" : ": " + field) + "\nnote: steps, epochs, eval, remat and remat_layers may change");
  }
  inform("going on from step " + std::to_string(found.manifest.step));
  return found;
}

} // namespace sprig::cli
