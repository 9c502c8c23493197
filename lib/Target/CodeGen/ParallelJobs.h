// Independent pieces of a compilation on several threads. For targets, which make kernels one by one.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

namespace sprig {

/// How many threads work at so many jobs; `asked` is --jobs, 0: as many as the process may use.
size_t workersFor(size_t jobs, int asked);

/// Does job 0 to jobs - 1, each on one of so many threads, the caller's among them; threads that the system does not
/// start are done without. Diagnostics come in the order of jobs. Fails when one of them does; all are done
/// nevertheless.
mlir::LogicalResult runJobs(mlir::MLIRContext *context, size_t jobs, size_t workers,
                            llvm::function_ref<mlir::LogicalResult(size_t job, size_t worker)> work);

} // namespace sprig
