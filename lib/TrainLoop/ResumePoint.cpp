#include "lib/TrainLoop/ResumePoint.h"
#include "include/sprig/error.h"
#include "lib/TrainLoop/ConfigDifference.h"
#include "lib/Training/FieldReader.h"

namespace sprig::training {

void identifyConfig(TrainConfig config, int64_t samples, checkpoints::Manifest &identity,
                    const ScheduleConfig *plateau) {
  config.steps = config.epochs = std::nullopt;
  if (config.schedule.kind != ScheduleKind::plateau) { // whose rate goes by them
    config.evalEvery = 1;
    config.evalBatch = std::nullopt;
  }
  config.stopPatience = std::nullopt;
  config.stopMinDelta = std::nullopt;
  config.stopMetric.clear();
  config.restoreBest = false;
  config.rematBytes = std::nullopt;
  config.rematLayers = std::nullopt;
  config.net.clear();
  std::string text = toJson(config);
  identity.configDigest = checkpoints::digest(text + std::to_string(samples));
  Json settings = Json::parse(text);
  settings["samples"] = samples;
  if (plateau) settings["plateau"] = asJson(*plateau);
  identity.settings = settings.dump();
}

std::optional<checkpoints::Checkpoint> findCheckpoint(const ResumeRequest &request,
                                                      const checkpoints::Manifest &identity) {
  std::vector<int64_t> steps = request.folder.empty() ? std::vector<int64_t>() : checkpoints::listSteps(request.folder);
  if (!request.newest && request.from.empty()) {
    if (!steps.empty())
      badUse(request.place + request.folder + ": holds the checkpoint of step " + std::to_string(steps.front()) +
             " of another run\nnote: " + request.advice + " goes on with it; or give another folder");
    return std::nullopt;
  }
  const std::string from = request.from.empty() ? request.folder : request.from;
  if (from.empty()) badUse(request.place + request.where);
  if (request.from.empty() && steps.empty()) return std::nullopt;
  checkpoints::Checkpoint found = checkpoints::loadForResume(from);
  const checkpoints::Manifest &there = found.manifest;
  auto differs = [&](const std::string &what, const std::string &more = "") {
    badInput(request.place + from + ": the checkpoint of step " + std::to_string(there.step) + " is of another " +
             what + ", so the run would not be the same" + more);
  };
  if (there.modelDigest != identity.modelDigest) differs(request.model);
  // Checkpoints of before have no settings.
  std::string field =
      there.settings.empty() ? "" : firstDifference(Json::parse(there.settings), Json::parse(identity.settings));
  if (there.configDigest != identity.configDigest || there.seed != identity.seed || !field.empty())
    differs("configuration or number of samples",
            (field.empty() ? "" : ": " + field) + "\nnote: " + request.free + " may change");
  return found;
}

} // namespace sprig::training
