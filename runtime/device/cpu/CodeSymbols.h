// Tells perf and gdb what generated code is called. Asked for by the environment, as it costs time at load:
//   SPRIG_PERF_MAP=1    appends to /tmp/perf-PID.map, which perf reads; a folder instead of 1 writes there
//   SPRIG_GDB=1         registers a symbol table by gdb's interface for compilers, until the code is unmapped
// What goes wrong here is no error of the load: the code then has no names.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CODESYMBOLS_H
#define SPRIG_RUNTIME_DEVICE_CPU_CODESYMBOLS_H

#include "runtime/load/Program.h"

#include <memory>

namespace sprig::rt::core {

struct CodeSymbol {
  std::string name;
  uint64_t address;
  uint64_t size;
};

class GdbSymbols;

// Names that debuggers know for as long as this lives.
class CodeSymbols {
public:
  CodeSymbols();
  CodeSymbols(CodeSymbols &&) noexcept;
  CodeSymbols &operator=(CodeSymbols &&) noexcept;
  ~CodeSymbols();

  // `address` is where the image's code begins.
  void announce(const Image &image, const std::vector<Kernel> &kernels, const void *address);

private:
  std::unique_ptr<GdbSymbols> gdb;
};

} // namespace sprig::rt::core

#endif
