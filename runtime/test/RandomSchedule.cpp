#include "runtime/test/RandomProgram.h"

#include <algorithm>
#include <sstream>

namespace sprig::rt::test {

using namespace core;

static bool conflict(const RandomProgram &program, const Step &a, const Step &b) {
  for (const Touch &x : program.touches(a))
    for (const Touch &y : program.touches(b))
      if ((x.writes || y.writes) && x.space == y.space && x.begin < y.end && y.begin < x.end) return true;
  return false;
}

// A step waits, of each other lane, for the last step that it must not overtake, unless that is known to be over.
Scheduled::Scheduled(const RandomProgram &program, uint32_t lanesOfDevice) {
  for (uint32_t device = 0; device < program.devices; ++device)
    for (uint32_t i = 0; i < lanesOfDevice; ++i) lanes.push_back({device, {}});
  size_t count = program.steps.size();
  std::vector<uint32_t> laneOf(count);
  for (size_t i = 0; i < count; ++i)
    laneOf[i] = program.deviceOf(program.steps[i]) * lanesOfDevice + program.steps[i].lane % lanesOfDevice;
  // Behind each step, the last step of each lane that is over, counted from 1.
  std::vector<std::vector<size_t>> over(count), now(lanes.size(), std::vector<size_t>(lanes.size(), 0));
  std::vector<int64_t> eventOf(count, -1);
  std::vector<std::vector<uint32_t>> waits(count);
  for (size_t j = 0; j < count; ++j) {
    const Step &step = program.steps[j];
    std::vector<size_t> &clock = now[laneOf[j]];
    std::vector<char> seen(lanes.size(), false);
    for (size_t i = j; i-- > 0;) {
      uint32_t lane = laneOf[i];
      if (lane == laneOf[j] || seen[lane] || !conflict(program, program.steps[i], step)) continue;
      seen[lane] = true;
      if (clock[lane] > i && !step.extraWait) continue;
      size_t behind = i;
      for (size_t k = j; step.lateRecord && behind == i && k-- > i;)
        if (laneOf[k] == lane) behind = k;
      if (eventOf[behind] < 0) eventOf[behind] = events++;
      waits[j].push_back(uint32_t(eventOf[behind]));
      for (size_t l = 0; l < lanes.size(); ++l) clock[l] = std::max(clock[l], over[behind][l]);
    }
    clock[laneOf[j]] = j + 1;
    over[j] = clock;
  }
  for (size_t j = 0; j < count; ++j) {
    std::vector<Command> &commands = lanes[laneOf[j]].commands;
    for (uint32_t event : waits[j]) commands.push_back({CommandKind::Wait, event});
    commands.push_back({CommandKind::Dispatch, uint32_t(j)});
    if (eventOf[j] >= 0) commands.push_back({CommandKind::Record, uint32_t(eventOf[j])});
  }
}

Scheduled Scheduled::without(uint32_t event) const {
  Scheduled result = *this;
  for (Lane &lane : result.lanes)
    std::erase_if(lane.commands,
                  [&](const Command &each) { return each.kind != CommandKind::Dispatch && each.index == event; });
  return result;
}

bool Scheduled::races(const RandomProgram &program) const {
  struct Node {
    Command command;
    std::vector<size_t> behind; // indices of nodes right before
  };
  std::vector<Node> nodes;
  std::vector<size_t> recordOf(events, SIZE_MAX);
  for (const Lane &lane : lanes)
    for (size_t i = 0; i < lane.commands.size(); ++i) {
      if (lane.commands[i].kind == CommandKind::Record) recordOf[lane.commands[i].index] = nodes.size();
      nodes.push_back({lane.commands[i], {}});
      if (i) nodes.back().behind.push_back(nodes.size() - 2);
    }
  for (Node &node : nodes)
    if (node.command.kind == CommandKind::Wait) node.behind.push_back(recordOf[node.command.index]);
  // What is before a node, by following the arrows back from it.
  std::vector<std::vector<char>> before(nodes.size(), std::vector<char>(nodes.size(), false));
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<size_t> stack = nodes[i].behind;
    while (!stack.empty()) {
      size_t at = stack.back();
      stack.pop_back();
      if (std::exchange(before[i][at], true)) continue;
      stack.insert(stack.end(), nodes[at].behind.begin(), nodes[at].behind.end());
    }
  }
  for (size_t a = 0; a < nodes.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      if (before[a][b] || before[b][a]) continue;
      bool steps = nodes[a].command.kind == CommandKind::Dispatch && nodes[b].command.kind == CommandKind::Dispatch;
      if (steps && conflict(program, program.steps[nodes[a].command.index], program.steps[nodes[b].command.index]))
        return true;
    }
  return false;
}

void Scheduled::perform(const RandomProgram &program, Spaces &memory,
                        const std::function<uint32_t(uint32_t)> &below) const {
  std::vector<size_t> position(lanes.size(), 0);
  std::vector<char> recorded(events, false);
  for (;;) {
    std::vector<uint32_t> able;
    for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
      if (position[lane] == lanes[lane].commands.size()) continue;
      const Command &next = lanes[lane].commands[position[lane]];
      if (next.kind != CommandKind::Wait || recorded[next.index]) able.push_back(lane);
    }
    if (able.empty()) return;
    uint32_t lane = able[below(uint32_t(able.size()))];
    const Command &next = lanes[lane].commands[position[lane]++];
    if (next.kind == CommandKind::Dispatch) program.perform(program.steps[next.index], memory);
    if (next.kind == CommandKind::Record) recorded[next.index] = true;
  }
}

TestPackage Scheduled::package(const RandomProgram &program) const {
  TestPackage made;
  made.program.kernels = program.kernels;
  made.program.devices.clear();
  for (uint32_t i = 0; i < program.devices; ++i) made.program.devices.push_back({"cpu", i});
  Spaces memory = program.memory();
  for (uint32_t i = program.firstConstant(); i < memory.size(); ++i) made.addConstant(memory[i]);
  EntryBuilder builder("main");
  for (uint32_t i = 0; i < program.inputs; ++i) builder.input("x" + std::to_string(i), {program.room()});
  for (uint32_t i = 0; i < program.outputs; ++i) builder.output("y" + std::to_string(i), {program.room()});
  builder.entry.buffers = program.buffers;
  for (uint32_t i = 0; i < program.states; ++i)
    made.program.states.push_back({{"s" + std::to_string(i), SPRIG_RT_U32, {program.room()}, 0},
                                   made.addConstant(memory[program.firstState() + i])});
  builder.entry.updatesState = program.states > 0;
  builder.entry.arenaSize = program.arenas[0];
  builder.entry.moreArenas.assign(program.arenas.begin() + 1, program.arenas.end());
  builder.entry.eventCount = events;
  for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
    builder.entry.lanes.push_back({lanes[lane].device, {}});
    for (const Command &command : lanes[lane].commands) {
      if (command.kind == CommandKind::Wait) builder.wait(lane, command.index);
      if (command.kind == CommandKind::Record) builder.record(lane, command.index);
      if (command.kind != CommandKind::Dispatch) continue;
      const Step &step = program.steps[command.index];
      if (step.isCopy) {
        builder.copy(lane, step.operands[0], step.operands[1]);
        continue;
      }
      builder.dispatch(lane, step.kernel, step.operands, step.tiles, step.grain);
      builder.entry.lanes[lane].commands.back().firstTile = step.firstTile;
      builder.entry.lanes[lane].commands.back().flops = step.flops;
    }
  }
  made.program.entries.push_back(builder.entry);
  return made;
}

std::string Scheduled::text(const RandomProgram &program) const {
  static const char *const kinds[] = {"Arena", "Input", "Output", "Constant", "State"};
  static const char *const kernels[] = {"Add",    "Mix",   "Count",   "Slow",  "Gather",
                                        "Divide", "Mxcsr", "Scratch", "Window"};
  std::ostringstream text;
  text << "TestPackage package;\n";
  if (program.devices > 1) {
    text << "package.program.devices = {{\"cpu\"}";
    for (uint32_t i = 1; i < program.devices; ++i) text << ", {\"cpu\", " << i << "}";
    text << "};\n";
  }
  for (uint32_t i = 0; i < program.kernels.size(); ++i) {
    if (program.kernels[i].access.empty()) text << "package.program.kernels[" << kernels[i] << "].access.clear();\n";
    if (program.kernels[i].ranges.empty()) continue;
    text << "package.program.kernels[" << kernels[i] << "].ranges = {";
    for (const TileRange &range : program.kernels[i].ranges)
      text << (&range == program.kernels[i].ranges.data() ? "{" : ", {") << range.operand << ", " << range.first << ", "
           << range.step << ", " << range.size << ", " << range.per << "}";
    text << "};\n";
  }
  text << "// constants 0 and up: words, a permutation of " << program.width << " indices of 64 bits, " << program.width
       << ", then what states start from\nEntryBuilder entry(\"main\");\n";
  for (uint32_t i = 0; i < program.inputs; ++i) text << "entry.input(\"x" << i << "\", {" << program.room() << "});\n";
  for (uint32_t i = 0; i < program.outputs; ++i)
    text << "entry.output(\"y" << i << "\", {" << program.room() << "});\n";
  text << "entry.entry.buffers = {\n";
  for (const Buffer &buffer : program.buffers)
    text << "    {core::BufferKind::" << kinds[int(buffer.kind)] << ", " << buffer.index << ", " << buffer.offset
         << ", " << buffer.size << ", \"" << buffer.name << "\", " << buffer.device << "},\n";
  text << "};\nentry.entry.arenaSize = " << program.arenas[0] << ";\nentry.entry.moreArenas = {";
  for (size_t i = 1; i < program.arenas.size(); ++i) text << (i > 1 ? ", " : "") << program.arenas[i];
  text << "};\nentry.entry.eventCount = " << events << ";\n";
  for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
    text << "entry.entry.lanes.push_back({" << lanes[lane].device << ", {}});\n";
    for (const Command &command : lanes[lane].commands) {
      if (command.kind == CommandKind::Wait) text << "entry.wait(" << lane << ", " << command.index << ");\n";
      if (command.kind == CommandKind::Record) text << "entry.record(" << lane << ", " << command.index << ");\n";
      if (command.kind != CommandKind::Dispatch) continue;
      const Step &step = program.steps[command.index];
      text << (step.isCopy ? "entry.copy(" : "entry.dispatch(") << lane << ", ";
      if (!step.isCopy) text << kernels[step.kernel] << ", {";
      for (size_t i = 0; i < step.operands.size(); ++i) text << (i ? ", " : "") << step.operands[i];
      if (!step.isCopy) text << "}, " << step.tiles << ", " << step.grain;
      text << ");";
      if (!step.isCopy && step.firstTile)
        text << " entry.entry.lanes[" << lane << "].commands.back().firstTile = " << step.firstTile << ";";
      text << " // step " << command.index << "\n";
    }
  }
  return text.str();
}

} // namespace sprig::rt::test
