#include "runtime/exec/Package.h"

#include "runtime/machine/Machine.h"
#include "runtime/device/Devices.h"
#include "runtime/exec/LaneExecutable.h"
#include "runtime/load/Decode.h"
#include "runtime/load/Verify.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sprig::rt::core {

Status Package::load(PackageSource source, const LoadOptions &options, std::shared_ptr<const Package> &package) {
  auto fresh = std::make_shared<Package>();
  fresh->source = std::move(source);
  fresh->memory = options.allocator;
  SPRIG_RETURN_IF_ERROR(fresh->loadVerified(options), fresh->source.name);
  package = std::move(fresh);
  return {};
}

// The metadata section, moved to aligned memory when its place in memory is not.
static Status decodeMetadata(const format::ContainerView &view, Program &program) {
  if (view.sections[0].kind != format::SectionKind::Metadata)
    return {SPRIG_RT_BAD_PACKAGE, concat("expected the first section to be metadata, found ",
                                         format::sectionKindName(view.sections[0].kind))};
  for (size_t i = 1; i < view.sections.size(); ++i)
    if (view.sections[i].kind == format::SectionKind::Metadata)
      return {SPRIG_RT_BAD_PACKAGE, concat("expected one metadata section, found another at ", i)};
  std::span<const uint8_t> bytes = view.sections[0].bytes;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0) return decodeProgram(bytes, program);
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return decodeProgram({reinterpret_cast<const uint8_t *>(aligned.data()), bytes.size()}, program);
}

static Status sectionSizes(const format::ContainerView &view, SectionSizes &sizes) {
  for (size_t i = 0; i < view.sections.size(); ++i) {
    const format::Section &section = view.sections[i];
    sizes.bytes.push_back(section.size);
    sizes.isImage.push_back(section.kind == format::SectionKind::Image);
    if (section.kind != format::SectionKind::Constants) continue;
    if (sizes.constants >= 0)
      return {SPRIG_RT_BAD_PACKAGE, concat("expected one constants section, found ", sizes.constants, " and ", i)};
    sizes.constants = int(i);
  }
  return {};
}

Status Package::loadVerified(const LoadOptions &options) {
  fileSize = source.bytes.size();
  if (format::ContainerError error = format::readContainer(source.bytes, view); error.failed)
    return {error.newer ? SPRIG_RT_UNSUPPORTED : SPRIG_RT_BAD_PACKAGE, std::move(error.message)};
  SectionSizes sizes;
  SPRIG_RETURN_IF_ERROR(sectionSizes(view, sizes));
  SPRIG_RETURN_IF_ERROR(decodeMetadata(view, decoded), "metadata");
  // A program that names nonsense is told of that, below, rather than of a device that is not there.
  Status opened = openDevices(decoded, options.device, devices);
  bool simulated = opened.isOk() && !executes();
  MemoryLimits limits;
  if (!simulated) limits.all = options.memoryLimit ? options.memoryLimit : usableMemory();
  // What a package has a reason to repeat is far smaller; who means more says how much.
  constexpr uint64_t kRepeated = uint64_t(4) << 30;
  if (!simulated) limits.repeated = options.memoryLimit ? options.memoryLimit : kRepeated;
  SPRIG_RETURN_IF_ERROR(verifyDevices(decoded));
  SPRIG_RETURN_IF_ERROR(verifyProgram(decoded, sizes, limits));
  SPRIG_RETURN_IF_ERROR(std::move(opened));
  for (const auto &device : devices) onHost &= device->sharesHostMemory();
  SPRIG_RETURN_IF_ERROR(openLinks(options));
  SPRIG_RETURN_IF_ERROR(loadCode(options));
  placeStates();
  SPRIG_RETURN_IF_ERROR(placeConstants(options));
  measure();
  if (options.log) {
    std::string text = concat(source.name, ": ", decoded.entries.size(), " entries, runs on ", isa());
    options.log(options.logUser, SPRIG_RT_LOG_INFO, text.c_str());
  }
  return {};
}

Status Package::loadCode(const LoadOptions &options) {
  for (uint32_t i = 0; i < devices.size(); ++i) {
    // Shares of the processor run one image.
    auto isSame = [&](const std::shared_ptr<Device> &other) {
      return other == devices[i] || (other->sharesHostMemory() && other->kind() == devices[i]->kind());
    };
    auto same = std::find_if(devices.begin(), devices.begin() + i, isSame);
    std::shared_ptr<const DeviceCode> code;
    if (same != devices.begin() + i)
      code = codes[size_t(same - devices.begin())];
    else
      SPRIG_RETURN_IF_ERROR(devices[i]->load({decoded, view.sections, decoded.devices[i].codeKind, options.cpu}, code));
    codes.push_back(std::move(code));
  }
  return {};
}

Status Package::openLinks(const LoadOptions &options) {
  if (options.links.empty()) return {};
  SPRIG_RETURN_IF_ERROR(Links::make(options.links, devices, givenLinks));
  std::vector<std::string> unused;
  SPRIG_RETURN_IF_ERROR(givenLinks.use(decoded, devices, unused));
  for (const std::string &link : unused)
    if (options.log)
      options.log(options.logUser, SPRIG_RT_LOG_WARNING,
                  concat(source.name, ": link ", link, ": no copy of this program goes over it").text().c_str());
  return {};
}

// A state lies on one device, in all entries.
void Package::placeStates() {
  stateDevices.assign(decoded.states.size(), 0);
  for (const Entry &entry : decoded.entries)
    for (const Buffer &buffer : entry.buffers)
      if (buffer.kind == BufferKind::State) stateDevices[buffer.index] = buffer.device;
}

Status Package::instantiate(Pool &pool, std::unique_ptr<Executable> &executable) const {
  bool alike =
      std::all_of(devices.begin(), devices.end(), [&](auto &each) { return each->kind() == devices[0]->kind(); });
  if (alike) SPRIG_RETURN_IF_ERROR(devices.front()->instantiate(*this, pool, executable));
  if (!executable) executable = std::make_unique<LaneExecutable>(*this, pool);
  return {};
}

static void fillSplat(std::span<const uint8_t> element, uint8_t *target, uint64_t size) {
  if (std::all_of(element.begin(), element.end(), [&](uint8_t byte) { return byte == element[0]; })) {
    std::memset(target, element[0], size);
    return;
  }
  // Doubling keeps this a few large copies.
  uint64_t filled = std::min<uint64_t>(element.size(), size);
  std::memcpy(target, element.data(), filled);
  while (filled < size) {
    uint64_t step = std::min(filled, size - filled);
    std::memcpy(target + filled, target, step);
    filled += step;
  }
}

Status Package::fillConstant(const Constant &constant, uint8_t *target) const {
  if (!constant.expansion) {
    fillSplat(constant.splat, target, constant.size);
    return {};
  }
  const format::Expansion &expansion = *constant.expansion;
  if (format::expand(expansion, constantBytes.subspan(expansion.offset, expansion.size), {target, constant.size}))
    return {};
  return {SPRIG_RT_BAD_PACKAGE, concat("constant '", constant.name, "': expected a stream of ", constant.size,
                                       " bytes, found a damaged one")};
}

static uint64_t aligned(uint64_t bytes) {
  return (bytes + format::kBufferAlignment - 1) & ~uint64_t(format::kBufferAlignment - 1);
}

// Whether little of the section is read once what is made of it has been: then that is copied, and the rest let go.
bool Package::isMostlyMade(std::span<const uint8_t> section) const {
  uint64_t plain = 0;
  for (const Constant &constant : decoded.constants) {
    if (!constant.isRead && constant.size) return false; // what a state starts from is read again
    if (!constant.isMade()) plain += aligned(constant.size);
  }
  return (onHost || !executes()) && plain < section.size() / 2;
}

// Those that are read on the host, together: what is large lies in huge pages.
Status Package::makeConstants(bool readHere, bool withPlain) {
  auto isPlaced = [&](const Constant &constant) {
    return executes() && constant.size && constant.isRead && readHere && (withPlain || constant.isMade());
  };
  uint64_t bytes = 0, at = 0;
  for (const Constant &constant : decoded.constants) bytes += isPlaced(constant) ? aligned(constant.size) : 0;
  if (bytes == 0) return {};
  Block block;
  SPRIG_RETURN_IF_ERROR(Block::make(memory, bytes, "constants that are made at load", block));
  for (size_t i = 0; i < decoded.constants.size(); ++i) {
    const Constant &constant = decoded.constants[i];
    if (!isPlaced(constant)) continue;
    if (constant.isMade())
      SPRIG_RETURN_IF_ERROR(fillConstant(constant, block.data() + at));
    else
      std::memcpy(block.data() + at, constantBytes.data() + constant.offset, constant.size);
    hostConstants[i] = block.data() + at;
    at += aligned(constant.size);
  }
  ownConstants.push_back(std::move(block));
  return {};
}

Status Package::copyConstants(std::span<const uint8_t> &section) {
  Block copy;
  SPRIG_RETURN_IF_ERROR(Block::make(memory, section.size(), "constants", copy));
  std::memcpy(copy.data(), section.data(), section.size());
  section = {copy.data(), section.size()};
  ownConstants.push_back(std::move(copy));
  return {};
}

Status Package::placeConstants(const LoadOptions &options) {
  static constexpr uint8_t kNothing alignas(format::kBufferAlignment)[format::kBufferAlignment] = {};
  std::span<const uint8_t> section;
  for (const format::Section &candidate : view.sections)
    if (candidate.kind == format::SectionKind::Constants) section = candidate.bytes;
  // Kernels rely on the alignment, which a caller's memory may lack. And what is large is copied to huge pages: a batch
  // of one streams through all weights, and misses in the tables of small pages cost up to three quarters of the speed.
  bool isAligned = reinterpret_cast<uintptr_t>(section.data()) % format::kBufferAlignment == 0;
  bool faster = !options.mapConstants && memory.givesHugePages(section.size());
  bool readHere =
      executes() && std::any_of(devices.begin(), devices.end(), [](auto &each) { return each->sharesHostMemory(); });
  bool gathered = !options.mapConstants && isMostlyMade(section);
  bool inPlace = gathered || section.empty() || !readHere || (isAligned && !faster);
  constantsCopied = !section.empty() && (gathered || (executes() ? !inPlace : faster));
  keptBytes = section.size();
  if (!inPlace) SPRIG_RETURN_IF_ERROR(copyConstants(section));
  constantBytes = section;
  for (const Constant &constant : decoded.constants) {
    if (!executes() || constant.size == 0) {
      hostConstants.push_back(kNothing);
    } else if (!constant.isMade()) {
      hostConstants.push_back(section.data() + constant.offset);
    } else {
      hostConstants.push_back(nullptr); // what states start from, or other devices read
    }
  }
  SPRIG_RETURN_IF_ERROR(makeConstants(readHere, /*withPlain=*/gathered));
  for (uint32_t device = 0; device < devices.size(); ++device) SPRIG_RETURN_IF_ERROR(placeConstantsOn(device));
  if (gathered) {
    keptBytes = 0;
    for (const Constant &constant : decoded.constants) keptBytes += constant.isMade() ? 0 : aligned(constant.size);
    constantBytes = {};
  }
  bool fileNeeded = inPlace && !gathered && !section.empty() && executes();
  if (!fileNeeded) {
    source = {std::move(source.name), {}, {}, {}, {}};
    for (format::Section &each : view.sections) each.bytes = {};
  }
  return {};
}

// Each device with memory of its own has a copy of what is read there.
Status Package::placeConstantsOn(uint32_t device) {
  if (devices[device]->sharesHostMemory() || !executes()) {
    constants.push_back(hostConstants);
    return {};
  }
  std::vector<const uint8_t *> placed(decoded.constants.size(), nullptr);
  for (const Entry &entry : decoded.entries)
    for (const Buffer &buffer : entry.buffers) {
      if (buffer.kind != BufferKind::Constant || buffer.device != device || placed[buffer.index]) continue;
      const Constant &constant = decoded.constants[buffer.index];
      Memory block;
      SPRIG_RETURN_IF_ERROR(
          devices[device]->allocate(memory, constant.size, concat("constant '", constant.name, "'").text(), block));
      SPRIG_RETURN_IF_ERROR(copyConstant(buffer.index, *devices[device], block.address));
      placed[buffer.index] = block.address;
      deviceConstants.push_back(std::move(block));
    }
  constants.push_back(std::move(placed));
  return {};
}

Status Package::copyConstant(uint32_t index, const Device &device, uint8_t *target) const {
  const Constant &constant = decoded.constants[index];
  if (constant.size == 0) return {};
  if (hostConstants[index]) return upload(device, target, hostConstants[index], constant.size);
  if (device.sharesHostMemory()) return fillConstant(constant, target);
  Block block;
  SPRIG_RETURN_IF_ERROR(Block::make(memory, constant.size, concat("constant '", constant.name, "'").text(), block));
  SPRIG_RETURN_IF_ERROR(fillConstant(constant, block.data()));
  return upload(device, target, block.data(), constant.size);
}

void Package::measure() {
  largestArenas.resize(devices.size());
  for (const Kernel &kernel : decoded.kernels) largestScratch = std::max(largestScratch, kernel.scratch);
  for (const Entry &entry : decoded.entries) {
    for (uint32_t i = 0; i < largestArenas.size(); ++i) largestArenas[i] = std::max(largestArenas[i], entry.arenaOf(i));
    mostLanes = std::max(mostLanes, uint32_t(entry.lanes.size()));
    mostEvents = std::max(mostEvents, entry.eventCount);
    bool parallel = entry.lanes.size() > 1, plain = entry.lanes.size() == 1;
    for (const Lane &lane : entry.lanes)
      for (const Command &command : lane.commands) {
        bool helped = command.kind == CommandKind::Dispatch && command.tiles / 2 >= command.grain;
        parallel |= helped;
        if (command.kind == CommandKind::Dispatch && (helped || entry.lanes.size() > 1))
          largestHelperScratch = std::max(largestHelperScratch, decoded.kernels[command.kernel].scratch);
        plain &= command.kind == CommandKind::Dispatch || command.kind == CommandKind::Copy;
      }
    parallelEntries.push_back(parallel);
    plainEntries.push_back(plain);
    const Device *only = devices[entry.lanes.empty() ? 0 : entry.lanes[0].device].get();
    for (const Lane &lane : entry.lanes)
      if (devices[lane.device].get() != only) only = nullptr;
    for (const Buffer &buffer : entry.buffers)
      if (devices[buffer.device].get() != only) only = nullptr;
    onlyDevices.push_back(only);
  }
}

} // namespace sprig::rt::core
