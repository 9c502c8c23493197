#include "runtime/load/Verify.h"

#include <algorithm>
#include <map>

namespace sprig::rt::core {

namespace {

// The most threads that any GPU runs in a block, and blocks in a grid.
constexpr uint32_t kMaxThreads = 1024;
constexpr int64_t kMaxBlocks = INT32_MAX;

// Of each kernel, whether a device that runs code of the kind may be given it: any, in a package for one kind.
std::vector<bool> kernelsOf(std::string_view kind, const Program &program) {
  auto runs = [&](const DeviceName &device) { return device.codeKind == kind; };
  if (std::all_of(program.devices.begin(), program.devices.end(), runs))
    return std::vector<bool>(program.kernels.size(), true);
  std::vector<bool> kernels(program.kernels.size(), false);
  for (const Entry &entry : program.entries)
    for (const Lane &lane : entry.lanes)
      for (const Command &command : lane.commands)
        if (command.kind == CommandKind::Dispatch && runs(program.devices[lane.device])) kernels[command.kernel] = true;
  return kernels;
}

Status verifySymbols(const Image &image, const Program &program, const std::vector<bool> &needed) {
  if (!image.entryPoints.empty() || !image.launches.empty())
    return badPackage(concat("expected symbols, as of all code for ", image.kind, ", found ", image.entryPoints.size(),
                             " entry points and ", image.launches.size(), " launches"));
  if (image.symbols.size() != program.kernels.size() || image.symbolSizes.size() != program.kernels.size())
    return badPackage(concat("expected ", program.kernels.size(), " kernel symbols and sizes, found ",
                             image.symbols.size(), " and ", image.symbolSizes.size()));
  for (size_t i = 0; i < image.symbols.size(); ++i) {
    std::string name = concat("kernel '", program.kernels[i].name, "'");
    if (image.symbolSizes[i] == 0 && !needed[i]) continue;
    if (image.symbolSizes[i] == 0) return badPackage(concat(name, " has no code"));
    uint64_t offset = image.symbols[i], size = image.symbolSizes[i];
    if (offset > image.codeSize || size > image.codeSize - offset)
      return badPackage(
          concat(name, ": code: ", size, " bytes at offset ", offset, " leave its ", image.codeSize, " bytes"));
  }
  return {};
}

Status verifyEntryPoints(const Image &image, const Program &program, const std::vector<bool> &needed) {
  if (!image.symbols.empty() || !image.symbolSizes.empty())
    return badPackage(concat("expected entry points, as of all code for ", image.kind, ", found ", image.symbols.size(),
                             " symbols and ", image.symbolSizes.size(), " sizes"));
  if (image.entryPoints.size() != program.kernels.size() || image.launches.size() != program.kernels.size())
    return badPackage(concat("expected ", program.kernels.size(), " entry points and launches of kernels, found ",
                             image.entryPoints.size(), " and ", image.launches.size()));
  for (size_t i = 0; i < image.entryPoints.size(); ++i) {
    if (image.entryPoints[i].empty() && !needed[i]) continue;
    std::string name = concat("kernel '", program.kernels[i].name, "'");
    if (image.entryPoints[i].empty()) return badPackage(concat(name, " has no code"));
    if (image.entryPoints[i].find('\0') != std::string::npos)
      return badPackage(concat(name, ": its entry point has a zero byte in its name"));
    if (uint32_t threads = image.launches[i].threads; threads < 1 || threads > kMaxThreads)
      return badPackage(concat(name, ": expected blocks of 1 to ", kMaxThreads, " threads, found ", threads));
  }
  return {};
}

Status verifyImage(const Image &image, const Program &program, const SectionSizes &sections,
                   const std::vector<bool> &needed) {
  if (image.section >= sections.bytes.size() || !sections.isImage[image.section])
    return badPackage(
        concat("expected an image section of the file's ", sections.bytes.size(), " sections, found ", image.section));
  if (uint64_t size = sections.bytes[image.section]; image.codeSize > size)
    return badPackage(concat("code: ", image.codeSize, " bytes at offset 0 leave its ", size, " bytes"));
  return image.kind == kCudaKind ? verifyEntryPoints(image, program, needed) : verifySymbols(image, program, needed);
}

// Blocks are tiles, and the first one is a number of 32 bits.
Status verifyGrids(const Program &program) {
  for (const Entry &entry : program.entries)
    for (size_t lane = 0; lane < entry.lanes.size(); ++lane) {
      if (program.devices[entry.lanes[lane].device].codeKind != kCudaKind) continue;
      for (size_t i = 0; i < entry.lanes[lane].commands.size(); ++i) {
        const Command &command = entry.lanes[lane].commands[i];
        if (command.kind == CommandKind::Dispatch && command.firstTile + command.tiles > kMaxBlocks)
          return badPackage(concat("entry '", entry.name, "': lane ", lane, " command ", i, " '", command.name,
                                   "': expected tiles up to ", kMaxBlocks, " on ", kCudaKind, ", found ", command.tiles,
                                   " from ", command.firstTile, " on"));
      }
    }
  return {};
}

} // namespace

Status verifyImages(const Program &program, const SectionSizes &sections) {
  std::map<std::string_view, std::vector<bool>> needed;
  for (const DeviceName &device : program.devices)
    if (auto [place, fresh] = needed.try_emplace(device.codeKind); fresh)
      place->second = kernelsOf(device.codeKind, program);
  for (size_t i = 0; i < program.images.size(); ++i) {
    const Image &image = program.images[i];
    auto found = needed.find(image.kind);
    if (found == needed.end())
      return badPackage(concat("image ", i, " for ", image.isa, ": is for devices of kind '", image.kind,
                               "', of which the program has none"));
    SPRIG_RETURN_IF_ERROR(verifyImage(image, program, sections, found->second),
                          concat("image ", i, " for ", image.isa));
  }
  return verifyGrids(program);
}

} // namespace sprig::rt::core
