#include "tools/sprig/train/TrainNote.h"
#include "lib/Json/Json.h"
#include "lib/Training/ReadTrainConfig.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {
namespace {

// The fields of a configuration that its steps have compiled in.
Json compiledIn(const training::TrainConfig &config) {
  Json json = Json::parse(training::toJson(config));
  for (const char *field : {"net", "steps", "epochs", "shuffle", "drop_last", "seed", "eval", "remat"})
    json.erase(field);
  json["optimizer"].erase("lr");
  return json;
}

// Samples and classes, from 0 to 2^48: sums of them are numbers, too.
int64_t countIn(const Json &json) {
  std::optional<int64_t> count = wholeNumber<int64_t>(json);
  if (!count || *count < 0 || *count > int64_t(1) << 48)
    throw Error(ErrorKind::badInput, "found " + json.dump() + ", expected a count");
  return *count;
}

} // namespace

std::string toText(const TrainNote &note) {
  Json json = {{"config", Json::parse(training::toJson(note.config))},
               {"samples", note.samples},
               {"classes", note.classes},
               {"trainable", note.trainable}};
  if (note.zero) json["zero"] = note.zero;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace); // names may be no UTF-8
}

std::optional<TrainNote> trainNoteOf(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key = nullptr, *value = nullptr;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    if (std::string_view(key) != kTrainingFact) continue;
    try {
      Json json = parseJson(value, "it");
      TrainNote note;
      note.config = training::parseTrainConfig(json.at("config").dump(), info.name);
      note.samples = countIn(json.at("samples"));
      for (const Json &classes : json.at("classes")) note.classes.push_back(countIn(classes));
      note.trainable = json.at("trainable").get<std::vector<std::string>>();
      if (json.contains("zero")) note.zero = int(countIn(json.at("zero")));
      return note;
    } catch (const std::exception &error) {
      throw Error(ErrorKind::badInput,
                  std::string(info.name) + ": what it says of its training cannot be read: " + error.what());
    }
  }
  return std::nullopt;
}

bool sameSteps(const training::TrainConfig &a, const training::TrainConfig &b) {
  return compiledIn(a) == compiledIn(b) && a.rematBytes == b.rematBytes;
}

void checkAgrees(const TrainNote &note, const training::TrainConfig &config, int64_t samples,
                 const std::string &package) {
  Json there = compiledIn(note.config), wanted = compiledIn(config);
  for (auto &[field, value] : wanted.items()) {
    if (there.contains(field) && there[field] == value) continue;
    throw Error(ErrorKind::badInput, package + ": was compiled for another configuration: " + field + " is " +
                                         (there.contains(field) ? there[field].dump() : "absent") + " there, " +
                                         value.dump() +
                                         " here\nnote: learning rate, seed, length, order and evaluations may change");
  }
  for (auto &[field, value] : there.items())
    if (!wanted.contains(field))
      throw Error(ErrorKind::badInput, package + ": was compiled for another configuration: " + field + " is " +
                                           value.dump() + " there, absent here");
  int64_t was = training::stepsPerEpoch(note.config, note.samples), is = training::stepsPerEpoch(config, samples);
  if (config.schedule.perEpoch && was != is)
    throw Error(ErrorKind::badInput, package + ": its schedule counts epochs of " + std::to_string(was) +
                                         " steps, the data have " + std::to_string(is));
}

} // namespace sprig::cli
