#include "tools/sprig/simulate/PackageProgram.h"
#include "lib/Machine/KernelRates.h"
#include "lib/Machine/MachineModel.h"
#include "runtime/api/Handles.h"
#include "runtime/exec/Choose.h"
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/BusyTime.h"
#include "tools/sprig/profile/CommandLimits.h"
#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace sprig::cli {
namespace {

using machine::Node;
using machine::SimulatedCommand;
using machine::Topology;
using rt::collective::Algorithm;
using rt::core::BufferKind;

const rt::core::Program &programIn(const Runner &runner) { return runner.package()->package->program(); }

/// Whether the caller's arrays, which lie at a place, have to be copied for a device to work on them.
bool isCopied(const Topology &topology, uint32_t node, int place) {
  if (place < 0 || node == uint32_t(place)) return false;
  return !topology.nodes[node].hostMemory || !topology.nodes[size_t(place)].hostMemory;
}

class Builder {
public:
  Builder(const Runner &runner, uint32_t entry, const Topology &topology, PackageProgram &result)
      : runner(runner), source(programIn(runner)), entry(source.entries[entry]), entryIndex(entry), topology(topology),
        result(result) {}

  void build() {
    if (entry.ranks > 1)
      unsupported("entry '" + entry.name + "' is of " + std::to_string(entry.ranks) +
                  " ranks, which are played with --mesh " +
                  (entry.mesh.empty() ? "data=" + std::to_string(entry.ranks) : meshText(runner, entryIndex)));
    result.entry = entry.name;
    result.program.events = entry.eventCount;
    result.packageLanes = entry.lanes.size();
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
      uint32_t device = entry.lanes[lane].device;
      addLane(result.nodes[device], "lane " + std::to_string(lane));
      for (uint32_t i = 0; i < entry.lanes[lane].commands.size(); ++i) add(lane, commandOf(lane, i), told(lane, i));
    }
    addArrays();
  }

  StepProgram buildStep(int ranks, std::optional<Algorithm> algorithm) {
    if (!entry.mesh.empty() && uint32_t(ranks) != entry.ranks)
      badUse("entry '" + entry.name + "' is of the " + std::to_string(entry.ranks) + " ranks of its mesh, found " +
             std::to_string(ranks) + " to play");
    StepProgram made;
    made.step.events = entry.eventCount;
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
      made.step.lanes.emplace_back();
      made.commands.emplace_back();
      for (uint32_t i = 0; i < entry.lanes[lane].commands.size(); ++i) {
        const rt::core::Command &command = entry.lanes[lane].commands[i];
        made.commands.back().push_back(told(lane, i));
        if (entry.meets(command))
          made.step.lanes.back().push_back({{}, meetingsOf(command, ranks, algorithm)});
        else
          made.step.lanes.back().push_back({commandOf(lane, i)});
      }
    }
    return made;
  }

private:
  // As the runtime: tensors of one algorithm go around together, one algorithm after the other.
  std::vector<machine::Meeting> meetingsOf(const rt::core::Command &command, int ranks,
                                           std::optional<Algorithm> given) const {
    const rt::core::Collective &call = entry.collectives[command.collective];
    int met = call.axes.empty() ? ranks : int(entry.groupOf(call, 0).size());
    auto algorithmOf = [&](int64_t size) {
      if (call.algorithm) return *call.algorithm;
      if (given && rt::collective::does(*given, call.kind)) return *given;
      return rt::collective::chooseAlgorithm(call.kind, met, size);
    };
    std::map<Algorithm, int64_t> bytes;
    if (call.kind == rt::collective::Kind::barrier) bytes[algorithmOf(0)] = 0;
    for (uint32_t i = 0; i < call.tensorsOf(command); ++i) {
      auto size = int64_t(entry.bufferOf(command, call.wholeOf(command, i)).size);
      bytes[algorithmOf(size)] += size;
    }
    std::vector<machine::Meeting> meetings;
    for (auto &[algorithm, sum] : bytes) meetings.push_back({call.kind, algorithm, sum, int(call.root)});
    if (!call.axes.empty())
      for (machine::Meeting &meeting : meetings) {
        for (const rt::core::Axis &axis : entry.mesh) meeting.mesh.push_back(axis.ranks);
        meeting.over = call.axes;
      }
    return meetings;
  }

  PlayedCommand told(uint32_t lane, uint32_t index) const {
    sprig_rt_command_info info;
    check(sprig_rt_package_command(runner.package(), entryIndex, lane, index, &info));
    return {info.name && *info.name ? info.name : rt::commandKindName(info.kind), info.kind, info.flops, info.bytes};
  }

  SimulatedCommand commandOf(uint32_t lane, uint32_t index) {
    const rt::core::Command &command = entry.lanes[lane].commands[index];
    uint32_t node = result.nodes[entry.lanes[lane].device];
    SimulatedCommand played;
    played.event = command.event;
    switch (command.kind) {
    case rt::core::CommandKind::Record: played.kind = SimulatedCommand::Kind::record; return played;
    case rt::core::CommandKind::Wait:
      played.kind = SimulatedCommand::Kind::wait;
      if (const std::string &rates = topology.nodes[node].rates; !rates.empty())
        played.ns = modelOf(rates).rates.handOff * 1e9;
      return played;
    case rt::core::CommandKind::Dispatch:
      // As many threads as the runtime takes.
      played.threads = int(
          std::clamp<int64_t>(command.tiles / std::max<int64_t>(command.grain, 1), 1, topology.nodes[node].threads));
      played.ns = workNs(node, lane, index, played.threads);
      return played;
    case rt::core::CommandKind::Collective: // a part of what a rank has
    case rt::core::CommandKind::Copy: break;
    }
    played.from = nodeOf(command, 0);
    played.to = nodeOf(command, 1);
    if (played.from == played.to) {
      played.ns = workNs(node, lane, index, 1);
    } else {
      played.kind = SimulatedCommand::Kind::copy;
      played.bytes = double(command.copyBytes);
    }
    return played;
  }

  uint32_t nodeOf(const rt::core::Command &command, uint32_t operand) const {
    return result.nodes[entry.bufferOf(command, operand).device];
  }

  double workNs(uint32_t node, uint32_t lane, uint32_t index, int threads) {
    const Node &place = topology.nodes[node];
    if (place.rates.empty()) {
      PlayedCommand command = told(lane, index);
      return place.launchNs +
             std::max(double(command.flops) * 1e9 / place.flops, place.bandwidth.nanoseconds(double(command.bytes)));
    }
    Model &model = modelOf(place.rates);
    double handOff = threads > 1 ? model.rates.handOff * 1e9 : 0;
    // What another thread wrote; a command on one thread reads what several wrote before it.
    double fetched =
        place.threads > 1 ? model.rates.fetchSeconds(double(entry.lanes[lane].commands[index].fetched)) * 1e9 : 0;
    double call = lane == 0 && index == 0 ? machine::kCallSeconds * 1e9 : 0;
    return place.launchNs + call + handOff + fetched + model.limits.expectedNs(entryIndex, lane, index, threads);
  }

  // Copies as the runtime makes them: each device with memory of its own gets the inputs that its commands name, one
  // after the other, and all lanes begin when all are there; each output goes back when it is final, one after the
  // other for each device.
  void addArrays() {
    std::set<std::pair<uint32_t, uint32_t>> inputs; // device, number
    for (uint32_t operand : entry.operands)
      if (const rt::core::Buffer &buffer = entry.buffers[operand];
          buffer.kind == BufferKind::Input && isCopied(topology, result.nodes[buffer.device], topology.inputs))
        inputs.emplace(buffer.device, buffer.index);
    std::map<uint32_t, uint32_t> uploads, downloads; // lanes by device
    for (auto [device, number] : inputs) {
      uint32_t lane = laneOfArrays(uploads, device, "arrays");
      copyArray(lane, "upload " + entry.inputs[number].name, uint32_t(topology.inputs), result.nodes[device],
                entry.inputs[number].bytes);
    }
    std::vector<SimulatedCommand> waits;
    for (auto [device, lane] : uploads) waits.push_back(recordOn(lane, "inputs are there"));
    for (size_t lane = 0; lane < result.packageLanes; ++lane) {
      auto &commands = result.program.lanes[lane].commands;
      commands.insert(commands.begin(), waits.begin(), waits.end());
      PlayedCommand wait{"inputs are there", SPRIG_RT_WAIT};
      result.commands[lane].insert(result.commands[lane].begin(), waits.size(), wait);
    }
    result.inFront = waits.size();
    result.firstResults = result.lanes.size();
    for (const rt::core::Result &output : rt::core::resultsOf(source, entry))
      if (isCopied(topology, result.nodes[output.device], topology.outputs))
        addReturn(laneOfArrays(downloads, output.device, "results"), output);
  }

  uint32_t laneOfArrays(std::map<uint32_t, uint32_t> &lanes, uint32_t device, const char *name) {
    auto [found, isNew] = lanes.try_emplace(device, 0);
    if (isNew) {
      found->second = addLane(result.nodes[device], name);
      result.program.lanes[found->second].ofArrays = true;
    }
    return found->second;
  }

  void addReturn(uint32_t lane, const rt::core::Result &output) {
    for (rt::core::CommandPlace writer : output.writers) {
      std::optional<uint32_t> &ended = result.program.lanes[writer.lane].commands[result.inFront + writer.index].ended;
      if (!ended) ended = result.program.events++;
      SimulatedCommand wait;
      wait.kind = SimulatedCommand::Kind::wait;
      wait.event = *ended;
      add(lane, wait, {"the result is final", SPRIG_RT_WAIT});
    }
    const rt::core::TensorType &type = entry.outputs[output.output];
    copyArray(lane, "download " + type.name, result.nodes[output.device], uint32_t(topology.outputs), type.bytes);
    result.commands[lane].back().writers = output.writers;
  }

  /// Records on a lane; the wait for it.
  SimulatedCommand recordOn(uint32_t lane, const char *name) {
    SimulatedCommand command;
    command.kind = SimulatedCommand::Kind::record;
    command.event = result.program.events++;
    add(lane, command, {name, SPRIG_RT_RECORD});
    command.kind = SimulatedCommand::Kind::wait;
    return command;
  }

  void copyArray(uint32_t lane, const std::string &name, uint32_t from, uint32_t to, uint64_t bytes) {
    SimulatedCommand copy;
    copy.kind = SimulatedCommand::Kind::copy;
    copy.from = from;
    copy.to = to;
    copy.bytes = double(bytes);
    add(lane, copy, {name, SPRIG_RT_COPY, 0, 2 * bytes});
  }

  uint32_t addLane(uint32_t node, const std::string &name) {
    result.program.lanes.push_back({node, {}});
    result.lanes.push_back(name);
    result.commands.emplace_back();
    return uint32_t(result.lanes.size() - 1);
  }
  void add(uint32_t lane, const SimulatedCommand &command, PlayedCommand told) {
    result.program.lanes[lane].commands.push_back(command);
    result.commands[lane].push_back(std::move(told));
  }

  struct Model {
    Model(const Runner &runner, const std::string &name)
        : products(std::vector<std::string>{name}), rates(products.model()), limits(runner, products) {}
    machine::ProductRates products;
    const machine::MachineModel &rates;
    CommandLimits limits;
  };
  Model &modelOf(const std::string &name) {
    auto &model = models[name];
    if (!model) model = std::make_unique<Model>(runner, name);
    return *model;
  }

  const Runner &runner;
  const rt::core::Program &source;
  const rt::core::Entry &entry;
  uint32_t entryIndex;
  const Topology &topology;
  PackageProgram &result;
  std::map<std::string, std::unique_ptr<Model>> models;
};

struct Life {
  double begin = 0, end = -1;
};

/// When each buffer is in use: from the begin of the first command that names it to the end of the last one.
std::vector<Life> livesOf(const rt::core::Entry &entry, const PackageProgram &program,
                          const machine::Simulation &played) {
  std::vector<Life> lives(entry.buffers.size());
  for (size_t lane = 0; lane < entry.lanes.size(); ++lane) {
    const auto &commands = entry.lanes[lane].commands;
    for (size_t i = 0; i < commands.size(); ++i) {
      const machine::Span &span = played.commands[lane][program.inFront + i];
      for (uint32_t k = 0; k < commands[i].operandCount; ++k) {
        Life &life = lives[entry.operands[commands[i].firstOperand + k]];
        bool isNew = life.end < 0;
        life.begin = isNew ? span.begin : std::min(life.begin, span.begin);
        life.end = isNew ? span.end : std::max(life.end, span.end);
      }
    }
  }
  return lives;
}

} // namespace

std::optional<int64_t> samplesOf(const Runner &runner, uint32_t index) {
  const rt::core::Entry &entry = programIn(runner).entries[index];
  if (!entry.independentSamples || entry.inputs.empty() || entry.inputs[0].shape.empty()) return std::nullopt;
  return entry.inputs[0].shape[0];
}

// As the runtime's Context; all runs but the last one are of the largest entry.
std::vector<EntryRuns> runsFor(const Runner &runner, uint32_t like, int64_t samples) {
  std::vector<EntryRuns> runs;
  while (samples > 0) {
    EntryRuns run{rt::core::entryForSamples(programIn(runner), like, samples)};
    run.samples = samplesOf(runner, run.entry).value();
    run.count = std::max<int64_t>(samples / run.samples, 1);
    run.padding = std::max<int64_t>(run.samples - samples, 0);
    samples -= run.count * run.samples;
    runs.push_back(run);
  }
  return runs;
}

PackageProgram programOf(const Runner &runner, uint32_t entry, const Topology &topology,
                         const std::vector<uint32_t> &nodes) {
  PackageProgram result;
  result.nodes = nodes;
  Builder(runner, entry, topology, result).build();
  return result;
}

StepProgram stepOf(const Runner &runner, uint32_t entry, const Topology &topology, uint32_t node, int ranks,
                   std::optional<Algorithm> algorithm) {
  PackageProgram program;
  program.nodes = std::vector<uint32_t>(programIn(runner).devices.size(), node);
  return Builder(runner, entry, topology, program).buildStep(ranks, algorithm);
}

std::vector<DeviceMemory> memoryOf(const Runner &runner, uint32_t entryIndex, const Topology &topology,
                                   const PackageProgram &program, const machine::Simulation &played) {
  const rt::core::Program &source = programIn(runner);
  const rt::core::Entry &entry = source.entries[entryIndex];
  std::vector<Life> lives = livesOf(entry, program, played);
  std::vector<DeviceMemory> result(source.devices.size());
  std::set<std::tuple<uint32_t, BufferKind, uint32_t>> seen;
  struct Change {
    double ns;
    bool begins;
    size_t buffer;
  };
  std::vector<std::vector<Change>> changes(source.devices.size());
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const rt::core::Buffer &buffer = entry.buffers[i];
    DeviceMemory &memory = result[buffer.device];
    if (buffer.kind == BufferKind::Arena) {
      if (!(lives[i].end > lives[i].begin)) continue;
      changes[buffer.device].push_back({lives[i].begin, true, i});
      changes[buffer.device].push_back({lives[i].end, false, i});
      continue;
    }
    bool isArray = buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output;
    if (isArray && lives[i].end < 0) continue; // no command names it
    if (!seen.emplace(buffer.device, buffer.kind, buffer.index).second) continue;
    uint32_t node = program.nodes[buffer.device];
    switch (buffer.kind) {
    case BufferKind::Constant: memory.constants += source.constants[buffer.index].size; break;
    case BufferKind::State: memory.states += source.states[buffer.index].tensor.bytes; break;
    case BufferKind::Input:
      if (isCopied(topology, node, topology.inputs)) memory.arrays += entry.inputs[buffer.index].bytes;
      break;
    case BufferKind::Output:
      if (isCopied(topology, node, topology.outputs)) memory.arrays += entry.outputs[buffer.index].bytes;
      break;
    case BufferKind::Arena: break;
    }
  }
  for (size_t device = 0; device < changes.size(); ++device) {
    // What ends at a moment makes room for what begins then.
    std::sort(changes[device].begin(), changes[device].end(),
              [](const Change &a, const Change &b) { return a.ns < b.ns || (a.ns == b.ns && a.begins < b.begins); });
    std::multiset<std::pair<uint64_t, uint64_t>> live;
    for (const Change &change : changes[device]) {
      const rt::core::Buffer &buffer = entry.buffers[change.buffer];
      std::pair range(buffer.offset, buffer.offset + buffer.size);
      if (!change.begins) {
        if (auto found = live.find(range); found != live.end()) live.erase(found);
        continue;
      }
      live.insert(range);
      uint64_t bytes = rt::bytesIn(live);
      if (bytes <= result[device].arenaPeak) continue;
      result[device].arenaPeak = bytes;
      result[device].peakNs = change.ns;
    }
  }
  return result;
}

} // namespace sprig::cli
