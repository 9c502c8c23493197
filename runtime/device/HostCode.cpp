#include "runtime/device/HostCode.h"

#include "runtime/device/cpu/CpuCode.h"

#include <algorithm>

namespace sprig::rt::core {

static std::vector<const HostCodeKind *> &list() {
  static auto &list = *new std::vector<const HostCodeKind *>{&cpuCodeKind()}; // asked in static destructors, too
  return list;
}

std::span<const HostCodeKind *const> hostCodeKinds() { return list(); }

void addHostCodeKind(std::unique_ptr<const HostCodeKind> kind) { list().push_back(kind.release()); }

Status loadHostCode(const CodeRequest &request, bool runs, std::shared_ptr<const DeviceCode> &code) {
  auto kinds = hostCodeKinds();
  auto found = std::find_if(kinds.begin(), kinds.end(), [&](auto *kind) { return kind->name() == request.kind; });
  if (found == kinds.end() && !runs) return {};
  if (found == kinds.end())
    return {SPRIG_RT_UNSUPPORTED, concat("no code for devices of kind '", request.kind, "' runs on the host")};
  for (size_t i = 0; i < request.program.images.size(); ++i) {
    const Image &image = request.program.images[i];
    if (image.kind == request.kind)
      SPRIG_RETURN_IF_ERROR((*found)->verify(image, request.program, request.sections[image.section].bytes),
                            concat("image ", i, " for ", image.isa));
  }
  return runs ? (*found)->load(request, code) : Status();
}

} // namespace sprig::rt::core
