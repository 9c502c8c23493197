#include "tools/sprig/profile/ProfileMemory.h"
#include "tools/sprig/inspect/PackageReport.h"
#include "tools/sprig/profile/StateRoles.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <map>

namespace sprig::cli {
namespace {

constexpr size_t kMostNames = 5;

constexpr const char *kStateClasses[] = {"optimizer", "averages", "counters", "cache"};

/// Where the bytes of a state count.
const char *className(StateRole role) {
  switch (role) {
  case StateRole::optimizer: return "optimizer";
  case StateRole::average: return "averages";
  case StateRole::counter: return "counters";
  case StateRole::cache: return "cache";
  default: return "weights";
  }
}

void keepLargest(std::vector<MemoryUse::Item> &items) {
  std::stable_sort(items.begin(), items.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
  if (items.size() > kMostNames) items.resize(kMostNames);
}

std::vector<std::string> commandNames(const Runner &runner, uint32_t entry, uint32_t lanes) {
  std::vector<std::string> names;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t count = 0;
    check(sprig_rt_package_lane(runner.package(), entry, lane, &count));
    for (uint32_t i = 0; i < count; ++i) {
      sprig_rt_command_info info;
      check(sprig_rt_package_command(runner.package(), entry, lane, i, &info));
      names.push_back(info.name);
    }
  }
  return names;
}

// The command with the most bytes in use, and what they are. Buffers that share bytes count once.
void findPeak(const MemoryPlan &plan, const std::vector<std::string> &commands, MemoryUse &use) {
  for (size_t at = 0; at < plan.commandCount; ++at) {
    std::vector<const ArenaBuffer *> live;
    for (const ArenaBuffer &buffer : plan.buffers)
      if (buffer.firstCommand <= at && at <= buffer.lastCommand) live.push_back(&buffer);
    std::sort(live.begin(), live.end(), [](auto *a, auto *b) { return a->offset < b->offset; });
    uint64_t bytes = 0, end = 0;
    for (const ArenaBuffer *buffer : live) {
      uint64_t to = buffer->offset + buffer->size;
      if (to > end) bytes += to - std::max(buffer->offset, end);
      end = std::max(end, to);
    }
    if (bytes <= use.peakActivations) continue;
    use.peakActivations = bytes;
    use.peakAt = at < commands.size() ? commands[at] : "";
    use.largestAtPeak.clear();
    for (const ArenaBuffer *buffer : live) use.largestAtPeak.push_back({buffer->name, buffer->size});
  }
  keepLargest(use.largestAtPeak);
}

} // namespace

MemoryUse memoryUse(const Runner &runner, uint32_t entry) {
  sprig_rt_package_info package;
  sprig_rt_package_describe(runner.package(), &package);
  sprig_rt_entry_info info = runner.entryInfo(entry);
  MemoryUse use;
  uint64_t scratch = 0;
  // The values that states start with are no part of a run: it has copies of them.
  std::map<std::string, uint64_t> held;
  for (const ConstantInfo &constant : constantsRead(runner)) {
    held["weights"] += constant.bytes;
    use.largestWeights.push_back({constant.name, constant.bytes});
  }
  for (const StateInfo &state : statesOf(runner)) {
    held[className(state.role)] += state.bytes;
    if (className(state.role) == std::string("weights")) use.largestWeights.push_back({state.spec.name, state.bytes});
  }
  for (uint32_t i = 0; i < package.kernel_count; ++i) {
    sprig_rt_kernel_info kernel;
    check(sprig_rt_package_kernel(runner.package(), i, &kernel));
    scratch = std::max(scratch, kernel.scratch_bytes * uint64_t(runner.threads()));
  }
  auto bytesOf = [](const std::vector<TensorSpec> &specs) {
    uint64_t bytes = 0;
    for (const TensorSpec &spec : specs) bytes += uint64_t(data::byteSize(spec.dtype, spec.shape).value_or(0));
    return bytes;
  };
  use.classes = {{"weights", held["weights"]}};
  for (const char *name : kStateClasses)
    if (held.count(name)) use.classes.push_back({name, held[name]});
  use.classes.push_back({"activations", info.arena_bytes});
  use.classes.push_back({"workspace", scratch});
  use.classes.push_back({"inputs", bytesOf(runner.inputs(entry))});
  use.classes.push_back({"outputs", bytesOf(runner.outputs(entry))});
  findPeak(memoryPlan(runner, entry), commandNames(runner, entry, info.lane_count), use);
  keepLargest(use.largestWeights);
  use.processPeak = peakMemory();
  return use;
}

void printMemoryUse(const MemoryUse &use) {
  uint64_t total = 0;
  for (auto &item : use.classes) total += item.bytes;
  std::cout << '\n';
  Table table({"memory", "bytes", "share %"});
  for (auto &item : use.classes)
    table.add({item.name, formatBytes(double(item.bytes)),
               formatDouble(total ? 100.0 * double(item.bytes) / double(total) : 0, 3)});
  table.add({"all", formatBytes(double(total)), "100"});
  table.print();
  auto list = [](const char *what, const std::vector<MemoryUse::Item> &items) {
    if (items.empty()) return;
    std::cout << what;
    for (size_t i = 0; i < items.size(); ++i)
      std::cout << (i ? ", " : "") << (items[i].name.empty() ? "(unnamed)" : items[i].name) << ' '
                << formatBytes(double(items[i].bytes));
    std::cout << '\n';
  };
  if (use.peakActivations)
    std::cout << "most activations in use at once: " << formatBytes(double(use.peakActivations)) << ", during '"
              << use.peakAt << "'\n";
  list("  the largest then: ", use.largestAtPeak);
  list("the largest weights: ", use.largestWeights);
  std::cout << "this process had " << formatBytes(double(use.processPeak))
            << " resident at most, the compiler included\n";
}

Json toJson(const MemoryUse &use) {
  auto list = [](const std::vector<MemoryUse::Item> &items) {
    Json json = Json::array();
    for (auto &item : items) json.push_back({{"name", item.name}, {"bytes", item.bytes}});
    return json;
  };
  return {{"classes", list(use.classes)},
          {"peak_activation_bytes", use.peakActivations},
          {"peak_at", use.peakAt},
          {"largest_at_peak", list(use.largestAtPeak)},
          {"largest_weights", list(use.largestWeights)},
          {"process_peak_bytes", use.processPeak}};
}

} // namespace sprig::cli
