// Code in which the processor takes denormal operands as zeros and gives zeros for denormal results, whatever the
// thread has asked for; its control register (MXCSR) is put back behind it. For instructions that always do so, where
// they are emulated. Arithmetic belongs to it by its data alone: what it computes from must have gone through pin()
// behind begin(), what comes of it before end(), since LLVM moves arithmetic as if there were no control register.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig::cpu {

class FlushDenormals {
public:
  explicit FlushDenormals(KernelBuilder &kernel) : k(kernel) {}
  void begin();
  /// The same value, of a vector register, at this place among such calls.
  mlir::Value pin(mlir::Value vector);
  void end();

private:
  KernelBuilder &k;
  mlir::Value saved; // a pointer to the register as it was, and as it is within
};

} // namespace sprig::cpu
