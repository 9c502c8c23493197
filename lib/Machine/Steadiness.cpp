#include "lib/Machine/Steadiness.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace sprig::machine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::optional<ProcessorTicks> ticksNow() {
  std::ifstream file("/proc/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return processorTicks(line);
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

} // namespace

double processSeconds() {
  struct rusage usage;
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  auto seconds = [](const timeval &time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool Steadiness::isSteadierThan(const Steadiness &other) const {
  bool repeats = sweeps > 1, othersRepeat = other.sweeps > 1;
  if (repeats != othersRepeat) return repeats;
  auto unsteadiness = [](const Steadiness &of) {
    return std::max(of.spread / kMostSpread, (of.othersShare + of.stolenShare) / kMostOthers);
  };
  return unsteadiness(*this) < unsteadiness(other);
}

std::string Steadiness::describe() const {
  std::string text;
  if (!furthest.empty())
    text = "the best two of " + std::to_string(sweeps) + " sweeps agree within " + percent(spread) + " (" + furthest +
           "); ";
  return text + "other programs had " + percent(othersShare) + " of the processors, " + percent(stolenShare) +
         " was stolen by other machines";
}

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests count among user and nice.
std::optional<ProcessorTicks> processorTicks(std::string_view procStat) {
  std::istringstream words{std::string(procStat.substr(0, procStat.find('\n')))};
  std::string name;
  uint64_t count[8] = {};
  words >> name;
  if (name != "cpu") return std::nullopt;
  for (uint64_t &each : count)
    if (!(words >> each)) return std::nullopt;
  auto [user, nice, system, idle, wait, irq, softIrq, steal] = count;
  ProcessorTicks ticks{user + nice + system + irq + softIrq, steal, 0};
  ticks.all = ticks.busy + ticks.stolen + idle + wait;
  return ticks;
}

ProcessorWatch::ProcessorWatch() : ticks(ticksNow()), ownSeconds(processSeconds()), began(now()) {}

void ProcessorWatch::read(Steadiness &steadiness) const {
  steadiness.seconds = now() - began;
  std::optional<ProcessorTicks> last = ticksNow();
  if (!ticks || !last || last->all <= ticks->all) return;
  double all = double(last->all - ticks->all);
  double own = (processSeconds() - ownSeconds) * double(::sysconf(_SC_CLK_TCK));
  steadiness.othersShare = std::clamp((double(last->busy - ticks->busy) - own) / all, 0.0, 1.0);
  steadiness.stolenShare = std::clamp(double(last->stolen - ticks->stolen) / all, 0.0, 1.0);
}

} // namespace sprig::machine
