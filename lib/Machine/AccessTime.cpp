#include "lib/Machine/AccessTime.h"
#include <algorithm>

namespace sprig::machine {
namespace {

constexpr double kLine = 64, kPage = 4096, kPagesRemembered = 1024;
// From there on a place is a stream of its own, which the processor reads ahead.
constexpr double kLinesOfPlace = 32;
// The address of a page, which a near cache has, takes this share of the memory's latency.
constexpr double kShareOfAddress = 1.0 / 32;

} // namespace

double accessSeconds(const MachineModel &model, const Accesses &accesses, double workingSet, int threads) {
  double cached = 0, count = std::max(threads, 1), waits = 0;
  for (const MemoryLevel &level : {model.l1(), model.l2(), model.l3()})
    cached = std::max(cached, double(level.bytes) * (level.shared ? 1 : count));
  bool misses = workingSet > cached;
  if (model.lanesShareDevice())
    return misses ? accesses.count * model.memoryLatency / (kMissesOfMultiprocessor * double(model.multiprocessors))
                  : 0;
  if (misses) waits = std::min(accesses.bytes / kLine, accesses.count * kLinesOfPlace) / kMissesInFlight;
  double pages = std::min(accesses.spread / kPage, accesses.count);
  if (pages > kPagesRemembered) waits += kShareOfAddress * (1 - kPagesRemembered / pages) * accesses.count;
  return waits * model.memoryLatency / count;
}

} // namespace sprig::machine
