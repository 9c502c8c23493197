#include "lib/Training/ReadTrainConfig.h"
#include "include/sprig/error.h"
#include "lib/Training/ConfigSchema.h"
#include "lib/Data/File.h"
#include "lib/Training/FieldReader.h"
#include <algorithm>

namespace sprig::training {
namespace {

Json parseDocument(std::string_view text, const Place &place) {
  Json document = parseJsonFile(text, place.file);
  if (!document.is_object()) place.refuse("", document, "an object with the fields of a configuration");
  return document;
}

void applyOverrides(Json &document, std::span<const Override> overrides) {
  for (const Override &flag : overrides) {
    Json value;
    try {
      value = parseJson(flag.json, flag.flag, ErrorKind::usage);
    } catch (const Json::exception &) {
      value = flag.json; // a plain word
    }
    // A run has one length: the flag's takes the place of the file's.
    if (flag.path == "steps" || flag.path == "epochs") {
      const char *other = flag.path == "steps" ? "epochs" : "steps";
      if (std::none_of(overrides.begin(), overrides.end(), [&](auto &o) { return o.path == other; }))
        document.erase(other);
    }
    Json *at = &document;
    std::string_view path = flag.path;
    for (size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
      Json &next = (*at)[std::string(path.substr(0, dot))];
      if (next.is_string()) next = Json{{"name", next}}; // the short form of an object with a name
      if (!next.is_object() && !next.is_null())
        badUse(flag.flag + ": cannot set " + flag.path + ": the configuration has no object there");
      at = &next;
    }
    (*at)[std::string(path)] = std::move(value);
  }
}

LossConfig readLoss(const Json &json, const std::string &path, const Place &place) {
  LossConfig loss;
  // Elements apart are what inference wants, a step needs one number.
  if (json.is_object() && json.contains("reduction") && json["reduction"] == "none")
    place.refuse(path + ".reduction", json["reduction"], "\"mean\" or \"sum\": a step minimises one number");
  readKind(json, path, place, lossKinds(), loss);
  if (!loss.classWeights.empty() && *std::max_element(loss.classWeights.begin(), loss.classWeights.end()) == 0)
    place.refuse(path + ".class_weights", json["class_weights"], "a weight above 0");
  return loss;
}

void readLosses(const Json &json, const Place &place, TrainConfig &config) {
  if (!json.is_array()) {
    config.losses.push_back(readLoss(json, "loss", place));
    return;
  }
  if (json.empty()) place.refuse("loss", json, "a loss for each output");
  for (size_t i = 0; i < json.size(); ++i)
    config.losses.push_back(readLoss(json[i], "loss[" + std::to_string(i) + "]", place));
}

void readOptimizer(const Json &json, const Place &place, OptimizerConfig &optimizer) {
  if (json == "lbfgs" || (json.is_object() && json.contains("name") && json["name"] == "lbfgs"))
    place.refuse("optimizer.name", "lbfgs",
                 "an optimizer whose step evaluates the loss once; optim::Lbfgs of sprig/lbfgs.h is for loops of "
                 "programs");
  readKind(json, "optimizer", place, optimizerKinds(), optimizer);
  if (optimizer.nesterov && (optimizer.momentum <= 0 || optimizer.dampening != 0))
    place.refuse("optimizer.nesterov", json["nesterov"], "a momentum above 0 and no dampening beside it");
}

void readSchedule(const Json &json, const Place &place, ScheduleConfig &schedule) {
  if (json.is_array()) // rates alone
    return readSchedule(Json{{"name", "list"}, {"values", json}}, place, schedule);
  readKind(json, "lr_schedule", place, scheduleKinds(), schedule);
  if (schedule.kind == ScheduleKind::list && schedule.values.empty())
    place.refuse("lr_schedule.values", json["values"], "at least one rate");
  if (!std::is_sorted(schedule.milestones.begin(), schedule.milestones.end()))
    place.refuse("lr_schedule.milestones", json["milestones"], "ascending times");
  if (schedule.totalSteps && schedule.totalSteps <= schedule.warmupSteps)
    place.refuse("lr_schedule.total_steps", json["total_steps"],
                 "more than the " + std::to_string(schedule.warmupSteps) + " of warmup_steps");
}

// What is counted right are classes.
void checkMetric(const Json &json, const Place &place, const TrainConfig &config) {
  bool hasClasses = std::any_of(config.losses.begin(), config.losses.end(), [](const LossConfig &loss) {
    return loss.kind == LossKind::softmaxCrossEntropy || loss.kind == LossKind::nll;
  });
  if (config.schedule.byAccuracy && !hasClasses)
    place.refuse("lr_schedule.metric", json["metric"], "\"loss\": no loss of the configuration is one of classes");
}

void readGroups(const Json &json, const Place &place, TrainConfig &config) {
  if (!json.is_array()) place.refuse("groups", json, "a list of objects with `match`");
  for (size_t i = 0; i < json.size(); ++i) {
    std::string path = "groups[" + std::to_string(i) + "]";
    GroupFields fields;
    readObject(json[i], path, place, groupFields(), fields);
    if (fields.match.empty()) place.refuse(path + ".match", json[i]["match"], "at least one name or glob");
    if (fields.lr && fields.lrScale) place.refuse(path + ".lr_scale", json[i]["lr_scale"], "one of lr and lr_scale");
    if (fields.lr && config.optimizer.lr == 0 && *fields.lr != 0)
      place.refuse(path + ".lr", json[i]["lr"], "0 where optimizer.lr is 0, which schedules scale both from");
    ParameterGroup group;
    group.match = std::move(fields.match);
    if (fields.lrScale) group.lrScale = *fields.lrScale;
    if (fields.lr) group.lrScale = *fields.lr == 0 ? 0 : *fields.lr / config.optimizer.lr;
    group.weightDecay = fields.weightDecay;
    config.groups.push_back(std::move(group));
  }
}

void checkLength(const Json &json, const Place &place, const TrainConfig &config) {
  if (config.steps && config.epochs)
    place.refuse("epochs", json["epochs"], "no epochs beside steps (" + std::to_string(*config.steps) + ")");
  if (!config.steps && !config.epochs) place.missing("steps", "steps or epochs");
}

} // namespace

TrainConfig parseTrainConfig(std::string_view text, const std::string &file, std::span<const Override> overrides) {
  Place place{file, overrides};
  Json json = parseDocument(text, place);
  applyOverrides(json, overrides);

  TrainConfig config;
  std::vector<std::string> known = {"loss", "optimizer", "groups", "lr_schedule"};
  for (const Section &section : configSections()) known.push_back(section.name);
  readObject(json, "", place, configFields(), config, known);
  for (const Section &section : configSections())
    if (json.contains(section.name)) readObject(json[section.name], section.name, place, section.fields, config);

  if (!json.contains("loss")) place.missing("loss", "the name of a loss");
  if (!json.contains("optimizer")) place.missing("optimizer", "an object with the name and the lr of an optimizer");
  readLosses(json["loss"], place, config);
  readOptimizer(json["optimizer"], place, config.optimizer);
  if (json.contains("lr_schedule")) {
    readSchedule(json["lr_schedule"], place, config.schedule);
    checkMetric(json["lr_schedule"], place, config);
  }
  if (json.contains("groups")) readGroups(json["groups"], place, config);
  checkLength(json, place, config);
  if (!json.contains("shuffle")) config.shuffle = config.epochs.has_value();
  for (auto [field, names] : {std::pair("trainable", &config.trainable), std::pair("remat_layers", &config.rematLayers),
                              std::pair("batch_norm.frozen", &config.frozenNorms)})
    if (*names && (*names)->empty()) place.refuse(field, Json::array(), "at least one name or glob");
  if (__int128_t(config.batch) * config.accumulate > INT64_MAX)
    place.refuse("accumulate", json["accumulate"],
                 "a step of fewer samples (batch is " + std::to_string(config.batch) + ")");
  return config;
}

OptimizerConfig parseOptimizer(std::string_view json, const std::string &place) {
  OptimizerConfig optimizer;
  readOptimizer(parseJsonFile(json, place), Place{place, {}}, optimizer);
  return optimizer;
}

ScheduleConfig parseSchedule(std::string_view json, const std::string &place) {
  ScheduleConfig schedule;
  readSchedule(parseJsonFile(json, place), Place{place, {}}, schedule);
  return schedule;
}

void check(const OptimizerConfig &config, const std::string &place) {
  OptimizerConfig read;
  readOptimizer(asJson(config, /*isWhole=*/true), Place{place, {}}, read);
}

void check(const ScheduleConfig &config, const std::string &place) {
  ScheduleConfig read;
  readSchedule(asJson(config, /*isWhole=*/true), Place{place, {}}, read);
}

TrainConfig readTrainConfig(const std::filesystem::path &file, std::span<const Override> overrides) {
  std::vector<char> bytes = data::readFile(file);
  return parseTrainConfig({bytes.data(), bytes.size()}, file.string(), overrides);
}

int64_t stepsPerEpoch(const TrainConfig &config, int64_t samples) {
  int64_t each = config.batch * config.accumulate;
  return samples / each + (!config.dropLast && samples % each ? 1 : 0);
}

void resolve(TrainConfig &config, int64_t samples) {
  int64_t epoch = stepsPerEpoch(config, samples);
  if (epoch == 0)
    badInput("the data have " + std::to_string(samples) + " samples, a step takes " +
             std::to_string(config.batch * config.accumulate) +
             (samples ? " and drop_last leaves out smaller ones" : ""));
  if (config.epochs) {
    int64_t steps;
    if (__builtin_mul_overflow(*config.epochs, epoch, &steps))
      badInput("epochs: " + std::to_string(*config.epochs) + " epochs of " + std::to_string(epoch) +
               " steps are too many steps");
    config.steps = steps;
  }
  ScheduleConfig &schedule = config.schedule;
  schedule.stepsPerUnit = schedule.perEpoch ? epoch : 1;
  if (hasTotal(schedule.kind) && schedule.totalSteps == 0) {
    schedule.totalSteps = (*config.steps + schedule.stepsPerUnit - 1) / schedule.stepsPerUnit;
    if (schedule.totalSteps <= schedule.warmupSteps)
      badInput("lr_schedule.warmup_steps: found " + std::to_string(schedule.warmupSteps) +
               ", expected less than the run's " + std::to_string(schedule.totalSteps));
  }
}

} // namespace sprig::training
