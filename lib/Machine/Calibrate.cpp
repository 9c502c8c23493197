#include "lib/Machine/Calibrate.h"
#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <memory>
#include <numeric>
#include <random>

namespace sprig::machine {
namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Keeps a value alive without storing it.
template <typename T> void keep(T value) { asm volatile("" : : "x"(value)); }

// Ten independent chains hide the latency of the FMA units.
constexpr int kChains = 10;

__attribute__((target("avx512f"))) int64_t fmaLoop512(int64_t iterations) {
  __m512 acc[kChains], a = _mm512_set1_ps(1.0000001f), b = _mm512_set1_ps(1e-9f);
  for (auto &x : acc) x = a;
  for (int64_t i = 0; i < iterations; ++i)
#pragma clang loop unroll(full)
    for (int c = 0; c < kChains; ++c) {
      acc[c] = _mm512_fmadd_ps(acc[c], a, b);
      asm volatile("" : "+v"(acc[c]));
    }
  for (auto &x : acc) keep(x[0]);
  return iterations * kChains * 16 * 2;
}

__attribute__((target("avx2,fma"))) int64_t fmaLoop256(int64_t iterations) {
  __m256 acc[kChains], a = _mm256_set1_ps(1.0000001f), b = _mm256_set1_ps(1e-9f);
  for (auto &x : acc) x = a;
  for (int64_t i = 0; i < iterations; ++i)
#pragma clang loop unroll(full)
    for (int c = 0; c < kChains; ++c) {
      acc[c] = _mm256_fmadd_ps(acc[c], a, b);
      asm volatile("" : "+x"(acc[c]));
    }
  for (auto &x : acc) keep(x[0]);
  return iterations * kChains * 8 * 2;
}

int64_t mulAddLoop128(int64_t iterations) {
  __m128 acc[kChains], a = _mm_set1_ps(1.0000001f), b = _mm_set1_ps(1e-9f);
  for (auto &x : acc) x = a;
  for (int64_t i = 0; i < iterations; ++i)
#pragma clang loop unroll(full)
    for (int c = 0; c < kChains; ++c) {
      acc[c] = _mm_add_ps(_mm_mul_ps(acc[c], a), b);
      asm volatile("" : "+x"(acc[c]));
    }
  for (auto &x : acc) keep(x[0]);
  return iterations * kChains * 4 * 2;
}

__attribute__((target("avx512f"))) void readLoop512(const float *data, int64_t count) {
  __m512 acc[8];
  for (auto &x : acc) x = _mm512_setzero_ps();
  for (int64_t i = 0; i + 128 <= count; i += 128)
#pragma clang loop unroll(full)
    for (int c = 0; c < 8; ++c) acc[c] = _mm512_add_ps(acc[c], _mm512_load_ps(data + i + c * 16));
  for (auto &x : acc) keep(x[0]);
}

__attribute__((target("avx2"))) void readLoop256(const float *data, int64_t count) {
  __m256 acc[8];
  for (auto &x : acc) x = _mm256_setzero_ps();
  for (int64_t i = 0; i + 64 <= count; i += 64)
#pragma clang loop unroll(full)
    for (int c = 0; c < 8; ++c) acc[c] = _mm256_add_ps(acc[c], _mm256_load_ps(data + i + c * 8));
  for (auto &x : acc) keep(x[0]);
}

void readLoop128(const float *data, int64_t count) {
  __m128 acc[8];
  for (auto &x : acc) x = _mm_setzero_ps();
  for (int64_t i = 0; i + 32 <= count; i += 32)
#pragma clang loop unroll(full)
    for (int c = 0; c < 8; ++c) acc[c] = _mm_add_ps(acc[c], _mm_load_ps(data + i + c * 4));
  for (auto &x : acc) keep(x[0]);
}

bool hasFeature(const Cpu &cpu, const char *feature) {
  return std::find(cpu.features.begin(), cpu.features.end(), feature) != cpu.features.end();
}

double measureFma(const Cpu &cpu) {
  auto loop = hasFeature(cpu, "avx512f") ? fmaLoop512 : hasFeature(cpu, "fma") ? fmaLoop256 : mulAddLoop128;
  double best = 0;
  loop(1 << 18); // wakes the wide units up
  for (int round = 0; round < 8; ++round) {
    auto start = Clock::now();
    int64_t flops = loop(1 << 20);
    best = std::max(best, double(flops) / secondsSince(start));
  }
  return best;
}

struct AlignedFree {
  void operator()(void *p) const { std::free(p); }
};
template <typename T> using Buffer = std::unique_ptr<T[], AlignedFree>;
template <typename T> Buffer<T> allocate(int64_t count) {
  size_t bytes = (size_t(count) * sizeof(T) + 4095) / 4096 * 4096;
  return Buffer<T>(static_cast<T *>(std::aligned_alloc(4096, bytes)));
}

double measureRead(const Cpu &cpu, int64_t workingSet) {
  auto loop = hasFeature(cpu, "avx512f") ? readLoop512 : hasFeature(cpu, "avx2") ? readLoop256 : readLoop128;
  int64_t count = workingSet / int64_t(sizeof(float)) / 128 * 128;
  Buffer<float> data = allocate<float>(count);
  if (!data) return 0;
  std::fill(data.get(), data.get() + count, 1.0f);
  int64_t repeats = std::max<int64_t>(1, (int64_t(64) << 20) / workingSet);
  double best = 0;
  for (int round = 0; round < 6; ++round) {
    auto start = Clock::now();
    for (int64_t r = 0; r < repeats; ++r) loop(data.get(), count);
    best = std::max(best, double(repeats * count) * sizeof(float) / secondsSince(start));
  }
  return best;
}

// A random cycle through one pointer a cache line: every load depends on the one before, no prefetcher can follow.
double measureLatency(int64_t workingSet) {
  int64_t lines = std::max<int64_t>(workingSet / 64, 2);
  Buffer<int64_t> data = allocate<int64_t>(lines * 8);
  if (!data) return 0;
  std::vector<int64_t> order(static_cast<size_t>(lines));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(7));
  for (int64_t i = 0; i < lines; ++i) data[order[size_t(i)] * 8] = order[size_t((i + 1) % lines)] * 8;
  constexpr int64_t steps = 200'000;
  double best = 1e9;
  int64_t at = 0;
  for (int round = 0; round < 3; ++round) {
    auto start = Clock::now();
    for (int64_t i = 0; i < steps; ++i) at = data[at];
    asm volatile("" : : "r"(at));
    best = std::min(best, secondsSince(start) / steps);
  }
  return best * 1e9;
}

// A knee is where latency grows by a third or more over the plateau before it; one knee a rise.
std::vector<int64_t> findKnees(const std::vector<LatencyPoint> &points) {
  std::vector<int64_t> knees;
  double plateau = points.front().ns;
  bool rising = false;
  for (size_t i = 1; i < points.size(); ++i) {
    bool up = points[i].ns > 1.33 * plateau;
    if (up && !rising) knees.push_back(points[i - 1].workingSet);
    rising = points[i].ns > 1.12 * points[i - 1].ns;
    if (!rising || !up) plateau = points[i].ns;
  }
  return knees;
}

} // namespace

double Calibration::bandwidthAt(int64_t workingSet, const Cpu &cpu) const {
  size_t at = 0;
  for (int level = 1; level <= 3; ++level)
    if (const Cache *cache = cpu.cache(level)) {
      if (workingSet <= cache->bytes) return at < readBandwidth.size() ? readBandwidth[at] : 0;
      ++at;
    }
  return readBandwidth.empty() ? 0 : readBandwidth.back();
}

Calibration calibrate(const Cpu &cpu) {
  Calibration result;
  result.model = cpu.model;
  result.isa = cpu.isa;
  result.fmaFlops = measureFma(cpu);
  int64_t below = 0;
  for (int level = 1; level <= 3; ++level)
    if (const Cache *cache = cpu.cache(level)) {
      // Well inside the level and well outside of the one before it.
      int64_t workingSet =
          std::max(std::min(cache->bytes / 2, below * 8), std::min(cache->bytes * 3 / 4, below * 2 + cache->bytes / 4));
      result.readBandwidth.push_back(measureRead(cpu, workingSet));
      below = cache->bytes;
    }
  result.readBandwidth.push_back(
      measureRead(cpu, std::min<int64_t>(std::max<int64_t>(below * 4, 64 << 20), int64_t(256) << 20)));
  for (int64_t base = 4 << 10; base <= int64_t(128) << 20; base *= 2)
    for (int64_t workingSet : {base, base + base / 2})
      result.latency.push_back({workingSet, measureLatency(workingSet)});
  result.cacheKnees = findKnees(result.latency);
  return result;
}

} // namespace sprig::machine
