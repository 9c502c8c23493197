#include "runtime/device/null/NullMemory.h"

#include <cstring>
#include <sys/mman.h>

namespace sprig::rt::core {

namespace {
constexpr int kPoison = 0xff;
constexpr uint64_t kPage = 4096;
} // namespace

Status NullMemory::allocate(const Allocator &allocator, uint32_t device, uint64_t bytes, std::string_view what,
                            Memory &memory) {
  Range range{device, bytes, 0, {}};
  SPRIG_RETURN_IF_ERROR(Block::make(allocator, bytes, what, range.real), concat("null:", device));
  std::memset(range.real.data(), kPoison, bytes);
  // A page more, so that the end of one range is no address of the next.
  range.reserved = (bytes / kPage + 2) * kPage;
  void *address = mmap(nullptr, range.reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return {SPRIG_RT_OUT_OF_MEMORY, concat("null:", device, ": no addresses for ", bytes, " bytes of ", what)};
  memory.address = static_cast<uint8_t *>(address);
  memory.owner = std::shared_ptr<void>(
      address, [self = shared_from_this()](void *freed) { self->release(static_cast<uint8_t *>(freed)); });
  std::lock_guard guard(lock);
  ranges.emplace(reinterpret_cast<uintptr_t>(address), std::move(range));
  return {};
}

// A command that comes later finds no memory there.
void NullMemory::release(uint8_t *address) {
  std::lock_guard guard(lock);
  auto found = ranges.find(reinterpret_cast<uintptr_t>(address));
  std::memset(found->second.real.data(), kPoison, found->second.bytes);
  munmap(address, found->second.reserved);
  ranges.erase(found);
}

Status NullMemory::translate(const void *address, uint64_t bytes, uint32_t device, std::string_view what,
                             uint8_t *&real) const {
  std::lock_guard guard(lock);
  auto at = reinterpret_cast<uintptr_t>(address);
  auto after = ranges.upper_bound(at);
  if (after != ranges.begin()) {
    const auto &[begin, range] = *std::prev(after);
    uint64_t offset = at - begin;
    if (offset <= range.bytes) {
      if (range.device != device)
        return {SPRIG_RT_INTERNAL, concat(what, " lies on null:", range.device, ", expected it on null:", device)};
      if (bytes != UINT64_MAX && bytes > range.bytes - offset)
        return {SPRIG_RT_INTERNAL,
                concat(what, " has ", range.bytes - offset, " bytes on null:", device, ", expected ", bytes)};
      real = range.real.data() + offset;
      return {};
    }
  }
  return {SPRIG_RT_INTERNAL, concat(what, " is no memory of null:", device, ": the host's, or given back")};
}

} // namespace sprig::rt::core
