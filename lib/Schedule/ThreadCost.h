// What a kernel is expected to take on several threads: what join-branches weighs.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"

namespace sprig {

/// The cost of a kernel's work and of what its threads hand to each other.
struct ThreadCost {
  double seconds = 0;     ///< on one thread
  double sharedBytes = 0; ///< that each tile reads, and other kernels wrote
  double ownBytes = 0;    ///< that kernels hand to each other and tiles have parts of
  int64_t tiles = 1;

  /// On so many threads, the hand-off and the lines that other processors wrote included.
  double secondsOn(int64_t threads, const machine::MachineModel &model) const;
};

/// What handing work to other threads takes, each of which reads so many bytes that others wrote: here and there, as
/// kernels do what every tile reads, and one after the other.
double secondsOfHandOff(double scattered, double streamed, const machine::MachineModel &model);

/// The costs of a module's leaf kernels.
class ThreadCosts {
public:
  ThreadCosts(mlir::ModuleOp module, const machine::MachineModel &model);
  const ThreadCost &of(exec::KernelOp kernel) const { return costs.at(kernel); }

private:
  llvm::DenseMap<mlir::Operation *, ThreadCost> costs;
};

} // namespace sprig
