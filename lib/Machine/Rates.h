// Rates of work and of streams through memory, measured: the loops of calibration and `sprig bench memory`.
// Each takes the best of short rounds, so that another process costs accuracy only when it never pauses. All memory is
// written before it is timed, and no loop can be removed by the compiler.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sprig::machine {

/// Memory for measuring: 64-byte aligned, in large pages where there is room for one, filled.
class MeasuredMemory {
public:
  explicit MeasuredMemory(int64_t bytes);
  char *data() const { return memory.get(); }
  template <typename T> T *as() const { return reinterpret_cast<T *>(memory.get()); }
  int64_t bytes() const { return size; }

private:
  struct Free {
    void operator()(char *p) const { std::free(p); }
  };
  std::unique_ptr<char[], Free> memory;
  int64_t size = 0;
};

/// Keeps the calling thread on one of the processors that it may use while this lives: threads that begin together
/// would share one for milliseconds otherwise.
class PinnedThread {
public:
  explicit PinnedThread(int which);
  ~PinnedThread();
  PinnedThread(const PinnedThread &) = delete;

private:
  std::array<char, 128> before = {}; ///< a cpu_set_t
  bool pinned = false;
};

/// Seconds of the quickest of `rounds`. A round runs `work(thread)` on that many threads, which start together, each on
/// its own processor.
double quickestRound(int threads, int rounds, const std::function<void(int thread)> &work);

/// f32 FLOP/s of fused multiply-adds (of separate ones where there is no such instruction), all threads together.
double fmaRate(int threads);

enum class Stream {
  read,  ///< loads and adds
  write, ///< stores
  copy,  ///< bytes read and bytes written both count
};
/// Bytes/s of all threads together, each over a buffer of its own.
double streamRate(Stream kind, int64_t bytesPerThread, int threads);
/// Bytes/s of one thread that reads vectors from `offset` bytes after an aligned address on.
double readRateAtOffset(int64_t bytes, int64_t offset);

} // namespace sprig::machine
