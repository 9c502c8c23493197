// A loaded package: verified program, code, constants. Immutable and shared by any number of contexts and threads.
#ifndef SPRIG_RUNTIME_EXEC_PACKAGE_H
#define SPRIG_RUNTIME_EXEC_PACKAGE_H

#include "runtime/base/Memory.h"
#include "runtime/device/Links.h"
#include "runtime/format/Container.h"
#include "runtime/load/Program.h"

#include <memory>

namespace sprig::rt::core {

struct LoadOptions {
  std::string cpu;    // use no better instruction set; empty: $SPRIG_CPU, else any
  std::string device; // as in DeviceNames.h, for the program's devices in their order; empty: what the program names
  std::vector<std::string> links; // between those devices, as in sprig/rt/links.hpp
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
  // Of the code of the first device.
  const std::string &isa() const { return codes.front()->isa; }
  const format::ContainerView &container() const { return view; }
  int loadedImage() const { return codes.front()->image; }
  uint64_t fileBytes() const { return fileSize; }

  // By the program's numbers.
  const Device &device(uint32_t index) const { return *devices[index]; }
  const Device &deviceOf(const Buffer &buffer) const { return *devices[buffer.device]; }
  // The device that all memory of a state lies on.
  uint32_t stateDevice(uint32_t index) const { return stateDevices[index]; }
  const DeviceCode &code(uint32_t device) const { return *codes[device]; }
  const Links &links() const { return givenLinks; }
  // Whether commands compute, and whether every device works on the host's memory.
  bool executes() const { return devices.front()->executes(); }
  bool isOnHost() const { return onHost; }
  Status instantiate(Pool &pool, std::unique_ptr<Executable> &executable) const;

  const uint8_t *constant(uint32_t index, uint32_t device) const { return constants[device][index]; }
  // Writes all of a constant's bytes to a device's memory; also of one that no entry reads, which has no address.
  Status copyConstant(uint32_t index, const Device &device, uint8_t *target) const;

  // Whether constants are (on devices that keep time only: would be) copied rather than used in the file's pages.
  bool copiesConstants() const { return constantsCopied; }

  // Bytes of the constants section that are kept, in the file's pages or copied.
  uint64_t keptConstants() const { return keptBytes; }

  // The most that any entry needs.
  uint64_t maxArena(uint32_t device) const { return largestArenas[device]; }
  uint64_t maxScratch() const { return largestScratch; }
  // The most scratch that a helping thread may need: of commands that are cut into slices, or on lanes of their own.
  uint64_t helperScratch() const { return largestHelperScratch; }
  uint32_t maxLanes() const { return mostLanes; }
  uint32_t maxEvents() const { return mostEvents; }

  // The device that all commands and buffers of an entry are on; null: there are several.
  const Device *onlyDevice(uint32_t entry) const { return onlyDevices[entry]; }

  // Whether a second thread could help in a run of the entry.
  bool isParallel(uint32_t entry) const { return parallelEntries[entry]; }
  // Whether a run of the entry is kernels and copies one after the other, so that a thread alone needs no lanes to run
  // it.
  bool isPlain(uint32_t entry) const { return plainEntries[entry]; }

private:
  Status loadVerified(const LoadOptions &options);
  Status loadCode(const LoadOptions &options);
  Status openLinks(const LoadOptions &options);
  void placeStates();
  Status placeConstants(const LoadOptions &options);
  Status placeConstantsOn(uint32_t device);
  Status copyConstants(std::span<const uint8_t> &section);
  // `withPlain`: those that lie in the section, too.
  Status makeConstants(bool readHere, bool withPlain);
  bool isMostlyMade(std::span<const uint8_t> section) const;
  Status fillConstant(const Constant &constant, uint8_t *target) const;
  void measure();

  PackageSource source; // let go after loading when constants do not lie in it
  uint64_t fileSize = 0;
  Allocator memory;
  format::ContainerView view;
  Program decoded;
  std::vector<std::shared_ptr<Device>> devices; // by the program's numbers, as all of these
  Links givenLinks;
  std::vector<std::shared_ptr<const DeviceCode>> codes; // of a device
  std::vector<std::vector<const uint8_t *>> constants;  // of a device, then by number
  std::vector<uint32_t> stateDevices;
  std::vector<const uint8_t *> hostConstants; // null: made where it is needed, as nothing on the host reads it
  std::span<const uint8_t> constantBytes;     // the section, where it is read
  std::vector<Block> ownConstants;            // what is made at load, and the section where it is not used in place
  std::vector<Memory> deviceConstants;
  bool constantsCopied = false;
  uint64_t keptBytes = 0;
  bool onHost = true;
  std::vector<uint64_t> largestArenas; // of devices
  uint64_t largestScratch = 0;
  uint64_t largestHelperScratch = 0;
  uint32_t mostLanes = 0;
  uint32_t mostEvents = 0;
  std::vector<char> parallelEntries;
  std::vector<char> plainEntries;
  std::vector<const Device *> onlyDevices; // of entries
};

} // namespace sprig::rt::core

#endif
