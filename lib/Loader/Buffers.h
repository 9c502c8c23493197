// Memory of batches: 64-byte aligned, used again when the last tensor of a batch is gone.
// For the loader and for fields. Any thread may give memory back, after the loader's end too.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sprig::data {

/// What an array of so many bytes takes: as much as Tensor::adopt wants to find.
int64_t paddedBytes(int64_t bytes);

/// Throws Error (runtime) where there is no memory.
std::shared_ptr<void> allocateAligned(int64_t bytes); // paddedBytes of them

class Buffers : public std::enable_shared_from_this<Buffers> {
public:
  /// Keeps at most this many blocks that nobody uses.
  explicit Buffers(size_t most) : most(most) {}
  ~Buffers();
  std::shared_ptr<void> take(int64_t bytes);
  /// Blocks that were allocated, ever.
  int64_t allocated() const;

private:
  struct Block {
    void *memory;
    int64_t bytes;
  };
  void giveBack(Block block);

  const size_t most;
  mutable std::mutex mutex;
  std::vector<Block> unused; ///< the oldest first
  int64_t count = 0;
};

} // namespace sprig::data
