// Memory for the time of one call, aligned as kernels like it.
// For operations that lay an operand out anew or compute in a wider type.
#pragma once
#include "lib/Frontend/Generic/Call.h"
#include <functional>
#include <memory>
#include <new>

namespace sprig::frontend::generic {

/// A block for `count` elements, of whole 64-byte lines. Its content is undefined.
template <typename T> class Scratch {
public:
  explicit Scratch(int64_t count)
      : memory(static_cast<T *>(::operator new(size_t(blockBytes(count *int64_t(sizeof(T)))), std::align_val_t(64)))) {}
  ~Scratch() { ::operator delete(memory, std::align_val_t(64)); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  T *data() { return memory; }

private:
  T *memory;
};

/// Runs an operation of half types as compiled code does it: operands are widened to f32, results of a half type are
/// rounded once.
bool throughF32(const Call &call, const std::function<bool(const Call &wide)> &run);

} // namespace sprig::frontend::generic
