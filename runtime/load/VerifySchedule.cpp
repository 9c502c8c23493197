#include "runtime/format/Order.h"
#include "runtime/load/Verify.h"

#include <algorithm>
#include <optional>

namespace sprig::rt::core {

static std::string commandText(size_t lane, size_t index, const Command &command) {
  std::string text = concat("lane ", lane, " command ", index);
  return command.name.empty() ? text : text + " '" + command.name + "'";
}

static Status checkEvents(const Entry &entry) {
  std::vector<bool> recorded(entry.eventCount, false);
  for (size_t lane = 0; lane < entry.lanes.size(); ++lane)
    for (size_t i = 0; i < entry.lanes[lane].commands.size(); ++i) {
      const Command &command = entry.lanes[lane].commands[i];
      if (command.kind != CommandKind::Record && command.kind != CommandKind::Wait) continue;
      if (command.event >= entry.eventCount)
        return badPackage(concat(commandText(lane, i, command), ": expected an event below ", entry.eventCount,
                                 ", found ", command.event));
      if (command.kind != CommandKind::Record) continue;
      if (recorded[command.event])
        return badPackage(concat(commandText(lane, i, command), ": event ", command.event, " is recorded twice"));
      recorded[command.event] = true;
    }
  return {};
}

namespace {

// An entry's lanes as the proof of order takes them. Spaces are the arenas of the devices, then outputs, then states.
// Inputs and constants are left out: nothing writes them.
class OrderBuilder {
public:
  OrderBuilder(const Entry &entry, const Program &program)
      : entry(entry), program(program), regions(entry.buffers.size(), kNone) {}

  order::Schedule build(bool withAccesses) {
    size_t commands = 0;
    for (const Lane &lane : entry.lanes) commands += lane.commands.size();
    schedule.commands.reserve(commands);
    schedule.events = entry.eventCount;
    for (const Lane &lane : entry.lanes) {
      for (const Command &command : lane.commands) {
        if (command.kind == CommandKind::Record || command.kind == CommandKind::Wait) {
          order::Kind kind = command.kind == CommandKind::Record ? order::Kind::Record : order::Kind::Wait;
          schedule.commands.push_back({kind, command.event, 0, 0});
          continue;
        }
        schedule.work();
        if (withAccesses) addAccesses(command);
      }
      schedule.endLane();
    }
    return std::move(schedule);
  }

  std::string spaceText(uint32_t space) const {
    if (space < program.devices.size()) return concat("the arena of ", program.devices[space].text());
    space -= uint32_t(program.devices.size());
    if (space < entry.outputs.size()) return concat("output '", entry.outputs[space].name, "'");
    return concat("state '", program.states[space - entry.outputs.size()].tensor.name, "'");
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void addAccesses(const Command &command) {
    const uint32_t *operands = entry.operands.data() + command.firstOperand;
    if (command.kind == CommandKind::Copy) {
      add(operands[0], kReads);
      add(operands[1], kWrites);
      return;
    }
    if (command.kind == CommandKind::Collective) {
      for (uint32_t i = 0; i < command.operandCount; ++i) add(operands[i], entry.accessOf(command, i, program.kernels));
      return;
    }
    const Kernel &kernel = program.kernels[command.kernel];
    auto range = kernel.ranges.begin();
    for (uint32_t i = 0; i < command.operandCount; ++i) {
      uint8_t mode = kernel.accessOf(i);
      if (range == kernel.ranges.end() || range->operand != i) add(operands[i], mode);
      for (; range != kernel.ranges.end() && range->operand == i; ++range) addRange(command, *range, mode);
    }
  }

  void addRange(const Command &command, const TileRange &range, uint8_t mode) {
    const Buffer &buffer = entry.bufferOf(command, range.operand);
    std::optional<uint32_t> space = spaceOf(buffer);
    if (!space) return;
    int64_t end = command.firstTile + command.tiles;
    order::ByteRange bytes = order::bytesOfTiles(range.bytes(), command.firstTile, end, buffer.size);
    // As most are, of dispatches that run all of their tiles: a region that others have, too.
    if (bytes.begin == 0 && bytes.end == buffer.size)
      return add(entry.operands[command.firstOperand + range.operand], mode);
    schedule.regions.push_back({*space, buffer.offset + bytes.begin, buffer.offset + bytes.end});
    access(uint32_t(schedule.regions.size() - 1), mode);
  }

  void add(uint32_t index, uint8_t mode) {
    const Buffer &buffer = entry.buffers[index];
    if (regions[index] == kNone) {
      std::optional<uint32_t> space = spaceOf(buffer);
      if (!space) return;
      regions[index] = uint32_t(schedule.regions.size());
      schedule.regions.push_back({*space, buffer.offset, buffer.offset + buffer.size});
    }
    access(regions[index], mode);
  }

  void access(uint32_t region, uint8_t mode) {
    if (mode & kReads) schedule.access(region, false);
    if (mode & kWrites) schedule.access(region, true);
  }

  std::optional<uint32_t> spaceOf(const Buffer &buffer) const {
    uint32_t devices = uint32_t(program.devices.size());
    switch (buffer.kind) {
    case BufferKind::Arena: return buffer.device;
    case BufferKind::Output: return devices + buffer.index;
    case BufferKind::State: return devices + uint32_t(entry.outputs.size()) + buffer.index;
    default: return std::nullopt;
    }
  }

  const Entry &entry;
  const Program &program;
  order::Schedule schedule;
  std::vector<uint32_t> regions; // of whole buffers
};

Status explain(const order::Finding &finding, const Entry &entry, const Program &program, const OrderBuilder &builder) {
  auto commandOf = [&](order::Place place) -> const Command & { return entry.lanes[place.lane].commands[place.index]; };
  auto text = [&](order::Place place) { return commandText(place.lane, place.index, commandOf(place)); };
  auto device = [&](order::Place place) { return program.devices[entry.lanes[place.lane].device].text(); };
  switch (finding.verdict) {
  case order::Verdict::Ordered: return {};
  case order::Verdict::Stuck:
    return badPackage(concat(text(finding.second), ": waits for event ", commandOf(finding.second).event,
                             ", which no command can record before it"));
  case order::Verdict::TooLarge:
    return {SPRIG_RT_UNSUPPORTED, concat("has ", entry.lanes.size(), " lanes and ", entry.eventCount,
                                         " events, more than can be proved to be in order")};
  case order::Verdict::Race: break;
  }
  return badPackage(concat(text(finding.second), " on ", device(finding.second),
                           finding.secondWrites ? " writes bytes " : " reads bytes ", finding.shared.begin, " to ",
                           finding.shared.end, " of ", builder.spaceText(finding.shared.space), ", which ",
                           text(finding.first), " on ", device(finding.first),
                           finding.firstWrites ? " writes" : " reads", "; no event orders the two"));
}

// All ranks come to their collectives in one order: that of the program.
Status checkCollectives(const Entry &entry, const order::Schedule &schedule) {
  std::vector<bool> meets;
  for (const Lane &lane : entry.lanes)
    for (const Command &command : lane.commands) meets.push_back(entry.meets(command));
  std::optional<std::pair<order::Place, order::Place>> found = order::findUnordered(schedule, meets);
  if (!found) return {};
  auto text = [&](order::Place place) {
    return commandText(place.lane, place.index, entry.lanes[place.lane].commands[place.index]);
  };
  return badPackage(
      concat(text(found->second), " meets other ranks, and so does ", text(found->first), "; no event orders the two"));
}

} // namespace

order::Schedule scheduleOf(const Entry &entry, const Program &program) {
  return OrderBuilder(entry, program).build(true);
}

Status verifySchedule(const Entry &entry, const Program &program) {
  SPRIG_RETURN_IF_ERROR(checkEvents(entry));
  if (entry.lanes.size() < 2 && entry.eventCount == 0) return {};
  OrderBuilder builder(entry, program);
  // Within one lane nothing can race.
  order::Schedule schedule = builder.build(entry.lanes.size() > 1);
  SPRIG_RETURN_IF_ERROR(explain(order::checkOrder(schedule), entry, program, builder));
  return checkCollectives(entry, schedule);
}

} // namespace sprig::rt::core
