// Aligned memory from the embedder's allocator, and files mapped for reading.
#ifndef SPRIG_RUNTIME_BASE_MEMORY_H
#define SPRIG_RUNTIME_BASE_MEMORY_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <utility>

namespace sprig::rt::core {

// The embedder's functions, or the C library's when it gave none.
struct Allocator {
  sprig_rt_allocator hooks = {};
  void *allocate(uint64_t bytes) const;
  void release(void *memory, uint64_t bytes) const;
  // What the system really gives for a block of this size.
  uint64_t granted(uint64_t bytes) const;
  // Whether a block of this size gets large pages, which long streams through memory are several times faster on.
  bool givesHugePages(uint64_t bytes) const;
};

// A 64-byte aligned block that frees itself. Its allocator is copied in.
class Block {
public:
  Block() = default;
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept {
    std::swap(allocator, other.allocator);
    std::swap(memory, other.memory);
    std::swap(bytes, other.bytes);
    std::swap(asked, other.asked);
    return *this;
  }
  ~Block();

  // `what` stands in the message when there is no memory. Zero bytes give a valid, aligned address too.
  static Status make(const Allocator &allocator, uint64_t bytes, std::string_view what, Block &block);
  // Makes it at least so large, of memory from where it has been; what was in it is lost if it moves.
  Status grow(uint64_t bytes, std::string_view what);

  uint8_t *data() const { return static_cast<uint8_t *>(memory); }
  uint64_t size() const { return bytes; }

private:
  Allocator allocator;
  void *memory = nullptr;
  uint64_t bytes = 0;
  uint64_t asked = 0; // before rounding
};

// A whole file, readable until it is destroyed.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(address, other.address);
    std::swap(length, other.length);
    return *this;
  }
  ~MappedFile();

  static Status open(const char *path, MappedFile &file);
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t *>(address), length}; }

private:
  void *address = nullptr;
  size_t length = 0;
};

} // namespace sprig::rt::core

#endif
