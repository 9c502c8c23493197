#include "runtime/device/cpu/CpuCode.h"

#include "runtime/device/cpu/Calls.h"
#include "runtime/machine/Machine.h"

#include <algorithm>
#include <cstdlib>

namespace sprig::rt::core {

class CpuCodeKind final : public HostCodeKind {
public:
  std::string_view name() const override { return "cpu"; }
  Status verify(const Image &image, const Program &program, std::span<const uint8_t> bytes) const override;
  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override;
};

const HostCodeKind &cpuCodeKind() {
  static const CpuCodeKind kind;
  return kind;
}

// Slots that the loader writes lie behind the code, each 8 bytes of its own.
Status CpuCodeKind::verify(const Image &image, const Program &, std::span<const uint8_t> bytes) const {
  auto badSlot = [](const ImageImport &import, auto... what) {
    return Status(SPRIG_RT_BAD_PACKAGE, concat("slot of '", import.call, "': ", what...));
  };
  std::vector<uint64_t> slots;
  for (const ImageImport &import : image.imports) {
    if (!findRuntimeCall(import.call))
      return {SPRIG_RT_UNSUPPORTED, concat("calls '", import.call, "', which this runtime does not offer")};
    if (import.slot % 8 || import.slot < image.codeSize)
      return badSlot(import, "expected a multiple of 8 from ", image.codeSize, " on, found ", import.slot);
    if (bytes.size() < 8 || import.slot > bytes.size() - 8)
      return badSlot(import, "8 bytes at offset ", import.slot, " leave its ", bytes.size(), " bytes");
    slots.push_back(import.slot);
  }
  std::sort(slots.begin(), slots.end());
  if (auto twice = std::adjacent_find(slots.begin(), slots.end()); twice != slots.end())
    return {SPRIG_RT_BAD_PACKAGE, concat("two calls share the slot at ", *twice)};
  return {};
}

// What the processor has, without the matrix unit where the system keeps it from this process; it is only asked for
// code that needs it.
static CpuFeatures usableFeatures(const Program &program) {
  CpuFeatures usable = cpuFeatures();
  auto isOfTiles = [](std::string_view feature) { return feature.starts_with("amx-"); };
  auto needsTiles = [&](const Image &image) {
    return std::any_of(image.features.begin(), image.features.end(), isOfTiles);
  };
  if (std::any_of(program.images.begin(), program.images.end(), needsTiles) && usable.has("amx-tile") && !mayUseTiles())
    std::erase_if(usable.features, isOfTiles);
  return usable;
}

Status CpuCodeKind::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const {
  auto fresh = std::make_shared<CpuCode>();
  fresh->isa = "none";
  if (!request.program.kernels.empty()) {
    const char *variable = std::getenv("SPRIG_CPU");
    std::string limit = !request.limit.empty() ? request.limit : variable ? variable : "";
    if (limit == "native") limit.clear();
    uint32_t chosen = 0;
    SPRIG_RETURN_IF_ERROR(chooseImage(request.program, usableFeatures(request.program), limit, chosen));
    const Image &image = request.program.images[chosen];
    SPRIG_RETURN_IF_ERROR(CodeImage::map(image, request.sections[image.section].bytes, fresh->mapped));
    fresh->mapped.announce(image, request.program.kernels);
    fresh->image = int(chosen);
    fresh->isa = image.isa;
  }
  code = std::move(fresh);
  return {};
}

} // namespace sprig::rt::core
