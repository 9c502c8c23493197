#include "runtime/base/Memory.h"

#include "runtime/base/MemoryCount.h"
#include "runtime/base/Uninterrupted.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sprig::rt::core {

static constexpr size_t kAlignment = 64;

// Below this the tables of small pages fit the processor's caches.
static constexpr uint64_t kHugePage = 2 << 20;
static constexpr uint64_t kHugeBlock = 2 * kHugePage;

static bool systemOffersHugePages() {
  static const bool offers = [] {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string modes;
    return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
  }();
  return offers;
}

bool Allocator::givesHugePages(uint64_t bytes) const {
  return !hooks.allocate && bytes >= kHugeBlock && systemOffersHugePages();
}

uint64_t Allocator::granted(uint64_t bytes) const {
  return givesHugePages(bytes) && bytes < UINT64_MAX - kHugePage ? (bytes + kHugePage - 1) / kHugePage * kHugePage
                                                                 : bytes;
}

void *Allocator::allocate(uint64_t bytes) const {
  if (hooks.allocate) return hooks.allocate(hooks.user, bytes, kAlignment);
  if (givesHugePages(bytes) && bytes < UINT64_MAX - kHugePage) {
    uint64_t rounded = granted(bytes);
    void *memory = std::aligned_alloc(kHugePage, rounded);
    // Advice only: without it the memory is as good, just slower.
    if (memory) madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
  }
  return std::aligned_alloc(kAlignment, bytes);
}

void Allocator::release(void *memory, uint64_t bytes) const {
  if (hooks.allocate) return hooks.release ? hooks.release(hooks.user, memory, bytes) : void();
  std::free(memory);
}

Block::~Block() {
  if (!memory) return;
  countReleased(asked, allocator.granted(bytes));
  allocator.release(memory, bytes);
}

Status Block::make(const Allocator &allocator, uint64_t bytes, std::string_view what, Block &block) {
  if (bytes > UINT64_MAX - kAlignment)
    return {SPRIG_RT_OUT_OF_MEMORY, concat("no memory for ", what, " of ", bytes, " bytes")};
  uint64_t rounded = std::max<uint64_t>((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  void *memory = allocator.allocate(rounded);
  if (!memory) return {SPRIG_RT_OUT_OF_MEMORY, concat("no memory for ", what, " of ", bytes, " bytes")};
  if (reinterpret_cast<uintptr_t>(memory) % kAlignment) {
    allocator.release(memory, rounded);
    return {SPRIG_RT_INVALID_ARGUMENT, concat("the given allocator ignores the alignment of ", kAlignment, " bytes")};
  }
  Block fresh;
  fresh.allocator = allocator;
  fresh.memory = memory;
  fresh.bytes = rounded;
  fresh.asked = bytes;
  countAllocated(bytes, allocator.granted(rounded));
  block = std::move(fresh);
  return {};
}

Status Block::grow(uint64_t least, std::string_view what) {
  if (memory && bytes >= least) return {};
  Block larger;
  SPRIG_RETURN_IF_ERROR(make(allocator, least, what, larger));
  *this = std::move(larger);
  return {};
}

MappedFile::~MappedFile() {
  if (!address) return;
  munmap(address, length);
  countMapped(-int64_t(length));
}

Status MappedFile::open(const char *path, MappedFile &file) {
  // A pipe is not waited for.
  int descriptor = uninterrupted([path] { return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor < 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR;
    return {missing ? SPRIG_RT_NOT_FOUND : SPRIG_RT_IO_ERROR, concat("cannot open: ", std::strerror(errno))};
  }
  struct stat info = {};
  Status status;
  if (fstat(descriptor, &info) != 0)
    status = Status(SPRIG_RT_IO_ERROR, concat("cannot read: ", std::strerror(errno)));
  else if (!S_ISREG(info.st_mode))
    status = Status(SPRIG_RT_IO_ERROR, "expected a regular file");
  else if (info.st_size > 0) {
    void *address = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
      status = Status(SPRIG_RT_IO_ERROR, concat("cannot map: ", std::strerror(errno)));
    else {
      MappedFile fresh;
      fresh.address = address;
      fresh.length = size_t(info.st_size);
      countMapped(info.st_size);
      file = std::move(fresh);
    }
  }
  close(descriptor);
  return status;
}

} // namespace sprig::rt::core
