// The machine code of a program's kernels for one architecture of a kind of device.
// From targets, which make it, to the package writer; the loader maps it and calls the kernels.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig {

/// A block of a GPU's kernel.
struct LaunchShape {
  uint32_t threads = 0;
  uint32_t sharedBytes = 0; // dynamic, beside what the code itself asks for
};

struct LinkedImage {
  struct Symbol {
    std::string name;
    uint64_t offset = 0, size = 0;
  };
  struct Import {
    std::string call;  // a row of RuntimeCalls.def
    uint64_t slot = 0; // offset of 8 bytes that the loader fills with the function's address
  };
  std::vector<uint8_t> bytes;
  uint64_t codeSize = 0;       // leading bytes that are read and executed, never written
  std::vector<Symbol> symbols; // in the order of exec::launchedKernels
  // Of kinds whose kernels are found by name (in `symbols`, empty for those that it does not run), one for each; else
  // none.
  std::vector<LaunchShape> launches;
  std::vector<Import> imports; // sorted by name
  // All functions, those that symbols call too; each named by what it was made of. For profilers and debuggers.
  std::vector<Symbol> functions;
};

struct PackageImage {
  std::string architecture;          // what the device must be at least: "x86-64-v3"
  std::vector<std::string> features; // what it must have beyond that
  LinkedImage image;
  std::string kind = {}; // of devices; empty: that of the target that made it
};

} // namespace sprig
