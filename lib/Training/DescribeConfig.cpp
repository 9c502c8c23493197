// Writes the schema for people and programs, and a configuration as JSON, from the tables that the reader goes by.
#include "lib/Training/FieldReader.h"
#include <algorithm>
#include <type_traits>

namespace sprig::training {
namespace {

template <typename T> std::string presence(const Field<T> &field) {
  if (field.required()) return "required";
  return *field.fallback ? std::string("default ") + field.fallback : "optional";
}

// One line a field: name, type, presence, meaning.
template <typename T> void describe(const std::vector<Field<T>> &fields, const std::string &indent, std::string &text) {
  size_t names = 0;
  for (auto &field : fields) names = std::max(names, std::string(field.name).size());
  for (auto &field : fields) {
    std::string name = field.name;
    text += indent + name + std::string(names - name.size() + 2, ' ') + field.meaning + "\n" + indent +
            std::string(names + 2, ' ') + "(" + describeType(field) + "; " + presence(field) + ")\n";
  }
}

template <typename T, typename Enum>
void describe(const std::string &head, const std::vector<Kind<T, Enum>> &kinds, std::string &text) {
  text += "\n" + head + "\n";
  for (auto &kind : kinds) {
    text += std::string("  ") + kind.name + ": " + kind.meaning + "\n";
    describe(kind.fields, "    ", text);
  }
}

template <typename T> Json fieldsAsJson(const std::vector<Field<T>> &fields) {
  Json result = Json::object();
  for (auto &field : fields) {
    Json row = {{"type", describeType(field)}, {"required", field.required()}, {"meaning", field.meaning}};
    if (!field.required() && *field.fallback) row["default"] = Json::parse(field.fallback);
    result[field.name] = row;
  }
  return result;
}

template <typename T, typename Enum> Json kindsAsJson(const std::vector<Kind<T, Enum>> &kinds) {
  Json result = Json::object();
  for (auto &kind : kinds) result[kind.name] = {{"meaning", kind.meaning}, {"fields", fieldsAsJson(kind.fields)}};
  return result;
}

template <typename V> void put(Json &json, const char *name, const V &value) { json[name] = value; }
template <typename V> void put(Json &json, const char *name, const std::optional<V> &value) {
  if (value) json[name] = *value;
}

template <typename T> void write(const std::vector<Field<T>> &fields, const T &from, Json &json, bool isWhole = false) {
  for (auto &field : fields)
    std::visit(
        [&](auto member) {
          using M = decltype(member);
          if constexpr (std::is_same_v<M, PairOf<T>>)
            json[field.name] = {from.*member.first, from.*member.second};
          else if constexpr (std::is_same_v<M, WordOf<T>>) {
            // The first word of a field without a fallback is its absence, as 0 is below.
            if (*field.fallback || from.*member.member)
              json[field.name] = from.*member.member ? member.whenTrue : member.whenFalse;
          } else if constexpr (std::is_same_v<M, ReductionOf<T>>)
            json[field.name] = name(from.*member.member);
          else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(from.*member)>>) {
            // 0 of a field without a fallback is its absence, which its range may not have.
            if (isWhole || *field.fallback || field.range.has(double(from.*member))) json[field.name] = from.*member;
          } else
            put(json, field.name, from.*member);
        },
        field.member);
}

template <typename T, typename Enum>
Json kindAsJson(const std::vector<Kind<T, Enum>> &kinds, const T &from, bool isWhole = false) {
  Json json;
  for (auto &kind : kinds)
    if (kind.kind == from.kind) {
      json["name"] = kind.name;
      write(kind.fields, from, json, isWhole);
    }
  return json;
}

} // namespace

Json asJson(const OptimizerConfig &config, bool isWhole) { return kindAsJson(optimizerKinds(), config, isWhole); }
Json asJson(const ScheduleConfig &config, bool isWhole) { return kindAsJson(scheduleKinds(), config, isWhole); }

std::string describeSchema() {
  std::string text = "A configuration is one JSON object. Flags override its fields; unknown fields are errors.\n\n";
  describe(configFields(), "", text);
  for (const Section &section : configSections()) {
    text += std::string("\n") + section.name + ": an object: " + section.meaning + "\n";
    describe(section.fields, "  ", text);
  }
  describe("loss (required): a name, an object with `name`, or a list of these, one for each output", lossKinds(),
           text);
  describe("optimizer (required): an object with `name`", optimizerKinds(), text);
  text += "\ngroups: a list of objects, parameters with settings of their own\n";
  describe(groupFields(), "  ", text);
  describe("lr_schedule: an object with `name`, its name alone, or a list of rates; t counts steps (or epochs) from 0",
           scheduleKinds(), text);
  return text;
}

std::string schemaAsJson() {
  Json json = {{"fields", fieldsAsJson(configFields())}};
  for (const Section &section : configSections())
    json["fields"][section.name] = {{"type", "an object"},
                                    {"required", false},
                                    {"meaning", section.meaning},
                                    {"fields", fieldsAsJson(section.fields)}};
  json["loss"] = kindsAsJson(lossKinds());
  json["optimizer"] = kindsAsJson(optimizerKinds());
  json["groups"] = fieldsAsJson(groupFields());
  json["lr_schedule"] = kindsAsJson(scheduleKinds());
  return json.dump(1) + "\n";
}

std::string toJson(const TrainConfig &config) {
  Json json;
  write(configFields(), config, json);
  // Where both stand, `resolve` made the steps of the epochs.
  if (config.epochs) json.erase("steps");
  for (const Section &section : configSections()) {
    Json fields = Json::object();
    write(section.fields, config, fields);
    json[section.name] = fields;
  }
  // What earlier configurations do not know is written where it says something: the digests of others stay.
  if (config.stopMetric.empty()) json["early_stop"].erase("metric");
  if (json["early_stop"].empty()) json.erase("early_stop");
  if (!config.restoreBest) json.erase("restore_best");
  for (const LossConfig &loss : config.losses) json["loss"].push_back(kindAsJson(lossKinds(), loss));
  json["optimizer"] = asJson(config.optimizer);
  for (const ParameterGroup &group : config.groups) {
    Json fields;
    write(groupFields(), GroupFields{group.match, std::nullopt, group.lrScale, group.weightDecay}, fields);
    json["groups"].push_back(fields);
  }
  json["lr_schedule"] = asJson(config.schedule);
  return json.dump(1) + "\n";
}

std::string toJson(const OptimizerConfig &config) { return asJson(config).dump(); }
std::string toJson(const ScheduleConfig &config) { return asJson(config).dump(); }

} // namespace sprig::training
