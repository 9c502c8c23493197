// gdb's interface for just-in-time compilers (its manual, "JIT Interface"): names and layout are gdb's. For
// GdbSymbols.cpp, which fills the list, and its test, which reads it as gdb does.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_GDBINTERFACE_H
#define SPRIG_RUNTIME_DEVICE_CPU_GDBINTERFACE_H

#include <cstdint>

extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry;
  jit_code_entry *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry *relevant_entry;
  jit_code_entry *first_entry;
};
extern jit_descriptor __jit_debug_descriptor;
}

#endif
