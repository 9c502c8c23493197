#include "lib/Machine/Rates.h"
#include "include/sprig/error.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <immintrin.h>
#include <new>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <vector>

namespace sprig::machine {
namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The value is needed, and so is everything that was stored before.
template <typename T> void keep(T value) { asm volatile("" : : "x"(value) : "memory"); }

// Ten independent chains hide the latency of the FMA units.
constexpr int kChains = 10;
// Vectors in flight of a stream.
constexpr int kStreams = 8;

// The same four loops for each width of vectors; a macro because intrinsics of a type are no template.
#define SPRIG_MEASURED_LOOPS(NAME, TARGET, VECTOR, WIDTH, SET1, LOADU, STOREU, ADD, FMA)                               \
  TARGET int64_t fma##NAME(int64_t iterations) {                                                                       \
    VECTOR acc[kChains], a = SET1(1.0000001f), b = SET1(1e-9f);                                                        \
    for (auto &x : acc) x = a;                                                                                         \
    for (int64_t i = 0; i < iterations; ++i) _Pragma("clang loop unroll(full)") for (int c = 0; c < kChains; ++c) {    \
        acc[c] = FMA(acc[c], a, b);                                                                                    \
        asm volatile("" : "+x"(acc[c]));                                                                               \
      }                                                                                                                \
    for (auto &x : acc) keep(x[0]);                                                                                    \
    return iterations * kChains * WIDTH * 2;                                                                           \
  }                                                                                                                    \
  TARGET void read##NAME(const float *data, int64_t count) {                                                           \
    VECTOR acc[kStreams];                                                                                              \
    for (auto &x : acc) x = SET1(0.0f);                                                                                \
    for (int64_t i = 0; i + kStreams * WIDTH <= count; i += kStreams * WIDTH)                                          \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < kStreams; ++c) acc[c] =                                   \
          ADD(acc[c], LOADU(data + i + c * WIDTH));                                                                    \
    for (auto &x : acc) keep(x[0]);                                                                                    \
  }                                                                                                                    \
  TARGET void write##NAME(float *data, int64_t count) {                                                                \
    VECTOR value = SET1(1.0f);                                                                                         \
    asm volatile("" : "+x"(value));                                                                                    \
    for (int64_t i = 0; i + kStreams * WIDTH <= count; i += kStreams * WIDTH)                                          \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < kStreams; ++c) STOREU(data + i + c * WIDTH, value);       \
    keep(value[0]);                                                                                                    \
  }                                                                                                                    \
  TARGET void copy##NAME(const float *from, float *to, int64_t count) {                                                \
    for (int64_t i = 0; i + kStreams * WIDTH <= count; i += kStreams * WIDTH)                                          \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < kStreams; ++c)                                            \
          STOREU(to + i + c * WIDTH, LOADU(from + i + c * WIDTH));                                                     \
    asm volatile("" : : "r"(to) : "memory");                                                                           \
  }

#define SPRIG_MUL_ADD(x, a, b) _mm_add_ps(_mm_mul_ps(x, a), b)
SPRIG_MEASURED_LOOPS(512, __attribute__((target("avx512f"))), __m512, 16, _mm512_set1_ps, _mm512_loadu_ps,
                     _mm512_storeu_ps, _mm512_add_ps, _mm512_fmadd_ps)
SPRIG_MEASURED_LOOPS(256, __attribute__((target("avx2,fma"))), __m256, 8, _mm256_set1_ps, _mm256_loadu_ps,
                     _mm256_storeu_ps, _mm256_add_ps, _mm256_fmadd_ps)
SPRIG_MEASURED_LOOPS(128, , __m128, 4, _mm_set1_ps, _mm_loadu_ps, _mm_storeu_ps, _mm_add_ps, SPRIG_MUL_ADD)

struct Loops {
  int64_t (*fma)(int64_t);
  void (*read)(const float *, int64_t);
  void (*write)(float *, int64_t);
  void (*copy)(const float *, float *, int64_t);
};

const Loops &loops() {
  static const Loops chosen = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return Loops{fma512, read512, write512, copy512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return Loops{fma256, read256, write256, copy256};
    return Loops{fma128, read128, write128, copy128};
  }();
  return chosen;
}

// Passes over a buffer that fill a round of some hundred microseconds.
int64_t passesOf(int64_t bytes) {
  return std::clamp<int64_t>((int64_t(16) << 20) / std::max<int64_t>(bytes, 1), 1, 1 << 16);
}
constexpr int kRounds = 24;

} // namespace

MeasuredMemory::MeasuredMemory(int64_t bytes) {
  constexpr int64_t kLarge = 2 << 20;
  int64_t alignment = bytes >= kLarge ? kLarge : 4096;
  size = (bytes + alignment - 1) / alignment * alignment;
  memory.reset(static_cast<char *>(std::aligned_alloc(size_t(alignment), size_t(size))));
  if (!memory) throw std::bad_alloc();
  if (alignment == kLarge) madvise(memory.get(), size_t(size), MADV_HUGEPAGE);
  std::fill_n(as<float>(), size / int64_t(sizeof(float)), 1.0f);
}

PinnedThread::PinnedThread(int which) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::memcpy(before.data(), &allowed, sizeof allowed);
  which %= std::max(CPU_COUNT(&allowed), 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || which-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    return;
  }
}

PinnedThread::~PinnedThread() {
  cpu_set_t allowed;
  std::memcpy(&allowed, before.data(), sizeof allowed);
  if (pinned) sched_setaffinity(0, sizeof allowed, &allowed);
}

double quickestRound(int threads, int rounds, const std::function<void(int)> &work) {
  if (threads <= 1) {
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) {
      auto start = Clock::now();
      work(0);
      best = std::min(best, secondsSince(start));
    }
    return best;
  }
  // Threads meet before and after each round; the first one holds the clock.
  std::atomic<int64_t> arrived{0};
  double best = 1e30;
  auto meet = [&](int64_t number) {
    arrived.fetch_add(1);
    for (int64_t spins = 0; arrived.load() < number * threads; ++spins)
      // Where processors are fewer or busy, the others need this one.
      spins < 20000 ? _mm_pause() : std::this_thread::yield();
  };
  std::atomic<int> begun{0}; // 1: all threads are there; -1: one could not be started
  auto body = [&](int thread) {
    begun.wait(0);
    if (begun < 0) return;
    PinnedThread pin(thread);
    for (int64_t round = 0; round < rounds; ++round) {
      // Before the others are known to be there: taken afterwards, a thread that lost its processor here would miss its
      // turn.
      auto start = Clock::now();
      meet(2 * round + 1);
      work(thread);
      meet(2 * round + 2);
      if (thread == 0) best = std::min(best, secondsSince(start));
    }
  };
  std::vector<std::thread> others;
  std::exception_ptr failure;
  try {
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
  } catch (const std::system_error &error) {
    failure =
        std::make_exception_ptr(Error(ErrorKind::runtime, "measuring on " + std::to_string(threads) +
                                                              " threads: one cannot be started: " + error.what()));
  }
  begun = failure ? -1 : 1;
  begun.notify_all();
  if (!failure) body(0);
  for (auto &other : others) other.join();
  if (failure) std::rethrow_exception(failure);
  return best;
}

double fmaRate(int threads) {
  constexpr int64_t kIterations = 1 << 17;
  int64_t flops = loops().fma(kIterations); // wakes the wide units up
  return double(flops) * threads / quickestRound(threads, 48 * threads, [](int) { loops().fma(kIterations); });
}

double streamRate(Stream kind, int64_t bytesPerThread, int threads) {
  // A copy's source and target share the working set.
  int64_t bytes = kind == Stream::copy ? bytesPerThread / 2 : bytesPerThread;
  int64_t count = std::max<int64_t>(bytes / int64_t(sizeof(float)) / 128 * 128, 128);
  std::vector<MeasuredMemory> sources, targets;
  for (int thread = 0; thread < threads; ++thread) {
    sources.emplace_back(count * int64_t(sizeof(float)));
    if (kind == Stream::copy) targets.emplace_back(count * int64_t(sizeof(float)));
  }
  // A round is short, so that some are undisturbed: several passes over a small set, a part of a large one after the
  // other.
  int64_t parts = std::max<int64_t>(bytesPerThread / (int64_t(16) << 20), 1);
  int64_t partCount = count / parts / 128 * 128, passes = passesOf(bytesPerThread);
  int rounds = int(parts > 1 ? 2 * parts : kRounds) * (threads > 1 ? 3 : 1);
  std::vector<int64_t> turns(size_t(threads) * 16, 0); // of each thread, on lines of their own
  double seconds = quickestRound(threads, rounds, [&](int thread) {
    int64_t first = turns[size_t(thread) * 16]++ % parts * partCount;
    float *data = sources[size_t(thread)].as<float>() + first;
    for (int64_t pass = 0; pass < passes; ++pass) switch (kind) {
      case Stream::read: loops().read(data, partCount); break;
      case Stream::write: loops().write(data, partCount); break;
      case Stream::copy: loops().copy(data, targets[size_t(thread)].as<float>() + first, partCount); break;
      }
  });
  double moved = double(partCount) * sizeof(float) * (kind == Stream::copy ? 2 : 1);
  return moved * double(passes) * threads / seconds;
}

double readRateAtOffset(int64_t bytes, int64_t offset) {
  int64_t count = std::max<int64_t>(bytes / int64_t(sizeof(float)) / 128 * 128, 128);
  MeasuredMemory memory(count * int64_t(sizeof(float)) + 64);
  int64_t passes = passesOf(bytes);
  const float *data = reinterpret_cast<const float *>(memory.data() + offset);
  double seconds = quickestRound(1, kRounds, [&](int) {
    for (int64_t pass = 0; pass < passes; ++pass) loops().read(data, count);
  });
  return double(count) * sizeof(float) * double(passes) / seconds;
}

} // namespace sprig::machine
