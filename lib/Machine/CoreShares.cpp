#include "lib/Machine/CoreShares.h"
#include "runtime/collective/Collective.h"
#include <algorithm>

namespace sprig::machine {

std::vector<cpu_set_t> coreShares(std::vector<Processor> processors, int processes) {
  if (processes < 1 || processors.size() < size_t(processes)) return {};
  std::sort(processors.begin(), processors.end());
  std::vector<size_t> cores, threads; // where each begins
  for (size_t i = 0; i < processors.size(); ++i) {
    threads.push_back(i);
    if (i == 0 || !processors[i].isOfCoreOf(processors[i - 1])) cores.push_back(i);
  }
  std::vector<size_t> &parts = cores.size() < size_t(processes) ? threads : cores;
  auto count = int64_t(parts.size());
  parts.push_back(processors.size());
  std::vector<cpu_set_t> shares{size_t(processes)};
  for (int process = 0; process < processes; ++process) {
    auto own = rt::collective::pieceOf(count, uint32_t(processes), uint32_t(process));
    CPU_ZERO(&shares[size_t(process)]);
    for (size_t i = parts[size_t(own.begin)]; i < parts[size_t(own.end)]; ++i)
      CPU_SET(processors[i].number, &shares[size_t(process)]);
  }
  return shares;
}

} // namespace sprig::machine
