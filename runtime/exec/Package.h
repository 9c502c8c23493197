// A loaded package: verified program, code, constants. Immutable and shared by any number of contexts and threads.
#ifndef SPRIG_RUNTIME_EXEC_PACKAGE_H
#define SPRIG_RUNTIME_EXEC_PACKAGE_H

#include "runtime/base/Memory.h"
#include "runtime/device/Device.h"
#include "runtime/format/Container.h"
#include "runtime/load/CodeImage.h"
#include "runtime/load/Program.h"

#include <memory>

namespace sprig::rt::core {

struct LoadOptions {
  std::string cpu;    // use no better instruction set; empty: $SPRIG_CPU, else any
  std::string device; // "cpu" or "null"; empty: cpu
  uint64_t memoryLimit = 0;
  bool mapConstants = false; // never copy what can be used in the file's own pages
  Allocator allocator;
  sprig_rt_log_fn log = nullptr;
  void *logUser = nullptr;
};

// The bytes that a package reads from for as long as it lives.
struct PackageSource {
  std::string name;
  MappedFile file;                 // a file, or
  Block copy;                      // a copy of memory, or
  std::span<const uint8_t> bytes;  // (what to read, in any case)
  std::shared_ptr<void> keepAlive; // memory of the caller
};

class Package {
public:
  static Status load(PackageSource source, const LoadOptions &options, std::shared_ptr<const Package> &package);

  const Program &program() const { return decoded; }
  const Allocator &allocator() const { return memory; }
  const std::string &name() const { return source.name; }
  const std::string &isa() const { return isaName; }
  const format::ContainerView &container() const { return view; }
  int loadedImage() const { return imageIndex; }
  uint64_t fileBytes() const { return fileSize; }

  // Where arenas, states and staging lie.
  const Device &home() const { return *homeDevice; }
  const Device &laneDevice(const Lane &lane) const { return *devices[lane.device]; }
  sprig_rt_kernel kernel(uint32_t index) const { return code.kernel(index); }
  const uint8_t *constant(uint32_t index) const { return constants[index]; }
  // Writes all of a constant's bytes; also of one that no entry reads, which has no address.
  void copyConstant(uint32_t index, uint8_t *target) const;

  // Whether constants are (on the null device: would be) copied rather than used in the file's pages.
  bool copiesConstants() const { return constantsCopied; }

  // The most that any entry needs.
  uint64_t maxArena() const { return largestArena; }
  uint64_t maxScratch() const { return largestScratch; }
  // The most scratch that a helping thread may need: of commands that are cut into slices, or on lanes of their own.
  uint64_t helperScratch() const { return largestHelperScratch; }
  uint32_t maxLanes() const { return mostLanes; }
  uint32_t maxEvents() const { return mostEvents; }

  // Whether a second thread could help in a run of the entry.
  bool isParallel(uint32_t entry) const { return parallelEntries[entry]; }
  // Whether a run of the entry is kernels and copies one after the other on the processor, so that a thread alone needs
  // no lanes to run it.
  bool isPlain(uint32_t entry) const { return plainEntries[entry]; }

private:
  Status loadVerified(const LoadOptions &options);
  Status chooseDevices(const LoadOptions &options);
  Status mapCode(const LoadOptions &options);
  Status placeConstants(const LoadOptions &options);
  Status copyConstants(std::span<const uint8_t> &section);
  void measure();

  PackageSource source; // let go after loading when constants do not lie in it
  uint64_t fileSize = 0;
  Allocator memory;
  format::ContainerView view;
  Program decoded;
  CodeImage code;
  int imageIndex = -1;
  std::string isaName;
  std::vector<const uint8_t *> constants;
  std::vector<Block> ownConstants; // splats, and the section where it is not used in place
  bool constantsCopied = false;
  const Device *homeDevice = nullptr;
  std::vector<const Device *> devices;
  uint64_t largestArena = 0;
  uint64_t largestScratch = 0;
  uint64_t largestHelperScratch = 0;
  uint32_t mostLanes = 0;
  uint32_t mostEvents = 0;
  std::vector<char> parallelEntries;
  std::vector<char> plainEntries;
};

} // namespace sprig::rt::core

#endif
