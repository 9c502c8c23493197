#include "lib/Loader/Buffers.h"
#include "sprig/error.h"
#include <algorithm>
#include <cstdlib>
#include <string>

namespace sprig::data {
namespace {

constexpr int64_t kAlignment = 64;

void *allocate(int64_t bytes) {
  void *memory = std::aligned_alloc(kAlignment, size_t(bytes));
  if (!memory) runtimeError("out of memory: no " + std::to_string(bytes) + " bytes for data");
  return memory;
}

} // namespace

int64_t paddedBytes(int64_t bytes) {
  return std::max(2 * kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

std::shared_ptr<void> allocateAligned(int64_t bytes) { return {allocate(paddedBytes(bytes)), std::free}; }

Buffers::~Buffers() {
  for (Block block : unused) std::free(block.memory);
}

std::shared_ptr<void> Buffers::take(int64_t bytes) {
  bytes = paddedBytes(bytes);
  Block block = {nullptr, bytes};
  {
    std::lock_guard lock(mutex);
    // An epoch's last batch is smaller: it may take a block of the others, so that the next epoch finds those.
    auto fits = [&](const Block &b) { return b.bytes >= bytes && (!block.memory || b.bytes < block.bytes); };
    size_t found = unused.size();
    for (size_t i = 0; i < unused.size(); ++i)
      if (fits(unused[i])) block = unused[found = i];
    if (found < unused.size())
      unused.erase(unused.begin() + ptrdiff_t(found));
    else
      ++count;
  }
  if (!block.memory) block.memory = allocate(bytes);
  return {block.memory, [self = shared_from_this(), block](void *) { self->giveBack(block); }};
}

void Buffers::giveBack(Block block) {
  Block oldest = block;
  {
    std::lock_guard lock(mutex);
    if (unused.size() < most) {
      unused.push_back(block);
      return;
    }
    if (most) {
      oldest = unused.front();
      std::rotate(unused.begin(), unused.begin() + 1, unused.end());
      unused.back() = block;
    }
  }
  std::free(oldest.memory);
}

int64_t Buffers::allocated() const {
  std::lock_guard lock(mutex);
  return count;
}

} // namespace sprig::data
