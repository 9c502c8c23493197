#include "lib/Machine/CoreShares.h"
#include "include/sprig/error.h"
#include "runtime/collective/Collective.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <tuple>

namespace sprig::machine {
namespace {

// Where the system says nothing of a processor, it is a core of its own.
int numberIn(const std::string &path, int otherwise) {
  std::ifstream file(path);
  int number = 0;
  return file >> number && number >= 0 ? number : otherwise;
}

} // namespace

std::vector<Processor> usableProcessors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0)
    throw Error(ErrorKind::runtime,
                "the system does not say which processors may be used: " + std::string(std::strerror(errno)));
  std::vector<Processor> processors;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &usable)) continue;
    std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
    processors.push_back(
        {number, numberIn(topology + "physical_package_id", 0), numberIn(topology + "core_id", number)});
  }
  return processors;
}

std::vector<cpu_set_t> coreShares(std::vector<Processor> processors, int processes) {
  if (processes < 1 || processors.size() < size_t(processes)) return {};
  auto place = [](const Processor &each) { return std::tuple(each.package, each.core, each.number); };
  std::sort(processors.begin(), processors.end(), [&](auto &a, auto &b) { return place(a) < place(b); });
  std::vector<size_t> cores, threads; // where each begins
  for (size_t i = 0; i < processors.size(); ++i) {
    threads.push_back(i);
    if (i == 0 || processors[i - 1].package != processors[i].package || processors[i - 1].core != processors[i].core)
      cores.push_back(i);
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
