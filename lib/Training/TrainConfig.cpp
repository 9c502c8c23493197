#include "lib/Training/TrainConfig.h"
#include "lib/Training/ConfigSchema.h"

namespace sprig::training {
namespace {

template <typename Kinds, typename Enum> const char *nameIn(const Kinds &kinds, Enum kind) {
  for (auto &row : kinds)
    if (row.kind == kind) return row.name;
  return "";
}

} // namespace

const char *name(LossKind kind) { return nameIn(lossKinds(), kind); }
const char *name(OptimizerKind kind) { return nameIn(optimizerKinds(), kind); }
const char *name(ScheduleKind kind) { return nameIn(scheduleKinds(), kind); }
const char *name(Reduction reduction) {
  return reduction == Reduction::mean ? "mean" : reduction == Reduction::sum ? "sum" : "batch_mean";
}

bool hasTotal(ScheduleKind kind) {
  return kind == ScheduleKind::linear || kind == ScheduleKind::cosine || kind == ScheduleKind::warmupCosine ||
         kind == ScheduleKind::oneCycle;
}

bool matches(const std::string &pattern, const std::string &text) {
  // Goes back to the last star only: a longer match of an earlier one cannot help.
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    // A star is one first, so that a name with a star in it matches its own pattern all the same.
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == text[t] || pattern[p] == '?')) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

} // namespace sprig::training
