// Runs kernels of emulation images (test/gpu/image/Image.h) on this host and says what is wrong with them: for the
// stand-in driver and for tests. A launch is synchronous and takes one host thread; different launches may run on
// different ones.
#ifndef SPRIG_TEST_GPU_EMULATOR_EMULATOR_H
#define SPRIG_TEST_GPU_EMULATOR_EMULATOR_H

#include "test/gpu/image/Image.h"
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sprig::gpu {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

enum class BlockOrder { Forward, Reverse, Random };

// Bytes of global memory, begin to end.
struct Range {
  uint64_t begin, end;
  bool operator==(const Range &) const = default;
};

struct LaunchOptions {
  // The checked version of the kernel: bounds, alignment, races, effects, counters. Without it only what cannot go on
  // is found: deadlocks, warp operations that threads do not reach together, traps.
  bool checked = false;
  bool races = true, counters = false, effects = false; // in the checked version
  BlockOrder order = BlockOrder::Forward;
  uint64_t seed = 0; // of BlockOrder::Random, which also deals the turns of a block's threads
  // What global memory there is, ascending and disjoint; where `knowsAllocations` is false nothing is said about bounds
  // there.
  bool knowsAllocations = false;
  std::vector<Range> allocations;
};

enum class Fault {
  OutOfBounds,
  Misaligned,
  UninitialisedShared,
  Race,
  Deadlock,
  Divergence, // threads that should meet in one operation do not
  UnfinishedCopy,
  DivisionByZero,
  Trap,
  BadLaunch
};
const char *faultName(Fault fault);

// What is wrong, where: the text has all of it for people.
struct Complaint {
  Fault fault;
  std::string kernel, text;
  uint32_t line = 0, otherLine = 0; // of the PTX text; 0 where there is none
  uint32_t block[3] = {}, thread[3] = {};
};

// Requests of whole warps at one line: 32-byte sectors of global memory, or passes over the banks of shared memory,
// that they took, and how few would have carried their bytes: of shared memory those of the lanes that take a turn
// together, by themselves, since what several turns read is read in each.
struct Traffic {
  uint32_t line;
  bool isShared, isWrite;
  uint64_t requests, units, ideal;
};

// Bytes that a launch changes by one kind of integer atomics alone whose old values it does not use. Operations of one
// kind commute, those of different kinds do not; other atomics are reads and writes.
struct Update {
  uint32_t kind;
  std::vector<Range> bytes; // ascending, disjoint
  bool operator==(const Update &) const = default;
};

struct LaunchReport {
  std::vector<Complaint> complaints; // one for each fault and pair of lines
  bool completed = false;            // every thread has ended
  std::vector<Traffic> traffic;      // ascending lines
  std::vector<Range> reads, writes;  // effects on global memory: ascending, disjoint
  std::vector<Update> updates;       // likewise: ascending kinds
  std::string text() const;          // the complaints, a line each
};

// Parameters are bytes at the kernel's offsets, variables the module's block (Image.h).
LaunchReport launch(const SprigGpuKernel &kernel, Dim3 grid, Dim3 block, uint32_t dynamicSharedBytes,
                    const void *parameters, uint8_t *variables, const LaunchOptions &options = {});

// An image that is loaded, and the block of variables of one module.
class LoadedImage {
public:
  // Throws std::runtime_error: no file, no image, another version.
  explicit LoadedImage(const std::string &path);
  ~LoadedImage();
  LoadedImage(LoadedImage &&other) noexcept;
  const SprigGpuImage &operator*() const { return *image; }
  const SprigGpuImage *operator->() const { return image; }
  const SprigGpuKernel *findKernel(const std::string &name) const;
  const SprigGpuVariable *findVariable(const std::string &name) const;

private:
  void *handle = nullptr;
  const SprigGpuImage *image = nullptr;
};
// Writes the initial values of an image's variables to a block of `variableBytes`, which is aligned to 256 bytes.
void initialiseVariables(const SprigGpuImage &image, uint8_t *block);

} // namespace sprig::gpu
#endif
