// The C ABI's functions that tell: statuses, types, what is in a package, what this machine is.
#include "runtime/api/Handles.h"

#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/machine/Machine.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <cstring>

#ifndef SPRIG_RT_VERSION
#error "the build gives the project's version"
#endif

using namespace sprig::rt::core;

namespace sprig::rt::core {

sprig_rt_status *failureToC(const Status &status) noexcept {
  try {
    return new sprig_rt_status{status.code(), std::string(status.message())};
  } catch (const std::bad_alloc &) {
    // Not for sprig_rt_status_free to delete.
    static sprig_rt_status noMemory{SPRIG_RT_OUT_OF_MEMORY, ""};
    return &noMemory;
  }
}

sprig_rt_status *thrownToC() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return failureToC({SPRIG_RT_OUT_OF_MEMORY, "out of memory"});
  } catch (const std::exception &error) {
    return failureToC({SPRIG_RT_INTERNAL, error.what()});
  }
}

Status nullHandle(const char *what) { return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a ", what, ", got null")}; }

Status checkIndex(const char *what, size_t index, size_t count) {
  if (index < count) return {};
  return {SPRIG_RT_INVALID_ARGUMENT, concat("expected ", what, " below ", count, ", got ", index)};
}

} // namespace sprig::rt::core

const char *sprig_rt_version(void) { return SPRIG_RT_VERSION; }

sprig_rt_code sprig_rt_status_code(const sprig_rt_status *status) { return status ? status->code : SPRIG_RT_OK; }

const char *sprig_rt_status_message(const sprig_rt_status *status) { return status ? status->message.c_str() : ""; }

void sprig_rt_status_free(sprig_rt_status *status) {
  bool isStatic = status && status->message.empty() && status->code == SPRIG_RT_OUT_OF_MEMORY;
  if (!isStatic) delete status;
}

namespace {

struct CodeRow {
  const char *name;
  int32_t exit;
};
// By code; the exit codes are the command line's.
constexpr CodeRow kCodes[] = {
    {"ok", 0},          {"invalid argument", 2}, {"not found", 3},          {"bad package", 3}, {"bad input", 3},
    {"unsupported", 4}, {"out of memory", 5},    {"input/output error", 5}, {"cancelled", 5},   {"timeout", 5},
    {"busy", 5},        {"internal error", 70},  {"device fault", 5}};
static_assert(std::size(kCodes) == SPRIG_RT_DEVICE_FAULT + 1);

const CodeRow &rowOf(sprig_rt_code code) {
  return kCodes[size_t(code) < std::size(kCodes) ? size_t(code) : size_t(SPRIG_RT_INTERNAL)];
}

// The shape of every query: handles there, index in range, then fill.
template <typename Info, typename Fill>
sprig_rt_status *describe(const sprig_rt_package *package, Info *info, Fill fill) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "package"));
    SPRIG_RETURN_IF_ERROR(requireHandle(info, "place for the description"));
    return fill(*package->package);
  });
}

template <typename Info, typename Fill>
sprig_rt_status *describeEntry(const sprig_rt_package *package, uint32_t entry, Info *info, Fill fill) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("an entry", entry, loaded.program().entries.size()));
    return fill(loaded.program().entries[entry]);
  });
}

sprig_rt_tensor_info describeTensor(const TensorType &type) {
  return {type.name.c_str(), type.shape.data(), uint32_t(type.shape.size()), type.dtype, type.bytes};
}

} // namespace

const char *sprig_rt_code_name(sprig_rt_code code) { return rowOf(code).name; }
int32_t sprig_rt_code_exit(sprig_rt_code code) { return rowOf(code).exit; }
size_t sprig_rt_dtype_size(int32_t dtype) { return size_t(dtypeSize(dtype)); }
const char *sprig_rt_dtype_name(int32_t dtype) { return dtypeName(dtype); }

void sprig_rt_package_describe(const sprig_rt_package *package, sprig_rt_package_info *info) {
  if (!package || !info) return;
  const Package &loaded = *package->package;
  const Program &program = loaded.program();
  *info = {loaded.name().c_str(),
           program.producer.c_str(),
           loaded.container().major,
           loaded.container().minor,
           loaded.fileBytes(),
           loaded.isa().c_str(),
           uint32_t(program.entries.size()),
           uint32_t(program.kernels.size()),
           uint32_t(program.constants.size()),
           uint32_t(program.states.size()),
           uint32_t(program.images.size()),
           uint32_t(loaded.container().sections.size()),
           uint32_t(program.devices.size()),
           uint32_t(program.facts.size())};
}

sprig_rt_status *sprig_rt_package_entry(const sprig_rt_package *package, uint32_t index, sprig_rt_entry_info *info) {
  return describeEntry(package, index, info, [&](const Entry &entry) -> Status {
    *info = {};
    info->name = entry.name.c_str();
    info->input_count = uint32_t(entry.given().size());
    info->output_count = uint32_t(entry.outputs.size());
    info->lane_count = uint32_t(entry.lanes.size());
    info->buffer_count = uint32_t(entry.buffers.size());
    info->event_count = entry.eventCount;
    info->arena_bytes = entry.arenaSize;
    info->independent_samples = entry.independentSamples;
    info->updates_state = entry.updatesState;
    for (const Lane &lane : entry.lanes)
      for (const Command &command : lane.commands) {
        ++info->command_count;
        info->flops += command.flops;
        info->bytes += command.bytes;
      }
    return {};
  });
}

sprig_rt_status *sprig_rt_package_entry_ranks(const sprig_rt_package *package, uint32_t index,
                                              sprig_rt_ranks_info *info) {
  return describeEntry(package, index, info, [&](const Entry &entry) -> Status {
    sprig_rt_ranks_info found = {info->size, entry.ranks, entry.rank, entry.samplesOfRanks};
    if (found.size == 0 || found.size > 4096)
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a size of ", sizeof found, ", got ", found.size)};
    std::memcpy(info, &found, std::min(found.size, sizeof found));
    return {};
  });
}

sprig_rt_status *sprig_rt_package_entry_lengths(const sprig_rt_package *package, uint32_t index,
                                                sprig_rt_lengths_info *info) {
  return describeEntry(package, index, info, [&](const Entry &entry) -> Status {
    sprig_rt_lengths_info found = {info->size, nullptr, 0, 0};
    if (entry.lengths) found = {info->size, entry.lengths->axis.c_str(), entry.lengths->first, entry.lengths->last};
    if (found.size == 0 || found.size > 4096)
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a size of ", sizeof found, ", got ", found.size)};
    std::memcpy(info, &found, std::min(found.size, sizeof found));
    return {};
  });
}

static Status sizesAt(const Entry &entry, std::span<const TensorType> ports, const char *what, uint32_t index,
                      int64_t length, int64_t *sizes) {
  SPRIG_RETURN_IF_ERROR(checkIndex(what, index, ports.size()));
  if (entry.lengths && (length < entry.lengths->first || length > entry.lengths->last))
    return {SPRIG_RT_INVALID_ARGUMENT, concat("entry '", entry.name, "': expected a length from ", entry.lengths->first,
                                              " to ", entry.lengths->last, ", got ", length)};
  for (size_t axis = 0; axis < ports[index].shape.size(); ++axis) sizes[axis] = ports[index].sizeAt(axis, length);
  return {};
}

sprig_rt_status *sprig_rt_package_input_at(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                           int64_t length, int64_t *sizes) {
  return describeEntry(package, entry, sizes, [&](const Entry &found) -> Status {
    return sizesAt(found, found.given(), "an input", index, length, sizes);
  });
}

sprig_rt_status *sprig_rt_package_output_at(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                            int64_t length, int64_t *sizes) {
  return describeEntry(package, entry, sizes, [&](const Entry &found) -> Status {
    return sizesAt(found, found.outputs, "an output", index, length, sizes);
  });
}

sprig_rt_status *sprig_rt_package_output_of(const sprig_rt_package *package, uint32_t chosen,
                                            const sprig_rt_tensor *inputs, size_t input_count, uint32_t index,
                                            int64_t *sizes) {
  return describe(package, sizes, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(input_count ? requireHandle(inputs, "list of inputs") : Status());
    Choice choice;
    SPRIG_RETURN_IF_ERROR(chooseEntry(loaded.program(), int32_t(chosen), {inputs, input_count}, choice));
    const std::vector<TensorType> &outputs = loaded.program().entries[choice.entry].outputs;
    SPRIG_RETURN_IF_ERROR(checkIndex("an output", index, outputs.size()));
    for (size_t axis = 0; axis < outputs[index].shape.size(); ++axis) sizes[axis] = choice.sizeOf(outputs[index], axis);
    return {};
  });
}

sprig_rt_status *sprig_rt_package_find_entry(const sprig_rt_package *package, const char *name, uint32_t *entry) {
  return describe(package, entry, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(name, "name"));
    std::string have;
    const std::vector<Entry> &entries = loaded.program().entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].name == name) {
        *entry = uint32_t(i);
        return {};
      }
      have += concat(have.empty() ? "" : ", ", entries[i].name);
    }
    return {SPRIG_RT_NOT_FOUND,
            concat(loaded.name(), ": no entry is named '", name, "'; there is ", have.empty() ? "none" : have)};
  });
}

sprig_rt_status *sprig_rt_package_input(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                        sprig_rt_tensor_info *info) {
  return describeEntry(package, entry, info, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("an input", index, found.given().size()));
    *info = describeTensor(found.inputs[index]);
    return {};
  });
}

sprig_rt_status *sprig_rt_package_output(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                         sprig_rt_tensor_info *info) {
  return describeEntry(package, entry, info, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("an output", index, found.outputs.size()));
    *info = describeTensor(found.outputs[index]);
    return {};
  });
}

sprig_rt_status *sprig_rt_package_buffer(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                         sprig_rt_buffer_info *info) {
  return describeEntry(package, entry, info, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a buffer", index, found.buffers.size()));
    const Buffer &buffer = found.buffers[index];
    *info = {buffer.name.c_str(), bufferKindName(buffer.kind), buffer.index, buffer.offset, buffer.size};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_lane(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                       uint32_t *command_count) {
  return describeEntry(package, entry, command_count, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a lane", lane, found.lanes.size()));
    *command_count = uint32_t(found.lanes[lane].commands.size());
    return {};
  });
}

sprig_rt_status *sprig_rt_package_command(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                          uint32_t index, sprig_rt_command_info *info) {
  return describeEntry(package, entry, info, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a lane", lane, found.lanes.size()));
    SPRIG_RETURN_IF_ERROR(checkIndex("a command", index, found.lanes[lane].commands.size()));
    const Command &command = found.lanes[lane].commands[index];
    static_assert(int(CommandKind::Dispatch) == SPRIG_RT_DISPATCH && int(CommandKind::Copy) == SPRIG_RT_COPY &&
                  int(CommandKind::Record) == SPRIG_RT_RECORD && int(CommandKind::Wait) == SPRIG_RT_WAIT &&
                  int(CommandKind::Collective) == SPRIG_RT_ALL_REDUCE &&
                  int(sprig::rt::collective::Kind::part) == SPRIG_RT_PART - SPRIG_RT_ALL_REDUCE);
    bool isOfRanks = command.kind == CommandKind::Collective;
    int32_t kind = int32_t(command.kind) + (isOfRanks ? int32_t(found.collectives[command.collective].kind) : 0);
    *info = {command.name.c_str(),
             kind,
             found.lanes[lane].device,
             command.kernel,
             command.operandCount,
             found.operands.data() + command.firstOperand,
             command.event,
             command.tiles,
             command.grain,
             command.flops,
             command.kind == CommandKind::Copy ? 2 * command.copyBytes : command.bytes};
    return {};
  });
}

namespace {

// Calls `fill` with a command, or says which index is out of range.
template <typename Info, typename Fill>
sprig_rt_status *describeCommand(const sprig_rt_package *package, uint32_t entry, uint32_t lane, uint32_t command,
                                 Info *info, Fill fill) {
  return describeEntry(package, entry, info, [&](const Entry &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a lane", lane, found.lanes.size()));
    SPRIG_RETURN_IF_ERROR(checkIndex("a command", command, found.lanes[lane].commands.size()));
    return fill(found.lanes[lane].commands[command]);
  });
}

} // namespace

sprig_rt_status *sprig_rt_package_part_count(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                             uint32_t command, uint32_t *count) {
  return describeCommand(package, entry, lane, command, count, [&](const Command &found) -> Status {
    *count = uint32_t(found.parts.size());
    return {};
  });
}

sprig_rt_status *sprig_rt_package_part(const sprig_rt_package *package, uint32_t entry, uint32_t lane, uint32_t command,
                                       uint32_t index, sprig_rt_part_info *info) {
  return describeCommand(package, entry, lane, command, info, [&](const Command &found) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a part", index, found.parts.size()));
    const Part &part = found.parts[index];
    *info = {part.name.c_str(), part.kind.c_str(), part.shape.c_str(), part.source.c_str(),
             part.flops,        part.bytes,        part.call};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_section(const sprig_rt_package *package, uint32_t index,
                                          sprig_rt_section_info *info) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a section", index, loaded.container().sections.size()));
    const sprig::rt::format::Section &section = loaded.container().sections[index];
    *info = {sprig::rt::format::sectionKindName(section.kind), section.offset, section.size};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_image(const sprig_rt_package *package, uint32_t index, sprig_rt_image_info *info) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("an image", index, loaded.program().images.size()));
    const Image &image = loaded.program().images[index];
    *info = {image.isa.c_str(), package->imageFeatures[index].c_str(), image.section, image.codeSize,
             loaded.loadedImage() == int(index)};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_kernel(const sprig_rt_package *package, uint32_t index, sprig_rt_kernel_info *info) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    const Program &program = loaded.program();
    SPRIG_RETURN_IF_ERROR(checkIndex("a kernel", index, program.kernels.size()));
    const Kernel &kernel = program.kernels[index];
    int image = loaded.loadedImage();
    // Code whose kernels are found by name does not tell how large each is.
    bool sized = image >= 0 && !program.images[size_t(image)].symbolSizes.empty();
    *info = {kernel.name.c_str(), kernel.scratch, kernel.bufferCount,
             sized ? program.images[size_t(image)].symbolSizes[index] : 0};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_constant(const sprig_rt_package *package, uint32_t index,
                                           sprig_rt_constant_info *info) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a constant", index, loaded.program().constants.size()));
    const Constant &constant = loaded.program().constants[index];
    *info = {constant.name.c_str(), constant.size, !constant.splat.empty()};
    return {};
  });
}

sprig_rt_status *sprig_rt_package_state(const sprig_rt_package *package, uint32_t index, sprig_rt_tensor_info *info) {
  return describe(package, info, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a state", index, loaded.program().states.size()));
    *info = describeTensor(loaded.program().states[index].tensor);
    return {};
  });
}

sprig_rt_status *sprig_rt_package_device(const sprig_rt_package *package, uint32_t index, const char **name) {
  return describe(package, name, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a device", index, loaded.program().devices.size()));
    *name = loaded.program().devices[index].name.c_str();
    return {};
  });
}

sprig_rt_status *sprig_rt_package_fact(const sprig_rt_package *package, uint32_t index, const char **key,
                                       const char **value) {
  return describe(package, key, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(checkIndex("a fact", index, loaded.program().facts.size()));
    *key = loaded.program().facts[index].key.c_str();
    if (value) *value = loaded.program().facts[index].value.c_str();
    return {};
  });
}

sprig_rt_status *sprig_rt_package_choose(const sprig_rt_package *package, int32_t entry, const sprig_rt_tensor *inputs,
                                         size_t input_count, uint32_t *chosen, int64_t *samples) {
  return describe(package, chosen, [&](const Package &loaded) -> Status {
    SPRIG_RETURN_IF_ERROR(input_count ? requireHandle(inputs, "list of inputs") : Status());
    Choice choice;
    SPRIG_RETURN_IF_ERROR(chooseEntry(loaded.program(), entry, {inputs, input_count}, choice));
    *chosen = choice.entry;
    if (samples) *samples = choice.exact || choice.length ? -1 : choice.samples;
    return {};
  });
}

uint32_t sprig_rt_device_count(void) { return 2; }

sprig_rt_status *sprig_rt_device(uint32_t index, sprig_rt_device_info *info) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(info, "place for the description"));
    SPRIG_RETURN_IF_ERROR(checkIndex("a device", index, sprig_rt_device_count()));
    *info = {};
    if (index == 1) {
      info->kind = "null";
      info->name = "for tests: memory, order and clock of its own";
      info->isa = info->features = "";
      return {};
    }
    static const auto &isa =
        *new std::string(cpuFeatures().level ? concat("x86-64-v", cpuFeatures().level) : std::string());
    static const std::string &features = *[] {
      auto *joined = new std::string;
      for (std::string_view feature : cpuFeatures().beyondLevel())
        *joined += concat(joined->empty() ? "" : ",", feature);
      return joined;
    }();
    const CpuInfo &cpu = cpuInfo();
    *info = {"cpu",    cpu.name.c_str(), isa.c_str(), features.c_str(), defaultThreads(),
             cpu.cpus, physicalMemory(), cpu.l1d,     cpu.l1i,          cpu.l2,
             cpu.l3};
    return {};
  });
}
