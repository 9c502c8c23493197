// Rates and limits of NVIDIA's GPUs: public figures of one common card for each architecture, not measured ones; and
// what they let one expect of a kernel. For the scheduler, for code generation and for reports. They may decide how
// fast a program is, never what it computes.
#pragma once
#include "lib/Machine/MachineModel.h"

namespace sprig::machine {

struct CudaDevice {
  std::string_view architecture, card;
  int64_t multiprocessors;
  double fma;    ///< f32 FLOP/s
  double tf32;   ///< of products on tensor cores, FLOP/s of dense matrices
  int64_t l2;    ///< bytes of the second-level cache
  double memory; ///< bytes/s
  /// Limits of a multiprocessor, which every card of the architecture has.
  int64_t threads, blocks, shared;

  static constexpr int64_t kWarp = 32, kRegisters = 65536, kReservedSharedPerBlock = 1 << 10;
  /// What the second-level cache gives, bytes/s.
  double cached() const;
  /// Of one node of a graph.
  static constexpr int64_t kLaunchNanoseconds = 2500;
  static constexpr double kLaunch = kLaunchNanoseconds / 1e9; // seconds
  /// From a node of a graph to one of another branch, beyond what follows in its own: training steps whose lanes were
  /// assigned with 0 to 3 us took as long on an H200.
  static constexpr double kBranch = 1e-6;
  /// Bytes that kernels which only move or add get of a large GPU's memory, for each nanosecond.
  static constexpr int64_t kMovedBytes = 2000;
  /// Of a multiprocessor whose block goes through a loop over time, for each nanosecond: bytes that it gets of the
  /// second-level cache, where the matrices of a step lie, and multiply-adds of a few chains at once.
  static constexpr int64_t kLoopBytes = 100, kLoopMultiplyAdds = 50;
};

/// By "sm_90", or "compute_90"; null for a name that is none.
const CudaDevice *findCudaDevice(std::string_view architecture);

/// How many blocks a multiprocessor runs at once: the least of what registers, shared memory (all that a block has),
/// threads and blocks allow.
int64_t blocksOnMultiprocessor(const CudaDevice &device, int64_t registers, int64_t sharedBytes, int64_t threads);

/// What a kernel does.
struct CudaWork {
  double flops = 0, bytes = 0;
  int64_t blocks = 0;
  bool isTf32 = false; ///< its products are on tensor cores
  bool isLoop = false; ///< over time: each block goes through all steps
  double repeated = 0; ///< bytes that a block reads again and again, in all steps
  double accesses = 0; ///< to places that data names, whose lines are among the bytes
};

/// The least that a kernel takes by these figures, in seconds: of the part of the multiprocessors that its blocks keep
/// at work.
struct CudaEstimate {
  double arithmetic = 0, traffic = 0, launch = 0;

  double seconds() const { return launch + (arithmetic > traffic ? arithmetic : traffic); }
  /// "launch", where that is more than the work; else "arithmetic" or "memory".
  const char *bound() const;
};
CudaEstimate estimateCudaKernel(const CudaDevice &device, const CudaWork &work);

/// By "sm_90"; of sm_80 for a name that is none. One thread is the whole device, and a hand-off a launch.
MachineModel cudaModel(std::string_view architecture);

} // namespace sprig::machine
