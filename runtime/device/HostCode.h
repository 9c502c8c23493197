// Code that the host itself can run, by the kind of devices that it was made for: the processor's, and what tests add.
// Null devices take all of it, so that a kind of device whose hardware is not there, or is nowhere, can be played.
#ifndef SPRIG_RUNTIME_DEVICE_HOSTCODE_H
#define SPRIG_RUNTIME_DEVICE_HOSTCODE_H

#include "runtime/device/Device.h"
#include "sprig/rt/kernel.h"

namespace sprig::rt::core {

class HostCode : public DeviceCode {
public:
  // Runs tiles of a kernel, in the default floating-point environment; operands are addresses of the host.
  virtual int32_t run(uint32_t kernel, const sprig_rt_args &args) const = 0;
};

struct TileSpan {
  int64_t begin = 0;
  int64_t end = 0;
};

// Runs tiles of a dispatch, counted from its first one; a kernel that fails tells the run's control. A template, so
// that code that is known to be the processor's is called directly.
template <typename Code>
void runTiles(const Code &code, const Command &command, void *const *operands, TileSpan tiles, uint8_t *scratch,
              RunControl &control) {
  sprig_rt_kernel_status status = {};
  sprig_rt_args args = {operands, command.firstTile + tiles.begin, command.firstTile + tiles.end, scratch, &status};
  if (int32_t result = code.run(command.kernel, args); result != SPRIG_RT_KERNEL_OK) [[unlikely]]
    control.fail(command, status, result, tiles.begin);
}

class HostCodeKind {
public:
  virtual ~HostCodeKind() = default;
  // What Image.kind calls it.
  virtual std::string_view name() const = 0;
  // Checks an image of the kind, `bytes` of which are there, beyond what holds for every kind (Verify.h).
  virtual Status verify(const Image &image, const Program &program, std::span<const uint8_t> bytes) const = 0;
  // Makes code of the best image of the kind that can run here. All of them are verified.
  virtual Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const = 0;
};

// The runtime's own first, then those that were added, in order.
std::span<const HostCodeKind *const> hostCodeKinds();
// For the rest of the process, before anything is loaded; its name must be new.
void addHostCodeKind(std::unique_ptr<const HostCodeKind> kind);

// Loads code of the request's kind where the host can run it, with all images of the kind checked. Without `runs` it is
// only checked, and there is no code.
Status loadHostCode(const CodeRequest &request, bool runs, std::shared_ptr<const DeviceCode> &code);

} // namespace sprig::rt::core

#endif
