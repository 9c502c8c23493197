#include "lib/Training/FieldReader.h"
#include "include/sprig/error.h"
#include "lib/Data/Suggestion.h"
#include <algorithm>
#include <cmath>
#include <type_traits>

namespace sprig::training {
namespace {

std::string listed(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::optional<int64_t> asInteger(const Json &json, const Range &range) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
  // 1e3 is an integer too, as far as a double is exact.
  if (json.is_number_float() &&
      (std::floor(json.get<double>()) != json.get<double>() || std::fabs(json.get<double>()) > 9007199254740992.0))
    return std::nullopt;
  if (!json.is_number()) return std::nullopt;
  int64_t value = json.is_number_float() ? int64_t(json.get<double>()) : json.get<int64_t>();
  return range.has(double(value)) ? std::optional(value) : std::nullopt;
}

std::optional<double> asNumber(const Json &json, const Range &range) {
  if (!json.is_number()) return std::nullopt;
  double value = json.get<double>();
  return std::isfinite(value) && range.has(value) ? std::optional(value) : std::nullopt;
}

// Whether the value was of the field's type and within its range.
struct Reader {
  const Json &json;
  const Range &range;

  bool read(bool &to) const {
    if (!json.is_boolean()) return false;
    to = json.get<bool>();
    return true;
  }
  bool read(int64_t &to) const { return take(asInteger(json, range), to); }
  bool read(uint64_t &to) const { return take(asInteger(json, range), to); }
  bool read(double &to) const { return take(asNumber(json, range), to); }
  bool read(std::string &to) const {
    if (!json.is_string()) return false;
    to = json.get<std::string>();
    return true;
  }
  template <typename V> bool read(std::vector<V> &to) const {
    if (std::is_same_v<V, std::string> && json.is_string()) return Reader{json, range}.read(to.emplace_back());
    if (!json.is_array()) return false;
    to.clear();
    for (const Json &element : json)
      if (!Reader{element, range}.read(to.emplace_back())) return false;
    return true;
  }
  template <typename V> bool read(std::optional<V> &to) const { return read(to.emplace()); }

private:
  template <typename V, typename U> static bool take(const std::optional<V> &value, U &to) {
    if (value) to = U(*value);
    return value.has_value();
  }
};

template <typename T> bool readMember(const Json &json, const Field<T> &field, T &result) {
  return std::visit(
      [&](auto member) {
        using M = decltype(member);
        Reader reader{json, field.range};
        if constexpr (std::is_same_v<M, PairOf<T>>) {
          return json.is_array() && json.size() == 2 && Reader{json[0], field.range}.read(result.*member.first) &&
                 Reader{json[1], field.range}.read(result.*member.second);
        } else if constexpr (std::is_same_v<M, WordOf<T>>) {
          result.*member.member = json == member.whenTrue;
          return json == member.whenTrue || json == member.whenFalse;
        } else if constexpr (std::is_same_v<M, ReductionOf<T>>) {
          for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::batchMean})
            if (json == name(reduction) && (reduction != Reduction::batchMean || member.batchMean)) {
              result.*member.member = reduction;
              return true;
            }
          return false;
        } else {
          return reader.read(result.*member);
        }
      },
      field.member);
}

template <typename T> std::vector<std::string> names(const std::vector<Field<T>> &fields) {
  std::vector<std::string> result;
  for (auto &field : fields) result.push_back(field.name);
  return result;
}

} // namespace

std::string join(const std::string &path, const std::string &field) {
  return path.empty() ? field : path + "." + field;
}

void Place::refuse(const std::string &path, const Json &found, const std::string &expected) const {
  std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  text = "found " + text + ", expected " + expected;
  for (const Override &flag : overrides)
    if (flag.path == path) badUse(flag.flag + ": " + text);
  badInput(file + ": " + (path.empty() ? "" : path + ": ") + text);
}

void Place::missing(const std::string &path, const std::string &expected) const {
  badInput(file + ": " + path + ": is missing, expected " + expected);
}

void Place::unknown(const std::string &path, const std::string &name, const std::string &what,
                    const std::vector<std::string> &known, const std::string &note) const {
  std::string text = "unknown " + what + " '" + name + "'" + data::suggestion(name, known) +
                     "\nnote: " + (note.empty() ? "there are" : note + " has") + ": " + listed(known);
  for (const Override &flag : overrides)
    if (flag.path == join(path, name) || flag.path == path) badUse(flag.flag + ": " + text);
  badInput(file + ": " + (path.empty() ? "" : path + ": ") + text);
}

template <typename T>
void readObject(const Json &json, const std::string &path, const Place &place, const std::vector<Field<T>> &fields,
                T &result, const std::vector<std::string> &others, const std::string &note) {
  if (!json.is_object()) place.refuse(path, json, "an object");
  std::vector<std::string> known = names(fields);
  known.insert(known.end(), others.begin(), others.end());
  for (auto &[key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) place.unknown(path, key, "field", known, note);
  for (const Field<T> &field : fields) {
    auto found = json.find(field.name);
    bool given = found != json.end();
    if (!given && field.required()) place.missing(join(path, field.name), describeType(field));
    if (!given && !*field.fallback) continue;
    if (!readMember(given ? *found : Json::parse(field.fallback), field, result))
      place.refuse(join(path, field.name), *found, describeType(field, /*everyBound=*/true));
  }
}

template <typename T, typename Enum>
void readKind(const Json &json, const std::string &path, const Place &place, const std::vector<Kind<T, Enum>> &kinds,
              T &result) {
  if (json.is_string()) return readKind(Json{{"name", json}}, path, place, kinds, result);
  if (!json.is_object()) place.refuse(path, json, "a name, or an object with `name`");
  if (!json.contains("name")) place.missing(join(path, "name"), "a name");
  const Json &name = json["name"];
  if (!name.is_string()) place.refuse(join(path, "name"), name, "a string");
  std::vector<std::string> known;
  for (auto &kind : kinds) {
    known.push_back(kind.name);
    if (name != kind.name) continue;
    result.kind = kind.kind;
    return readObject(json, path, place, kind.fields, result, {"name"}, kind.name);
  }
  place.unknown(path, name.get<std::string>(), path.substr(0, path.find('[')), known);
}

template void readObject(const Json &, const std::string &, const Place &, const std::vector<Field<TrainConfig>> &,
                         TrainConfig &, const std::vector<std::string> &, const std::string &);
template void readObject(const Json &, const std::string &, const Place &, const std::vector<Field<GroupFields>> &,
                         GroupFields &, const std::vector<std::string> &, const std::string &);
template void readKind(const Json &, const std::string &, const Place &,
                       const std::vector<Kind<LossConfig, LossKind>> &, LossConfig &);
template void readKind(const Json &, const std::string &, const Place &,
                       const std::vector<Kind<OptimizerConfig, OptimizerKind>> &, OptimizerConfig &);
template void readKind(const Json &, const std::string &, const Place &,
                       const std::vector<Kind<ScheduleConfig, ScheduleKind>> &, ScheduleConfig &);

} // namespace sprig::training
