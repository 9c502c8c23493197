#include "runtime/machine/Machine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sprig::rt::core {

// Version 2 has both numbers in one file of a group, version 1 each in its own; "max" and -1 are none.
static double quotaOf(const std::string &group, bool version2) {
  std::ifstream first(group + (version2 ? "/cpu.max" : "/cpu.cfs_quota_us")), second(group + "/cpu.cfs_period_us");
  int64_t quota = 0, period = 0;
  if (!(first >> quota) || !((version2 ? first : second) >> period)) return 0;
  return quota > 0 && period > 0 ? double(quota) / double(period) : 0;
}

// The folders of this process's groups for a controller, from its own up to the root, and whether they are version 2's.
static void forCgroups(const std::string &controller,
                       const std::function<void(const std::string &folder, bool version2)> &take) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    bool version2 = controllers.empty();
    if (!version2 && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    std::string root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    for (;;) {
      take(root + path, version2);
      if (path.empty()) break;
      path = path.substr(0, path.find_last_of('/'));
    }
  }
}

double processorQuota() {
  double least = 0;
  forCgroups("cpu", [&](const std::string &folder, bool version2) {
    double quota = quotaOf(folder, version2);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  });
  return least;
}

// Ranks that `sprig launch` has started on this machine, and whether each is bound to processors of its own.
static int launchedRanks(bool &areBound) {
  const char *local = std::getenv("SPRIG_LAUNCHED") ? std::getenv("LOCAL_WORLD_SIZE") : nullptr;
  const char *bound = local ? std::getenv("SPRIG_LAUNCH_BIND") : nullptr;
  areBound = bound && std::string_view(bound) == "cores";
  return std::max(1, local ? std::atoi(local) : 1);
}

bool sharesProcessors() {
  bool areBound = false;
  return launchedRanks(areBound) > 1 && !areBound;
}

int defaultThreads() {
  static const int threads = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : int(sysconf(_SC_NPROCESSORS_ONLN));
    double granted = processorQuota();
    int quota = granted > 0 ? int(std::ceil(granted)) : affinity;
    // Ranks have a share each; who is bound to cores has those.
    bool areBound = false;
    int ranks = launchedRanks(areBound);
    if (areBound) return std::max(1, std::min(quota / ranks, affinity));
    return std::max(1, std::min(quota, affinity) / ranks);
  }();
  return threads;
}

int currentCpu() { return sched_getcpu(); }

bool hasIdleCpu() {
  // Three averages, "running/all" threads, the last process.
  int file = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[128];
  ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  long running = 0;
  return std::sscanf(text, "%*s %*s %*s %ld/", &running) == 1 && running <= sysconf(_SC_NPROCESSORS_ONLN);
}

bool leaveCpu(int cpu, int threads) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return false;
  if (CPU_COUNT(&usable) < std::max(threads, 2) || cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &usable))
    return false;
  cpu_set_t others = usable;
  CPU_CLR(cpu, &others);
  if (sched_setaffinity(0, sizeof others, &others) != 0) return false;
  return sched_setaffinity(0, sizeof usable, &usable) == 0;
}

bool mayUseTiles() {
#if defined(__x86_64__)
  // ARCH_REQ_XCOMP_PERM of <asm/prctl.h>, and the component of XCR0 that the tiles' data are.
  constexpr int kRequestPermission = 0x1023;
  constexpr unsigned long kTileData = 18;
  static const bool may = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return may;
#else
  return false;
#endif
}

uint64_t physicalMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : 0;
}

uint64_t usableMemory() {
  uint64_t least = physicalMemory() ? physicalMemory() : UINT64_MAX;
  for (auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    struct rlimit limit;
    if (::getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      least = std::min(least, uint64_t(limit.rlim_cur));
  }
  forCgroups("memory", [&](const std::string &folder, bool version2) {
    std::ifstream file(folder + (version2 ? "/memory.max" : "/memory.limit_in_bytes"));
    uint64_t bytes = 0;
    if (file >> bytes) least = std::min(least, bytes); // "max" is no number
  });
  return least;
}

static uint64_t parseSize(const std::string &text) {
  char *end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

static void readCaches(CpuInfo &info) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream levelFile(folder + "level"), typeFile(folder + "type"), sizeFile(folder + "size");
    int level = 0;
    std::string type, size;
    if (!(levelFile >> level) || !(typeFile >> type) || !(sizeFile >> size)) break;
    uint64_t bytes = parseSize(size);
    if (level == 1)
      (type == "Instruction" ? info.l1i : info.l1d) = bytes;
    else if (level == 2)
      info.l2 = bytes;
    else if (level == 3)
      info.l3 = bytes;
  }
}

const CpuInfo &cpuInfo() {
  static const CpuInfo &info = *[] {
    auto *made = new CpuInfo; // asked in static destructors, too
    CpuInfo &result = *made;
    result.cpus = std::max(1, int(sysconf(_SC_NPROCESSORS_ONLN)));
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.rfind("model name", 0) == 0) {
        size_t start = line.find(": ");
        result.name = start == std::string::npos ? "" : line.substr(start + 2);
        break;
      }
    readCaches(result);
    return made;
  }();
  return info;
}

} // namespace sprig::rt::core
