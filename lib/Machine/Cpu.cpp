#include "lib/Machine/Cpu.h"
#include "runtime/machine/Machine.h"
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;
namespace sprig::machine {
namespace {

std::string firstLine(const fs::path &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t number(const fs::path &path, int64_t otherwise = 0) {
  std::istringstream text(firstLine(path));
  int64_t value;
  return text >> value ? value : otherwise;
}

// "48K", "1024K", "32M"
int64_t cacheSize(const std::string &text) {
  int64_t value = std::atoll(text.c_str());
  if (text.ends_with("K")) return value << 10;
  if (text.ends_with("M")) return value << 20;
  return value;
}

void readTopology(Cpu &cpu) {
  std::set<std::pair<int64_t, int64_t>> cores;
  std::set<int64_t> sockets;
  std::map<std::pair<int, std::string>, std::set<std::string>> instances;
  std::map<std::pair<int, std::string>, Cache> caches;
  std::error_code error;
  for (auto &entry : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    std::string name = entry.path().filename();
    if (!name.starts_with("cpu") || name.size() < 4 || !std::isdigit(static_cast<unsigned char>(name[3]))) continue;
    fs::path topology = entry.path() / "topology";
    if (!fs::exists(topology, error)) continue; // offline
    ++cpu.logical;
    int64_t socket = number(topology / "physical_package_id");
    sockets.insert(socket);
    cores.insert({socket, number(topology / "core_id")});
    for (auto &index : fs::directory_iterator(entry.path() / "cache", error)) {
      if (!index.path().filename().string().starts_with("index")) continue;
      Cache cache;
      cache.level = int(number(index.path() / "level"));
      cache.type = firstLine(index.path() / "type");
      std::transform(cache.type.begin(), cache.type.end(), cache.type.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      cache.bytes = cacheSize(firstLine(index.path() / "size"));
      cache.lineBytes = number(index.path() / "coherency_line_size", 64);
      auto key = std::pair(cache.level, cache.type);
      instances[key].insert(firstLine(index.path() / "shared_cpu_list"));
      caches[key] = cache;
    }
  }
  for (auto &[key, cache] : caches) {
    cache.instances = int(instances[key].size());
    cpu.caches.push_back(cache);
  }
  cpu.logical = std::max(cpu.logical, 1);
  cpu.physical = std::max(int(cores.size()), 1);
  cpu.sockets = std::max(int(sockets.size()), 1);
}

} // namespace

std::string bestIsa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
  return "x86-64";
}

const std::vector<std::string> &packagedCpus() {
  static const auto &all =
      *new std::vector<std::string>{"x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16", "x86-64-v4-amx"};
  return all;
}

const Cache *Cpu::cache(int level) const {
  for (const Cache &cache : caches)
    if (cache.level == level && cache.type != "instruction") return &cache;
  return nullptr;
}

Cpu readCpu() {
  Cpu cpu;
  readTopology(cpu);
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string value = line.substr(colon + 2);
    if (line.starts_with("model name") && cpu.model.empty()) cpu.model = value;
    if (line.starts_with("flags") && cpu.features.empty()) {
      std::istringstream words(value);
      for (std::string word; words >> word;)
        if (word.starts_with("avx") || word.starts_with("sse4") || word == "fma" || word == "f16c" ||
            word.starts_with("amx"))
          cpu.features.push_back(word);
    }
  }
  cpu.isa = bestIsa();
  cpu_set_t affinity;
  double affine = sched_getaffinity(0, sizeof affinity, &affinity) == 0 ? CPU_COUNT(&affinity) : cpu.logical;
  double quota = rt::core::processorQuota();
  cpu.usable = quota > 0 ? std::min(affine, quota) : affine;
  cpu.memoryBytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return cpu;
}

} // namespace sprig::machine
