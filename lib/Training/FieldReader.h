// Reads JSON objects into structs by the tables of ConfigSchema.h, with errors that name the place and both facts.
// For ReadTrainConfig.cpp and DescribeConfig.cpp, which writes such objects.
#pragma once
#include "lib/Json/Json.h"
#include "lib/Training/ConfigSchema.h"
#include "lib/Training/ReadTrainConfig.h"

namespace sprig::training {

/// Where a value stands: in the file, or in a flag that set it.
struct Place {
  std::string file;
  std::span<const Override> overrides;

  /// "FILE: optimizer.lr: found "fast", expected a number of at least 0"; a flag's name where a flag set the value.
  [[noreturn]] void refuse(const std::string &path, const Json &found, const std::string &expected) const;
  [[noreturn]] void missing(const std::string &path, const std::string &expected) const;
  /// For a field or name that is not in `known`, with the nearest one as a suggestion.
  [[noreturn]] void unknown(const std::string &path, const std::string &name, const std::string &what,
                            const std::vector<std::string> &known, const std::string &note = "") const;
};

/// "", "name" and "optimizer", "name": a field's path.
std::string join(const std::string &path, const std::string &field);

/// `others` are names that the caller reads itself.
template <typename T>
void readObject(const Json &json, const std::string &path, const Place &place, const std::vector<Field<T>> &fields,
                T &result, const std::vector<std::string> &others = {}, const std::string &note = "");

/// The name of a kind, or an object with it: chooses the row, sets the kind, reads its fields.
template <typename T, typename Enum>
void readKind(const Json &json, const std::string &path, const Place &place, const std::vector<Kind<T, Enum>> &kinds,
              T &result);

/// The object that reads back to a struct. `isWhole`: with numbers of 0, which in fields without a fallback say that
/// nothing was given.
Json asJson(const OptimizerConfig &config, bool isWhole = false);
Json asJson(const ScheduleConfig &config, bool isWhole = false);

} // namespace sprig::training
