#include "tools/sprig/inspect/PackageReport.h"
#include "lib/Lengths/Length.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/profile/StateRoles.h"
#include "tools/sprig/run/Runner.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <map>

namespace sprig::cli {
namespace {

sprig_rt_package_info describe(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  return info;
}

std::vector<sprig_rt_command_info> commands(const Runner &runner, size_t entry) {
  std::vector<sprig_rt_command_info> all;
  for (uint32_t lane = 0; lane < runner.entryInfo(entry).lane_count; ++lane) {
    uint32_t count = 0;
    check(sprig_rt_package_lane(runner.package(), uint32_t(entry), lane, &count));
    for (uint32_t i = 0; i < count; ++i) {
      sprig_rt_command_info info;
      check(sprig_rt_package_command(runner.package(), uint32_t(entry), lane, i, &info));
      all.push_back(info);
    }
  }
  return all;
}

/// Parameters, optimizer state, counters: what runs of a package may update.
Json statesJson(const Runner &runner) {
  Json list = Json::array();
  for (const StateInfo &state : statesOf(runner)) {
    list.push_back({{"name", state.spec.name},
                    {"dtype", data::name(state.spec.dtype)},
                    {"shape", state.spec.shape},
                    {"bytes", state.bytes},
                    {"role", roleName(state.role)}});
    if (!state.whole.empty()) list.back()["piece_of"] = state.whole;
  }
  return list;
}

std::string stateText(const StateInfo &state) {
  std::string text = data::describe(state.spec.dtype, state.spec.shape);
  return state.whole.empty() ? text : text + ", a piece of " + data::describe(state.spec.dtype, state.whole);
}

Json constantsJson(const Runner &runner) {
  Json list = Json::array();
  for (const ConstantInfo &constant : constantsRead(runner))
    list.push_back({{"name", constant.name}, {"bytes", constant.bytes}});
  return list;
}

std::string tensorText(const TensorSpec &spec) { return spec.name + ": " + data::describe(spec.dtype, spec.shape); }

/// Of a rank's piece, where it lies: ", from 2,0 on of 5x6xf32".
std::string pieceText(const rt::core::TensorType &type) {
  if (type.piece.empty()) return "";
  std::string first;
  for (int64_t place : type.first()) first += (first.empty() ? "" : ",") + std::to_string(place);
  return ", from " + first + " on of " +
         data::describe(data::DType(type.dtype), {type.whole().begin(), type.whole().end()});
}

/// Of one that grows with its entry's axis t: ", dimension 1 of t + 1, ...".
std::string growthText(const rt::core::TensorType &type) {
  std::string text;
  for (const rt::core::GrowingDim &each : type.growing)
    text += ", dimension " + std::to_string(each.dim) + " of " + Length{each.multiple, each.add, each.divisor}.text();
  return text;
}

/// Null where all shapes are fixed.
Json lengthsJson(const Runner &runner, size_t entry) {
  const auto &lengths = runner.package()->package->program().entries[entry].lengths;
  if (!lengths) return nullptr;
  return {{"axis", lengths->axis}, {"first", lengths->first}, {"last", lengths->last}};
}

Json tensorJson(const std::vector<TensorSpec> &specs) {
  Json list = Json::array();
  for (auto &spec : specs)
    list.push_back({{"name", spec.name}, {"dtype", data::name(spec.dtype)}, {"shape", spec.shape}});
  return list;
}

} // namespace

MemoryPlan memoryPlan(const Runner &runner, size_t entry) {
  sprig_rt_entry_info info = runner.entryInfo(entry);
  MemoryPlan plan;
  plan.entry = info.name;
  plan.arenaBytes = info.arena_bytes;
  auto all = commands(runner, entry);
  plan.commandCount = all.size();
  std::map<uint32_t, ArenaBuffer> used;
  for (size_t at = 0; at < all.size(); ++at)
    for (uint32_t i = 0; i < all[at].buffer_count; ++i) {
      uint32_t index = all[at].buffers[i];
      sprig_rt_buffer_info buffer;
      check(sprig_rt_package_buffer(runner.package(), uint32_t(entry), index, &buffer));
      if (std::string(buffer.kind) != "arena") continue;
      auto [found, isNew] = used.try_emplace(index, ArenaBuffer{buffer.name, buffer.offset, buffer.size, at, at});
      found->second.lastCommand = at;
    }
  for (auto &[index, buffer] : used) plan.buffers.push_back(buffer);
  plan.lowerBound = mostInUse(plan);
  return plan;
}

MemoryNeeds memoryNeeds(const Runner &runner, const Settings &settings) {
  MemoryNeeds needs;
  int threads = needs.threads = settings.laneCount() ? settings.laneCount() : sprig_rt_default_threads();
  std::vector<std::string> devices = devicesFor(runner, settings);
  needs.runtime.size = sizeof needs.runtime;
  check(sprig_rt_package_memory(runner.package(), threads, &needs.runtime));
  for (size_t entry = 0; entry < runner.entryCount(); ++entry) {
    needs.entries.push_back(memoryPlan(runner, entry));
    needs.copies.emplace_back(needs.entries.back().entry, copiesOf(runner, entry, devices));
    uint64_t arrays = 0;
    for (auto &list : {runner.inputs(entry), runner.outputs(entry)})
      for (const TensorSpec &spec : list) arrays += data::byteSize(spec.dtype, spec.shape).value_or(0);
    needs.arrays = std::max(needs.arrays, arrays);
  }
  return needs;
}

uint64_t bytesBesideSections(const Runner &runner) {
  sprig_rt_package_info info = describe(runner);
  uint64_t bytes = info.file_bytes;
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    bytes -= section.size;
  }
  return bytes;
}

Json packageToJson(const Runner &runner) {
  auto info = describe(runner);
  Json json = {{"producer", info.producer},
               {"format", std::to_string(info.format_major) + "." + std::to_string(info.format_minor)},
               {"bytes", info.file_bytes},
               {"devices", devicesOf(runner)}};
  Json entries = Json::array(), sections = Json::array(), images = Json::array(), kernels = Json::array(),
       facts = Json::object();
  for (size_t i = 0; i < info.entry_count; ++i) {
    auto entry = runner.entryInfo(i);
    MemoryPlan plan = memoryPlan(runner, i);
    Json list = Json::array();
    for (auto &command : commands(runner, i))
      list.push_back({{"name", command.name},
                      {"kernel", command.kernel},
                      {"tiles", command.tiles},
                      {"flops", command.flops},
                      {"bytes", command.bytes}});
    entries.push_back({{"name", entry.name},
                       {"inputs", tensorJson(runner.inputs(i))},
                       {"outputs", tensorJson(runner.outputs(i))},
                       {"independent_samples", entry.independent_samples != 0},
                       {"lengths", lengthsJson(runner, i)},
                       {"ranks", runner.ranks(i).ranks},
                       {"rank", runner.ranks(i).rank},
                       {"mesh", meshText(runner, i)},
                       {"flops", entry.flops},
                       {"bytes", entry.bytes},
                       {"arena_bytes", entry.arena_bytes},
                       {"arena_lower_bound", plan.lowerBound},
                       {"commands", list}});
  }
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    sections.push_back({{"kind", section.kind}, {"offset", section.offset}, {"bytes", section.size}});
  }
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    images.push_back({{"isa", image.isa}, {"features", image.features}, {"code_bytes", image.code_bytes}});
  }
  for (uint32_t i = 0; i < info.kernel_count; ++i) {
    sprig_rt_kernel_info kernel;
    check(sprig_rt_package_kernel(runner.package(), i, &kernel));
    kernels.push_back(
        {{"name", kernel.name}, {"scratch_bytes", kernel.scratch_bytes}, {"code_bytes", kernel.code_bytes}});
  }
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key, *value;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    facts[key] = value;
  }
  json.update({{"entries", entries},
               {"states", statesJson(runner)},
               {"constants", constantsJson(runner)},
               {"sections", sections},
               {"bytes_beside_sections", bytesBesideSections(runner)},
               {"images", images},
               {"kernels", kernels},
               {"facts", facts}});
  return json;
}

void printPackageParameters(const Runner &runner) {
  Table table({"parameter", "type", "bytes", "role"});
  std::map<StateRole, uint64_t> sums;
  uint64_t all = 0;
  for (const StateInfo &state : statesOf(runner)) {
    table.add({state.spec.name, stateText(state), formatBytes(double(state.bytes)), roleName(state.role)});
    sums[state.role] += state.bytes;
    all += state.bytes;
  }
  uint64_t constants = 0;
  for (const ConstantInfo &constant : constantsRead(runner)) {
    table.add({constant.name, "-", formatBytes(double(constant.bytes)), "constant"});
    constants += constant.bytes;
  }
  for (auto &[role, bytes] : sums) table.add({"total", "", formatBytes(double(bytes)), roleName(role)});
  if (constants) table.add({"total", "", formatBytes(double(constants)), "constant"});
  table.add({"total", "", formatBytes(double(all + constants)), "all"});
  table.print();
}

void printPackage(const Runner &runner) {
  auto info = describe(runner);
  std::cout << "package of " << info.producer << ", format " << info.format_major << '.' << info.format_minor << ", "
            << formatBytes(double(info.file_bytes)) << '\n';
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key, *value;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    std::cout << "  " << key << ": " << value << '\n';
  }
  std::string devices;
  for (const std::string &name : devicesOf(runner)) devices += (devices.empty() ? "" : ", ") + name;
  std::cout << "  devices: " << devices << '\n';
  for (size_t i = 0; i < info.entry_count; ++i) {
    auto entry = runner.entryInfo(i);
    std::cout << "\nentry '" << entry.name << "'" << (entry.independent_samples ? ", samples are independent" : "");
    const rt::core::Entry &own = runner.package()->package->program().entries[i];
    if (own.lengths)
      std::cout << ", for " << own.lengths->first << " to " << own.lengths->last << " of '" << own.lengths->axis << "'";
    if (sprig_rt_ranks_info ranks = runner.ranks(i); ranks.ranks > 1) {
      std::cout << ", of " << ranks.ranks << " ranks";
      if (ranks.samples) std::cout << " with " << ranks.samples << " samples";
      if (ranks.rank >= 0) std::cout << ", the program of rank " << ranks.rank;
      if (std::string mesh = meshText(runner, i); !mesh.empty()) std::cout << " of the mesh " << mesh;
    }
    std::cout << '\n';
    auto print = [](const char *what, const std::vector<TensorSpec> &specs,
                    const std::vector<rt::core::TensorType> &types) {
      for (size_t k = 0; k < specs.size(); ++k)
        std::cout << what << tensorText(specs[k]) << growthText(types[k]) << pieceText(types[k]) << '\n';
    };
    print("  input   ", runner.inputs(i), own.inputs);
    print("  output  ", runner.outputs(i), own.outputs);
    std::cout << "  " << formatCount(double(entry.flops), "FLOP") << ", " << formatBytes(double(entry.bytes))
              << " moved, arena " << formatBytes(double(entry.arena_bytes)) << '\n';
    Table table({"  command", "tiles", "flop", "bytes"});
    for (auto &command : commands(runner, i))
      table.add({std::string("  ") + command.name, std::to_string(command.tiles),
                 formatCount(double(command.flops), ""), formatBytes(double(command.bytes))});
    table.print();
  }
  if (info.state_count) {
    std::cout << '\n';
    Table table({"state", "type", "bytes", "role"});
    for (const StateInfo &state : statesOf(runner))
      table.add({state.spec.name, stateText(state), formatBytes(double(state.bytes)), roleName(state.role)});
    table.print();
  }
  std::cout << '\n';
  Table sections({"section", "offset", "size"});
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    sections.add({section.kind, std::to_string(section.offset), formatBytes(double(section.size))});
  }
  sections.add({"header and padding", "", formatBytes(double(bytesBesideSections(runner)))});
  sections.print();
  std::cout << '\n';
  Table images({"instruction set", "features", "code"});
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    images.add({image.isa, image.features, formatBytes(double(image.code_bytes))});
  }
  images.print();
}

} // namespace sprig::cli
