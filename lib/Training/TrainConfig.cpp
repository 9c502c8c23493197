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

} // namespace sprig::training
