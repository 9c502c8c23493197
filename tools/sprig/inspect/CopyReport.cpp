#include "tools/sprig/inspect/CopyReport.h"
#include "lib/Data/Listed.h"
#include "runtime/api/Handles.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {
namespace {

using rt::core::Buffer;
using rt::core::BufferKind;
using rt::core::Command;
using rt::core::CommandKind;

const char *nameOf(BufferKind kind) {
  switch (kind) {
  case BufferKind::Input: return "input";
  case BufferKind::Output: return "output";
  case BufferKind::Constant: return "constant";
  case BufferKind::State: return "state";
  case BufferKind::Arena: break;
  }
  return "arena";
}

class Finder {
public:
  Finder(const Runner &runner, size_t entry, const std::vector<std::string> &devices)
      : runner(runner), devices(devices), program(runner.package()->package->program()), entry(program.entries[entry]),
        index(uint32_t(entry)) {}

  std::vector<DeviceCopy> find() {
    addArrays(BufferKind::Input, entry.inputs);
    addArrays(BufferKind::Output, entry.outputs);
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane)
      for (const Command &command : entry.lanes[lane].commands)
        if (command.kind == CommandKind::Copy) addCopy(command);
    return std::move(copies);
  }

private:
  bool hasOwnMemory(uint32_t device) const { return !devices[device].starts_with("cpu"); }

  // The commands that read a value or write it, `copy` left out, by name, each name once.
  template <typename Is> std::vector<std::string> commandsOf(Is is, bool writes, const Command *copy = nullptr) const {
    std::vector<std::string> names;
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane)
      for (uint32_t i = 0; i < entry.lanes[lane].commands.size(); ++i) {
        const Command &command = entry.lanes[lane].commands[i];
        if (&command == copy) continue;
        for (uint32_t operand = 0; operand < command.operandCount; ++operand) {
          if (!is(entry.bufferOf(command, operand)) ||
              bool(entry.accessOf(command, operand, program.kernels) & rt::core::kWrites) != writes)
            continue;
          sprig_rt_command_info info;
          check(sprig_rt_package_command(runner.package(), index, lane, i, &info));
          std::string name = info.name && *info.name ? info.name : "copy";
          if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
      }
    return names;
  }

  // As the runtime's Binding makes them: of arrays that commands name, once for each device.
  void addArrays(BufferKind kind, const std::vector<rt::core::TensorType> &types) {
    bool isInput = kind == BufferKind::Input;
    for (uint32_t array = 0; array < types.size(); ++array)
      for (uint32_t device = 0; device < program.devices.size(); ++device) {
        if (!hasOwnMemory(device)) continue;
        auto is = [&](const Buffer &buffer) {
          return buffer.kind == kind && buffer.index == array && buffer.device == device;
        };
        std::vector<std::string> readers = commandsOf(is, false);
        if (readers.empty() && commandsOf(is, true).empty()) continue;
        if (!isInput) readers.insert(readers.begin(), "caller");
        const std::string &name = devices[device];
        copies.push_back({types[array].name, nameOf(kind), isInput ? "caller" : name, name, types[array].bytes, true,
                          std::move(readers)});
      }
  }

  void addCopy(const Command &command) {
    const Buffer &source = entry.bufferOf(command, 0), &target = entry.bufferOf(command, 1);
    if (source.device == target.device) return;
    DeviceCopy copy{labelOf(source),
                    nameOf(source.kind),
                    devices[source.device],
                    devices[target.device],
                    command.copyBytes,
                    false,
                    {}};
    copy.readers = commandsOf([&](const Buffer &buffer) { return &buffer == &target; }, false, &command);
    if (target.kind == BufferKind::State) copy.readers.insert(copy.readers.begin(), "home of " + labelOf(target));
    if (target.kind == BufferKind::Output) copy.readers.insert(copy.readers.begin(), "caller");
    copies.push_back(std::move(copy));
  }

  std::string labelOf(const Buffer &buffer) const {
    switch (buffer.kind) {
    case BufferKind::Input: return entry.inputs[buffer.index].name;
    case BufferKind::Output: return entry.outputs[buffer.index].name;
    case BufferKind::Constant: return program.constants[buffer.index].name;
    case BufferKind::State: return program.states[buffer.index].tensor.name;
    case BufferKind::Arena: break;
    }
    return buffer.name;
  }

  const Runner &runner;
  const std::vector<std::string> &devices;
  const rt::core::Program &program;
  const rt::core::Entry &entry;
  uint32_t index;
  std::vector<DeviceCopy> copies;
};

} // namespace

std::vector<DeviceCopy> copiesOf(const Runner &runner, size_t entry, const std::vector<std::string> &devices) {
  return Finder(runner, entry, devices).find();
}

Json toJson(const std::vector<DeviceCopy> &copies) {
  Json list = Json::array();
  for (const DeviceCopy &copy : copies)
    list.push_back({{"name", copy.name},
                    {"of", copy.kind},
                    {"from", copy.from},
                    {"device", copy.device},
                    {"bytes", copy.bytes},
                    {"second_bytes", copy.second ? copy.bytes : 0},
                    {"for", copy.readers}});
  return list;
}

void printCopies(const std::string &entry, const std::vector<DeviceCopy> &copies) {
  if (copies.empty()) return;
  std::cout << "\ncopies of entry '" << entry << "'\n";
  Table table({"  copy", "of", "from", "on", "bytes", "second", "for"}, Table::Cells::text);
  for (const DeviceCopy &copy : copies)
    table.add({"  " + copy.name, copy.kind, copy.from, copy.device, formatBytes(double(copy.bytes)),
               copy.second ? formatBytes(double(copy.bytes)) : "-", data::listed(copy.readers, 3)});
  table.print();
}

} // namespace sprig::cli
