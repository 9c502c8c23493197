// A file of its own, made quick: loading reads every byte of a package once, by this.
#include "runtime/format/Container.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sprig::rt::format {

uint64_t checksum(std::span<const uint8_t> bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

} // namespace sprig::rt::format
