// What a kernel is expected to take on several threads: what join-branches weighs.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"

namespace sprig {

/// Lines that a kernel reads as it computes come a few at a time, and not as a stream does: measured on products of
/// small networks, at a third of its rate.
constexpr double kScatteredShare = 1.0 / 3;

/// The cost of a kernel's work and of what its threads hand to each other.
struct ThreadCost {
  double seconds = 0;     ///< on one thread
  double sharedBytes = 0; ///< that each tile reads, and other kernels wrote
  double ownBytes = 0;    ///< that kernels hand to each other and tiles have parts of
  int64_t tiles = 1;

  /// On so many threads, the hand-off and the lines that other processors wrote included.
  double secondsOn(int64_t threads, const machine::MachineModel &model) const;
};

/// What of so many bytes comes from another processor's own cache: what that does not hold comes from behind it on one
/// thread, too.
double cachedBytes(double bytes, const machine::MachineModel &model);

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
