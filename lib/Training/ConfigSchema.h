// The schema of a training configuration as tables: each field's name, type, range, fallback and meaning.
// Reader, writer and `--config-help` all walk these tables, so none can know a field that another does not.
#pragma once
#include "lib/Training/TrainConfig.h"
#include <limits>
#include <span>
#include <string_view>
#include <variant>

namespace sprig::training {

/// What a number, or each number of a list, may be.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool lowOpen = false, highOpen = false; ///< the bound itself is not in it

  bool has(double value) const {
    return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
  }
};
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();
inline constexpr Range kAny{}, kPositive{0, kUnbounded, true, true}, kNotNegative{0, kUnbounded, false, true},
    kUnit{0, 1, false, false}, kBelowOne{0, 1, false, true}, kCount{1, 9007199254740992.0, false, false},
    kCountOrZero{0, 9007199254740992.0, false, false};

/// A list of exactly two numbers.
template <typename T> struct PairOf {
  double T::*first, T::*second;
};
/// One of two words.
template <typename T> struct WordOf {
  bool T::*member;
  const char *whenFalse, *whenTrue;
};
/// mean or sum, and what else the kind allows.
template <typename T> struct ReductionOf {
  Reduction T::*member;
  bool batchMean;
};

/// Where a field's value goes, which is its type too.
template <typename T>
using Member = std::variant<bool T::*, int64_t T::*, uint64_t T::*, double T::*, std::string T::*,
                            std::vector<double> T::*, std::vector<int64_t> T::*, std::vector<std::string> T::*,
                            std::optional<int64_t> T::*, std::optional<double> T::*,
                            std::optional<std::vector<std::string>> T::*, PairOf<T>, WordOf<T>, ReductionOf<T>>;

inline constexpr const char *kRequired = "required";

template <typename T> struct Field {
  const char *name;
  Member<T> member;
  Range range;
  const char *fallback; ///< JSON of what is taken where the field is absent; "" leaves the struct as it is; kRequired
  const char *meaning;

  bool required() const { return std::string_view(fallback) == kRequired; }
};

/// One loss, optimizer or schedule: an object whose `name` says which fields it has.
template <typename T, typename Enum> struct Kind {
  const char *name;
  Enum kind;
  std::vector<Field<T>> fields;
  const char *meaning;
};

/// A group as it is written: its rate as a number or as a share of the optimizer's.
struct GroupFields {
  std::vector<std::string> match;
  std::optional<double> lr, lrScale, weightDecay;
};
/// Fields of the objects `batch_norm` and `eval`, which have no struct of their own.
struct Section {
  const char *name;
  std::vector<Field<TrainConfig>> fields;
  const char *meaning;
};

const std::vector<Field<TrainConfig>> &configFields();
const std::vector<Section> &configSections();
const std::vector<Field<GroupFields>> &groupFields();
const std::vector<Kind<LossConfig, LossKind>> &lossKinds();
const std::vector<Kind<OptimizerConfig, OptimizerKind>> &optimizerKinds();
const std::vector<Kind<ScheduleConfig, ScheduleKind>> &scheduleKinds();

/// "an integer of at least 1", "a list of numbers, each from 0 to 1": of a field, for help; for errors with every
/// bound, those too that are only there because numbers end ("an integer from 1 to 9007199254740992").
template <typename T> std::string describeType(const Field<T> &field, bool everyBound = false);
extern template std::string describeType(const Field<TrainConfig> &, bool);
extern template std::string describeType(const Field<GroupFields> &, bool);
extern template std::string describeType(const Field<LossConfig> &, bool);
extern template std::string describeType(const Field<OptimizerConfig> &, bool);
extern template std::string describeType(const Field<ScheduleConfig> &, bool);

} // namespace sprig::training
