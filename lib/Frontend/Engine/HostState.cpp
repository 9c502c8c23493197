#include "lib/Frontend/Engine/HostState.h"
#include "lib/Frontend/Engine/Trace.h"
#include <algorithm>
#include <atomic>

namespace sprig::frontend {

static uint64_t readFlag(const void *source) { return *static_cast<const bool *>(source); }
static std::string textOfTrainable(const void *source) { return readFlag(source) ? "trainable" : "frozen"; }
const HostSetting kTrainable = {readFlag, textOfTrainable, /*forGradients=*/false};
const HostSetting kTrainableInUse = {readFlag, textOfTrainable, /*forGradients=*/true};

const HostSetting kTrainingMode = {readFlag, [](const void *source) {
                                     return std::string(readFlag(source) ? "in training mode" : "in evaluation mode");
                                   }};

void HostState::observe(const HostSetting &setting, const std::shared_ptr<const void> &source,
                        const std::string &owner) {
  for (const Written &each : written)
    if (each.effect.flag == source) return; // it reads what it has set
  for (const Observation &each : read)
    if (each.setting == &setting && each.source == source) return;
  read.push_back({&setting, source, setting.read(source.get()), setting.text(source.get()), owner});
}

void HostState::set(const std::shared_ptr<bool> &flag, bool on, const Parameter &frozen) {
  auto known = std::find_if(written.begin(), written.end(), [&](const Written &w) { return w.effect.flag == flag; });
  if (known == written.end()) known = written.insert(written.end(), {{flag, on, frozen}, *flag});
  known->effect.value = *flag = on;
}

std::vector<Observation> HostState::observations(bool takesGradients) const {
  std::vector<Observation> result;
  for (const Observation &each : read)
    if (takesGradients || !each.setting->forGradients) result.push_back(each);
  return result;
}

std::vector<SwitchEffect> HostState::effects() const {
  std::vector<SwitchEffect> result;
  for (const Written &each : written) result.push_back(each.effect);
  return result;
}

void HostState::restore() {
  for (const Written &each : written) *each.effect.flag = each.before;
}

bool isRecording() { return Trace::currentFunction(); }

void observe(const HostSetting &setting, std::shared_ptr<const void> source, const std::string &owner) {
  if (Trace *trace = Trace::currentFunction()) trace->host.observe(setting, source, owner);
}

void setSwitch(const std::shared_ptr<bool> &flag, bool on) {
  if (Trace *trace = Trace::currentFunction())
    trace->host.set(flag, on, {});
  else
    *flag = on;
}

static std::atomic<uint64_t> replacementCount{0};
void noteReplacement() { replacementCount.fetch_add(1, std::memory_order_relaxed); }
uint64_t replacements() { return replacementCount.load(std::memory_order_relaxed); }

void requireNotRecording(const char *what, Source at) {
  if (Trace::current())
    fail(at, what,
         "is called while a function is being recorded, so it would happen then and at no call of it; call "
         "it outside of the function");
}

} // namespace sprig::frontend
