#include "lib/Frontend/Trainer/StepCalls.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

static_assert(kMostRepetitions == 256, "StepCalls::kSizes says so");

bool StepCalls::canBe(int64_t together) { return together >= 1 && together <= kMostRepetitions; }

StepCalls::StepCalls(const TrainingPrograms &programs, int64_t together, const data::Loader &train, Taken taken,
                     Source at)
    : programs(programs), together(size_t(together)), taken(std::move(taken)) {
  if (together == 1) return;
  const std::string what = "stepsPerCall is " + std::to_string(together) + ", and ";
  const int64_t batch = train.options().batch, whole = train.dataset().size() / batch;
  if (whole < together) fail(at, "Trainer", what + "an epoch has " + std::to_string(whole) + " whole batches");
  if (!programs.isEnough(batch))
    fail(at, "Trainer", what + "a batch of " + std::to_string(batch) + " samples leaves ranks without any");
}

void StepCalls::add(const data::Batch &batch) {
  if (!waiting.empty() && waiting[0].samplesOfRanks() != batch.samplesOfRanks()) askSingly();
  waiting.push_back(batch);
  if (waiting.size() < together) return;
  // Without a sample a rank is at other commands than the others.
  if (together == 1 || !programs.isEnough(batch.samplesOfRanks())) return askSingly();
  std::vector<std::pair<Tensor, Tensor>> results = programs.steps(waiting);
  for (size_t i = 0; i < waiting.size(); ++i) taken(waiting[i], std::move(results[i]));
  waiting.clear();
}

void StepCalls::askSingly() {
  for (const data::Batch &each : waiting) taken(each, programs.step(each));
  waiting.clear();
}

} // namespace sprig::frontend
