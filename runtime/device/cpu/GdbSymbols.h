// A symbol table that gdb knows while this lives: a small ELF file in memory, registered by gdb's interface for
// just-in-time compilers (__jit_debug_register_code). gdb finds that function in the library's own symbol table, so
// not in a stripped one.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_GDBSYMBOLS_H
#define SPRIG_RUNTIME_DEVICE_CPU_GDBSYMBOLS_H

#include "runtime/device/cpu/CodeSymbols.h"

namespace sprig::rt::core {

class GdbSymbols {
public:
  GdbSymbols(const std::vector<CodeSymbol> &symbols, uint64_t address, uint64_t size);
  ~GdbSymbols();
  GdbSymbols(const GdbSymbols &) = delete;
  GdbSymbols &operator=(const GdbSymbols &) = delete;

  // The ELF file, for tests.
  const std::vector<uint8_t> &file() const { return bytes; }

private:
  struct Entry;
  std::vector<uint8_t> bytes;
  std::unique_ptr<Entry> entry;
};

} // namespace sprig::rt::core

#endif
