// The operations of the model inside of a command, for profiles: what each is called, what it costs.
// For the package writer. Names come from the command's own location where kernels are shared, else from the kernel's.
#pragma once
#include "dialects/Exec/Exec.h"
#include <string>

namespace sprig {

struct Part {
  std::string name;   ///< what the model calls it, or empty
  std::string kind;   ///< "nn.conv"
  std::string shape;  ///< of its first result: "1x64x56x56xf32"
  std::string source; ///< "file:line" without folders, or empty
  int64_t flops = 0;
  int64_t bytes = 0; ///< that it moves from and to the dispatch's buffers
  unsigned call = 0; ///< which call of a composite kernel
  /// Of a loop over time: its steps, and the bytes that each of them reads again.
  int64_t steps = 0, repeated = 0;
  /// Of a product whose sums are wider than what it multiplies: the element type of that, "ui8". Else empty.
  std::string factors = {};
};

/// Of a command that runs a composite kernel, those of all kernels that it calls, in order.
llvm::SmallVector<Part> partsOf(exec::DispatchOp dispatch, mlir::SymbolTableCollection &symbols);
/// Of a copy from one device to another: what it is made for, where its location says; else nothing.
llvm::SmallVector<Part> partsOf(exec::CopyOp copy);

} // namespace sprig
