#include "runtime/device/cpu/CpuCode.h"

#include "runtime/device/cpu/Calls.h"
#include "runtime/machine/DotsOfHalves.h"
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

// Whether code of the program needs a feature that the processor has.
static bool wants(const Program &program, const CpuFeatures &cpu, std::string_view feature) {
  for (const Image &image : program.images)
    for (const std::string &needed : image.features)
      if (needed == feature) return cpu.has(feature);
  return false;
}

// The best image for this processor. The matrix unit, for which the system has to be asked, and the speed of dot
// products are looked at for code that has them alone.
static Status chooseImage(const Program &program, std::string_view limit, uint32_t &index) {
  const CpuFeatures &cpu = cpuFeatures();
  std::string_view refused[2];
  size_t count = 0;
  if (wants(program, cpu, "amx-tile") && !mayUseTiles()) refused[count++] = "amx-tile";
  if (wants(program, cpu, "avx512bf16") && !dotsOfHalvesPay()) {
    refused[count] = "avx512bf16"; // but where nothing else runs
    if (chooseImage(program, cpu, limit, index, {refused, count + 1}).isOk()) return {};
  }
  return chooseImage(program, cpu, limit, index, {refused, count});
}

Status CpuCodeKind::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const {
  auto fresh = std::make_shared<CpuCode>();
  fresh->isa = "none";
  if (!request.program.kernels.empty()) {
    const char *variable = std::getenv("SPRIG_CPU");
    std::string limit = !request.limit.empty() ? request.limit : variable ? variable : "";
    if (limit == "native") limit.clear();
    uint32_t chosen = 0;
    SPRIG_RETURN_IF_ERROR(chooseImage(request.program, limit, chosen));
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
