#include "runtime/load/Verify.h"

#include "runtime/format/Container.h"
#include "runtime/format/Types.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

using format::kBufferAlignment;

constexpr uint32_t kMaxLanes = 1024;
constexpr uint64_t kMaxElement = 16;
// Of tiles, for each operand of a kernel.
constexpr uint32_t kMaxRanges = 8;
// Slices of a dispatch are reckoned in units of tiles, whose sums must not wrap. No buffer has as many elements.
constexpr int64_t kMaxTiles = int64_t(1) << 48;

std::string inQuotes(std::string_view name) { return concat("'", name, "'"); }

// What a program needs beside its file, with sums that cannot wrap.
class MemoryNeed {
public:
  explicit MemoryNeed(uint64_t limit, std::string_view whose = "the program's memory") : limit(limit), whose(whose) {}
  Status add(uint64_t bytes, std::string_view what) {
    if (bytes > limit - total)
      return {SPRIG_RT_OUT_OF_MEMORY,
              concat(what, " of ", bytes, " bytes brings ", whose, " above the limit of ", limit, " bytes")};
    total += bytes;
    return {};
  }

private:
  uint64_t limit;
  std::string_view whose;
  uint64_t total = 0;
};

Status verifyTensor(TensorType &tensor) {
  if (!dtypeName(tensor.dtype))
    return badPackage(
        concat(inQuotes(tensor.name), ": expected an element type below ", kDTypeCount, ", found ", tensor.dtype));
  if (tensor.shape.size() > kMaxRank)
    return badPackage(
        concat(inQuotes(tensor.name), ": expected at most ", kMaxRank, " dimensions, found ", tensor.shape.size()));
  if (!tensorBytes(tensor.shape, tensor.dtype, tensor.bytes))
    return badPackage(concat(inQuotes(tensor.name), ": no memory holds a ", shapeText(tensor.shape, tensor.dtype)));
  return {};
}

Status verifyRange(std::string_view what, uint64_t offset, uint64_t size, uint64_t room) {
  if (offset > room || size > room - offset)
    return badPackage(concat(what, ": ", size, " bytes at offset ", offset, " leave its ", room, " bytes"));
  return {};
}

Status verifyAligned(std::string_view what, uint64_t offset) {
  if (offset % kBufferAlignment)
    return badPackage(
        concat(what, ": expected an offset that is a multiple of ", kBufferAlignment, ", found ", offset));
  return {};
}

Status verifyExpansion(const Constant &constant, const SectionSizes &sections, MemoryNeed &need) {
  const format::Expansion &expansion = *constant.expansion;
  if (!constant.splat.empty()) return badPackage("expected an expansion or an element that repeats, found both");
  if (std::string wrong = format::checkExpansion(expansion, constant.size); !wrong.empty())
    return badPackage(concat("its expansion ", wrong));
  if (sections.constants < 0)
    return badPackage(concat("expected a constants section for ", expansion.size, " bytes, found none"));
  SPRIG_RETURN_IF_ERROR(verifyAligned("constants section", expansion.offset));
  SPRIG_RETURN_IF_ERROR(
      verifyRange("constants section", expansion.offset, expansion.size, sections.bytes[sections.constants]));
  return need.add(constant.size, "a constant that is expanded");
}

Status verifyConstant(const Constant &constant, const SectionSizes &sections, MemoryNeed &need, MemoryNeed &repeated) {
  if (constant.expansion) {
    // A compressed element may be repeated any number of times, as that of a splat.
    SPRIG_RETURN_IF_ERROR(verifyExpansion(constant, sections, need));
    if (constant.expansion->form != format::ExpansionForm::Compressed) return {};
    return repeated.add(constant.size, "a compressed constant");
  }
  if (!constant.splat.empty()) {
    uint64_t element = constant.splat.size();
    if (element > kMaxElement || constant.size % element)
      return badPackage(concat("expected ", constant.size, " bytes to be whole elements of at most ", kMaxElement,
                               " bytes, found an element of ", element));
    SPRIG_RETURN_IF_ERROR(need.add(constant.size, "a splat constant"));
    return repeated.add(constant.size, "a splat constant");
  }
  if (constant.size == 0) return {};
  if (sections.constants < 0)
    return badPackage(concat("expected a constants section for ", constant.size, " bytes, found none"));
  SPRIG_RETURN_IF_ERROR(verifyAligned("constants section", constant.offset));
  return verifyRange("constants section", constant.offset, constant.size, sections.bytes[sections.constants]);
}

Status verifyState(StateType &state, const Program &program, MemoryNeed &need) {
  SPRIG_RETURN_IF_ERROR(verifyTensor(state.tensor));
  if (state.initial >= program.constants.size())
    return badPackage(concat(inQuotes(state.tensor.name), ": expected an initial constant below ",
                             program.constants.size(), ", found ", state.initial));
  if (program.constants[state.initial].size != state.tensor.bytes)
    return badPackage(concat(inQuotes(state.tensor.name), ": expected an initial constant of ", state.tensor.bytes,
                             " bytes for ", shapeText(state.tensor.shape, state.tensor.dtype), ", found ",
                             program.constants[state.initial].size));
  return need.add(state.tensor.bytes, concat("state ", inQuotes(state.tensor.name)).text());
}

// Bytes of what a buffer lies in; the error names an index that is out of range.
Status bufferRoom(const Buffer &buffer, const Entry &entry, const Program &program, uint64_t &room) {
  auto check = [&](size_t count) -> Status {
    if (buffer.index >= count)
      return badPackage(
          concat("expected an index of ", bufferKindName(buffer.kind), " below ", count, ", found ", buffer.index));
    return {};
  };
  switch (buffer.kind) {
  case BufferKind::Arena: room = entry.arenaOf(buffer.device); return {};
  case BufferKind::Input:
    SPRIG_RETURN_IF_ERROR(check(entry.inputs.size()));
    room = entry.inputs[buffer.index].bytes;
    return {};
  case BufferKind::Output:
    SPRIG_RETURN_IF_ERROR(check(entry.outputs.size()));
    room = entry.outputs[buffer.index].bytes;
    return {};
  case BufferKind::Constant:
    SPRIG_RETURN_IF_ERROR(check(program.constants.size()));
    room = program.constants[buffer.index].size;
    return {};
  case BufferKind::State:
    SPRIG_RETURN_IF_ERROR(check(program.states.size()));
    room = program.states[buffer.index].tensor.bytes;
    return {};
  }
  return badPackage(concat("unknown buffer kind ", int(buffer.kind)));
}

Status verifyBuffer(const Buffer &buffer, const Entry &entry, const Program &program) {
  uint64_t room = 0;
  if (buffer.device >= program.devices.size())
    return badPackage(concat("expected a device below ", program.devices.size(), ", found ", buffer.device));
  SPRIG_RETURN_IF_ERROR(bufferRoom(buffer, entry, program, room));
  SPRIG_RETURN_IF_ERROR(verifyAligned(bufferKindName(buffer.kind), buffer.offset));
  return verifyRange(bufferKindName(buffer.kind), buffer.offset, buffer.size, room);
}

Status verifyWritable(std::string_view how, const Buffer &target, const Entry &entry) {
  if (target.kind == BufferKind::Constant || target.kind == BufferKind::Input)
    return badPackage(concat(how, " ", inQuotes(target.name), " (", bufferKindName(target.kind),
                             "), expected a buffer that may be written"));
  if (target.kind == BufferKind::State && !entry.updatesState)
    return badPackage(concat(how, " state ", inQuotes(target.name), " in an entry that says it updates none"));
  return {};
}

Status verifyDispatch(const Command &command, const Entry &entry, const Program &program) {
  if (command.kernel >= program.kernels.size())
    return badPackage(concat("expected a kernel below ", program.kernels.size(), ", found ", command.kernel));
  const Kernel &kernel = program.kernels[command.kernel];
  if (command.operandCount != kernel.bufferCount)
    return badPackage(concat("expected ", kernel.bufferCount, " buffers for kernel ", inQuotes(kernel.name), ", found ",
                             command.operandCount));
  if (command.tiles < 0 || command.tiles > kMaxTiles)
    return badPackage(concat("expected a number of tiles up to ", kMaxTiles, ", found ", command.tiles));
  if (command.firstTile < 0 || command.firstTile > kMaxTiles)
    return badPackage(concat("expected a first tile up to ", kMaxTiles, ", found ", command.firstTile));
  if (command.grain < 1) return badPackage(concat("expected a grain of at least 1 tile, found ", command.grain));
  for (uint32_t i = 0; i < kernel.access.size(); ++i)
    if (kernel.access[i] & kWrites) SPRIG_RETURN_IF_ERROR(verifyWritable("writes", entry.bufferOf(command, i), entry));
  return {};
}

Status verifyCopy(Command &command, const Entry &entry) {
  const Buffer &source = entry.bufferOf(command, 0);
  const Buffer &target = entry.bufferOf(command, 1);
  if (source.size != target.size)
    return badPackage(concat("copies ", source.size, " bytes of ", inQuotes(source.name), " to ", target.size,
                             " bytes of ", inQuotes(target.name)));
  SPRIG_RETURN_IF_ERROR(verifyWritable("copies to", target, entry));
  command.copyBytes = source.size;
  return {};
}

// A dispatch has its operands on the lane's device; a copy starts or ends there.
Status verifyPlaces(const Command &command, uint32_t device, const Entry &entry, const Program &program) {
  const uint32_t *operands = entry.operands.data() + command.firstOperand;
  auto isThere = [&](uint32_t buffer) { return entry.buffers[buffer].device == device; };
  bool fits = command.kind == CommandKind::Copy ? isThere(operands[0]) || isThere(operands[1])
                                                : std::all_of(operands, operands + command.operandCount, isThere);
  if (fits) return {};
  const uint32_t *first = std::find_if_not(operands, operands + command.operandCount, isThere);
  return badPackage(concat("uses ", inQuotes(entry.buffers[*first].name), " on ",
                           program.devices[entry.buffers[*first].device].text(), ", expected buffers on ",
                           program.devices[device].text(), ", where it runs"));
}

Status verifyCommand(Command &command, uint32_t device, const Entry &entry, const Program &program) {
  for (uint32_t i = 0; i < command.operandCount; ++i)
    if (uint32_t buffer = entry.operands[command.firstOperand + i]; buffer >= entry.buffers.size())
      return badPackage(concat("operand ", i, ": expected a buffer below ", entry.buffers.size(), ", found ", buffer));
  SPRIG_RETURN_IF_ERROR(verifyPlaces(command, device, entry, program));
  if (command.kind == CommandKind::Dispatch) return verifyDispatch(command, entry, program);
  if (command.kind == CommandKind::Copy) return verifyCopy(command, entry);
  if (command.kind == CommandKind::Collective) {
    SPRIG_RETURN_IF_ERROR(verifyCollective(command, entry));
    for (uint32_t i = 0; i < command.operandCount; ++i)
      if (entry.accessOf(command, i, program.kernels) & kWrites)
        SPRIG_RETURN_IF_ERROR(verifyWritable("writes", entry.bufferOf(command, i), entry));
  }
  return {};
}

Status verifySamples(const Entry &entry) {
  if (!entry.independentSamples) return {};
  int64_t samples = -1;
  for (const std::vector<TensorType> *tensors : {&entry.inputs, &entry.outputs})
    for (const TensorType &tensor : *tensors) {
      if (tensor.shape.empty())
        return badPackage(concat("has independent samples, but ", inQuotes(tensor.name), " has no first axis"));
      if (samples < 0) samples = tensor.shape[0];
      if (tensor.shape[0] != samples)
        return badPackage(concat("has independent samples, but ", inQuotes(tensor.name), " has ", tensor.shape[0],
                                 " where the first input has ", samples));
    }
  return {};
}

Status verifyLanes(Entry &entry, const Program &program) {
  if (entry.lanes.size() > kMaxLanes)
    return badPackage(concat("expected at most ", kMaxLanes, " lanes, found ", entry.lanes.size()));
  for (size_t i = 0; i < entry.lanes.size(); ++i) {
    Lane &lane = entry.lanes[i];
    if (lane.device >= program.devices.size())
      return badPackage(
          concat("lane ", i, ": expected a device below ", program.devices.size(), ", found ", lane.device));
    for (size_t c = 0; c < lane.commands.size(); ++c)
      SPRIG_RETURN_IF_ERROR(verifyCommand(lane.commands[c], lane.device, entry, program),
                            concat("lane ", i, " command ", c, " '", lane.commands[c].name, "'"));
  }
  return {};
}

Status verifyEntry(Entry &entry, const Program &program, uint64_t memoryLimit) {
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyTensor(entry.inputs[i]), concat("input ", i));
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyTensor(entry.outputs[i]), concat("output ", i));
  SPRIG_RETURN_IF_ERROR(verifyLengths(entry));
  if (entry.moreArenas.size() >= program.devices.size())
    return badPackage(concat("expected at most one arena for each of ", program.devices.size(), " devices, found ",
                             entry.moreArenas.size() + 1));
  MemoryNeed arenas(memoryLimit);
  SPRIG_RETURN_IF_ERROR(arenas.add(entry.arenaSize, "an arena"));
  for (uint64_t bytes : entry.moreArenas) SPRIG_RETURN_IF_ERROR(arenas.add(bytes, "an arena"));
  // Events live in the context; more of them than commands serve nothing.
  size_t commands = 0;
  for (const Lane &lane : entry.lanes) commands += lane.commands.size();
  if (entry.eventCount > commands)
    return badPackage(concat("expected at most one event per command, found ", entry.eventCount, " for ", commands));
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const Buffer &buffer = entry.buffers[i];
    SPRIG_RETURN_IF_ERROR(verifyBuffer(buffer, entry, program), concat("buffer ", i, " '", buffer.name, "'"));
    entry.usesState |= buffer.kind == BufferKind::State;
  }
  SPRIG_RETURN_IF_ERROR(verifyRanks(entry));
  SPRIG_RETURN_IF_ERROR(verifyLanes(entry, program));
  SPRIG_RETURN_IF_ERROR(verifySchedule(entry, program));
  return verifySamples(entry);
}

Status verifyKernel(const Kernel &kernel, const MemoryLimits &limits) {
  if (!kernel.access.empty() && kernel.access.size() != kernel.bufferCount)
    return badPackage(concat("expected how each of ", kernel.bufferCount, " operands is accessed, found it for ",
                             kernel.access.size()));
  if (kernel.ranges.size() > uint64_t(kMaxRanges) * kernel.bufferCount)
    return badPackage(concat("expected at most ", kMaxRanges, " ranges of tiles for each of ", kernel.bufferCount,
                             " operands, found ", kernel.ranges.size()));
  for (size_t i = 0; i < kernel.ranges.size(); ++i) {
    uint32_t operand = kernel.ranges[i].operand, least = i ? kernel.ranges[i - 1].operand : 0;
    if (operand < least || operand >= kernel.bufferCount)
      return badPackage(concat("range ", i, " of tiles: expected an operand from ", least, " and below ",
                               kernel.bufferCount, ", found ", operand));
  }
  return MemoryNeed(limits.all).add(kernel.scratch, "scratch");
}

// What is written lies on one device: a state on the same one in all entries, an output on one in each.
Status verifyOnePlace(const Program &program) {
  std::vector<int64_t> stateDevice(program.states.size(), -1);
  for (const Entry &entry : program.entries) {
    std::vector<int64_t> outputDevice(entry.outputs.size(), -1);
    for (const Buffer &buffer : entry.buffers) {
      if (buffer.kind != BufferKind::State && buffer.kind != BufferKind::Output) continue;
      bool isState = buffer.kind == BufferKind::State;
      int64_t &device = (isState ? stateDevice : outputDevice)[buffer.index];
      if (device >= 0 && device != buffer.device)
        return badPackage(
            concat("entry '", entry.name, "': ", bufferKindName(buffer.kind), " ",
                   inQuotes((isState ? program.states[buffer.index].tensor : entry.outputs[buffer.index]).name),
                   " lies on ", program.devices[size_t(device)].text(), " and on ",
                   program.devices[buffer.device].text(), ", expected one device"));
      device = buffer.device;
    }
  }
  return {};
}

} // namespace

Status verifyProgram(Program &program, const SectionSizes &sections, const MemoryLimits &limits) {
  MemoryNeed need(limits.all), repeated(limits.repeated, "the memory of repeated elements");
  if (program.entries.empty()) return badPackage("expected at least one entry, found none");
  for (size_t i = 0; i < program.constants.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyConstant(program.constants[i], sections, need, repeated),
                          concat("constant ", i, " '", program.constants[i].name, "'"));
  for (size_t i = 0; i < program.kernels.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyKernel(program.kernels[i], limits),
                          concat("kernel ", i, " '", program.kernels[i].name, "'"));
  for (size_t i = 0; i < program.states.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyState(program.states[i], program, need), concat("state ", i));
  for (size_t i = 0; i < program.entries.size(); ++i)
    SPRIG_RETURN_IF_ERROR(verifyEntry(program.entries[i], program, limits.all),
                          concat("entry ", i, " '", program.entries[i].name, "'"));
  SPRIG_RETURN_IF_ERROR(verifyOnePlace(program));
  SPRIG_RETURN_IF_ERROR(verifyImages(program, sections));
  for (const Entry &entry : program.entries)
    for (const Buffer &buffer : entry.buffers)
      if (buffer.kind == BufferKind::Constant) program.constants[buffer.index].isRead = true;
  return {};
}

} // namespace sprig::rt::core
