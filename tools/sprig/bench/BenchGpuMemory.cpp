// sprig bench memory --devices cuda:0: what the device's memory and the way to it carry, and what a program takes of
// it.
#include "sprig/rt/memory.h"
#include "tools/sprig/bench/OneGpu.h"
#include "tools/sprig/bench/Shares.h"
#include "tools/sprig/Timing.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

namespace sprig::cli {
namespace {

constexpr uint64_t kMaxCopy = 256 << 20, kAlone = 1 << 20; // from there on starting a copy is next to nothing

std::vector<uint64_t> sizesTo(uint64_t most, uint64_t first) {
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = first; bytes < most; bytes *= 4) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

// Bytes read and written a second by a compiled kernel, of the largest arrays.
double gpuStreams(const OneGpu &gpu, const Settings &settings, uint64_t most, ExperimentReport &report) {
  report.table("device memory", {"read and written each, bytes", "us a call", "GB/s"});
  double rate = 0;
  for (uint64_t bytes : sizesTo(most, 1 << 20)) {
    std::string type = "tensor<" + std::to_string(bytes / 4) + "xf32>";
    DeviceProgram program(gpu,
                          textModel("copy", "func.func @main(%x: " + type + ") -> " + type +
                                                " {\n  %y = nn.relu %x : " + type + "\n  return %y : " + type +
                                                "\n}\n"),
                          settings);
    double seconds = program.inARow();
    rate = 2 * double(bytes) / seconds;
    report.row({bytes, seconds * 1e6, rate / 1e9});
  }
  return rate;
}

// The quickest way's rate, of the largest arrays.
double hostCopies(const OneGpu &gpu, uint64_t most, ExperimentReport &report) {
  std::vector<std::string> header = {"bytes"};
  for (const char *way : {"to it", "from it"})
    for (const char *what : {"GB/s, pinned, ", "GB/s, pageable, ", "pinned / pageable, "})
      header.push_back(std::string(what) + way);
  report.table("copies", header);
  std::shared_ptr<uint8_t> there = gpu.allocate(most), pinned = gpu.pin(most);
  std::vector<uint8_t> pageable(most), sent(most);
  for (uint64_t i = 0; i < most; ++i) sent[i] = uint8_t(i * 2654435761u >> 13);
  double up = 0, down = 0, rate = 0;
  for (uint64_t bytes : sizesTo(most, 4 << 10)) {
    std::memcpy(pinned.get(), sent.data(), most);
    pageable = sent;
    auto rateOf = [&](void *host, bool isUp) {
      auto copy = [&] {
        isUp ? gpu.up(there, host, bytes) : gpu.down(host, there, bytes);
        gpu.wait(gpu.copies);
      };
      return double(bytes) / bestInTurn({copy}, bytes < kAlone ? 50 : 8).front();
    };
    double pinnedUp = rateOf(pinned.get(), true), pageableUp = rateOf(pageable.data(), true);
    double pinnedDown = rateOf(pinned.get(), false), pageableDown = rateOf(pageable.data(), false);
    up = pinnedUp / pageableUp, down = pinnedDown / pageableDown, rate = std::max(pinnedUp, pinnedDown);
    report.row({bytes, pinnedUp / 1e9, pageableUp / 1e9, up, pinnedDown / 1e9, pageableDown / 1e9, down});
  }
  bool same = pageable == sent && std::memcmp(pinned.get(), sent.data(), most) == 0;
  report.verdict("what was copied there comes back", same ? "the same bytes" : "other bytes", same);
  if (most < kAlone) return rate;
  report.timed("page-locked memory is copied to it at least 1.3 times as fast", times(up), up >= 1.3);
  report.timed("page-locked memory is copied from it at least 1.3 times as fast", times(down), down >= 1.3);
  return rate;
}

// Sums of a table that the first-level cache holds, until somebody says stop: passes a second.
double passesPerSecond(const std::function<bool()> &goesOn) {
  std::vector<uint32_t> table(2048, 3);
  uint64_t passes = 0;
  uint32_t sum = 0;
  auto start = Clock::now();
  do {
    for (int i = 0; i < 64; ++i, ++passes)
      for (uint32_t &value : table) value = value * 1664525u + (sum += value);
  } while (goesOn());
  return double(passes) / secondsSince(start);
}

void besideCopies(const OneGpu &gpu, uint64_t most, ExperimentReport &report) {
  std::shared_ptr<uint8_t> there = gpu.allocate(most), pinned = gpu.pin(most);
  std::memset(pinned.get(), 1, most);
  double alone = 0, beside = 0;
  for (int round = 0; round < 5; ++round) {
    auto end = Clock::now() + std::chrono::milliseconds(20);
    alone = std::max(alone, passesPerSecond([&] { return Clock::now() < end; }));
    GpuEvent done(gpu);
    for (int i = 0; i < 4; ++i) gpu.up(there, pinned.get(), most);
    done.record(gpu.copies);
    beside = std::max(beside, passesPerSecond([&] { return !done.reached(); }));
    gpu.wait(gpu.copies);
  }
  report.table("computing", {"the processor computes", "passes/s"});
  report.row({"alone", alone});
  report.row({"beside copies to the device", beside});
  if (most >= kAlone)
    report.timed("a copy by the device slows the processor's computing by less than 10%", times(beside / alone),
                 beside > 0.9 * alone);
}

// An array of n x n x n floats that a program keeps for itself between two products.
void allocation(const OneGpu &gpu, const Settings &settings, int64_t n, ExperimentReport &report) {
  double array = 4 * std::pow(double(n), 3);
  if (double(gpu.freeBytes()) < 1.25 * array) {
    report.note("allocation of " + formatBytes(array) + ": the device has " + formatBytes(double(gpu.freeBytes())) +
                " free");
    return;
  }
  std::string a = matrixType(n * n, 4), b = matrixType(4, n), p = matrixType(n * n, n), c = matrixType(n, 1),
              y = matrixType(n * n, 1);
  Model model =
      textModel("large", "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + y +
                             " {\n  %p = nn.matmul %a, %b : " + a + ", " + b + "\n  %y = nn.matmul %p, %c : " + p +
                             ", " + c + "\n  return %y : " + y + "\n}\n");
  report.table("allocation", {"when", "allocated, MB", "reserved, MB", "free on the device, MB"});
  auto row = [&](const char *when) {
    sprig_rt_memory_info memory = rt::memory::describe();
    report.row({when, double(memory.allocated) / 1e6, double(memory.reserved) / 1e6, double(gpu.freeBytes()) / 1e6});
    return double(memory.allocated);
  };
  double before = row("before"), within = 0;
  {
    DeviceProgram program(gpu, model, settings);
    within = row("with a program that keeps the array");
  }
  rt::memory::emptyCache();
  double after = row("when it is gone");
  report.verdict("a program's " + formatBytes(array) + " are allocated while it is there",
                 formatBytes(within - before) + " more",
                 within - before >= array && within - before < 1.1 * array + 1e6);
  report.verdict("all of it is given back", formatBytes(after - before) + " are left", after == before);
}

} // namespace

void benchGpuMemory(const ExperimentOptions &options, ExperimentReport &report) {
  OneGpu gpu(options.settings);
  int64_t n = options.n ? options.n : 1000;
  if (n > 1600) badUse("--n: bench memory on a GPU takes 1 to 1600, found " + std::to_string(n));
  uint64_t most = std::min(uint64_t(n) * uint64_t(n) * uint64_t(n) * 4, kMaxCopy);
  double onDevice = gpuStreams(gpu, options.settings, most, report), link = hostCopies(gpu, most, report);
  if (most >= kAlone)
    report.timed("the device's memory is faster than the way to it",
                 formatDouble(onDevice / 1e9, 4) + " and " + formatDouble(link / 1e9, 4) + " GB/s", onDevice > link);
  besideCopies(gpu, most, report);
  allocation(gpu, options.settings, n, report);
}

} // namespace sprig::cli
