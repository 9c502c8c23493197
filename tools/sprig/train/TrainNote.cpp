#include "tools/sprig/train/TrainNote.h"
#include "lib/TrainLoop/ConfigDifference.h"
#include "lib/Training/ReadTrainConfig.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {
namespace {

// The fields of a configuration that its steps have compiled in.
Json compiledIn(const training::TrainConfig &config) {
  Json json = Json::parse(training::toJson(config));
  for (const char *field : {"net", "steps", "epochs", "shuffle", "drop_last", "seed", "eval", "early_stop",
                            "restore_best", "remat", "remat_layers"})
    json.erase(field);
  json["optimizer"].erase("lr");
  return json;
}

} // namespace

std::optional<TrainNote> trainNoteOf(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key = nullptr, *value = nullptr;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    if (std::string_view(key) == kTrainingFact) return parseTrainNote(value, info.name);
  }
  return std::nullopt;
}

bool sameSteps(const training::TrainConfig &a, const training::TrainConfig &b) {
  return compiledIn(a) == compiledIn(b) && a.rematBytes == b.rematBytes && a.rematLayers == b.rematLayers;
}

void checkAgrees(const TrainNote &note, const training::TrainConfig &config, int64_t samples,
                 const std::string &package) {
  Json there = compiledIn(note.config), wanted = compiledIn(config);
  if (std::string difference = training::firstDifference(there, wanted); !difference.empty())
    badInput(package + ": was compiled for another configuration: " + difference +
             "\nnote: learning rate, seed, length, order and evaluations may change");
  int64_t was = training::stepsPerEpoch(note.config, note.samples), is = training::stepsPerEpoch(config, samples);
  if (config.schedule.perEpoch && was != is)
    badInput(package + ": its schedule counts epochs of " + std::to_string(was) + " steps, the data have " +
             std::to_string(is));
}

} // namespace sprig::cli
