// From a dispatch to a gpu.func: the interface of emitters, and the registry that picks one. For the target, which
// gives the scheduler its plans and lowers the functions. A plan depends on shapes alone, never on the architecture.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "lib/Target/Kernels/KernelGraph.h"

namespace sprig::cuda {

class GpuBuilder;

/// How a kernel is cut: KernelPlan with the threads of a block. A tile is a block; scratch memory is that of a whole
/// launch.
struct GpuPlan {
  int64_t tiles = 0;
  int64_t threads = 256;
  int64_t scratchBytes = 0;
};

/// Who computes the tiles of a dispatch: a block each, or one block all of them, as a part of a kernel (Control,
/// KernelGraph.h).
enum class GpuScope { grid, block };

/// Emits the kernels of one family of dispatches.
class GpuEmitter {
public:
  virtual ~GpuEmitter() = default;
  virtual llvm::StringRef name() const = 0;
  virtual bool matches(kernel::DispatchOp dispatch) const = 0;
  virtual GpuPlan plan(kernel::DispatchOp dispatch) const = 0;
  /// Whether one block had better compute a dispatch by another emitter that matches; mayOverwrite of both has to
  /// agree.
  virtual bool isSlowInBlock(kernel::DispatchOp dispatch) const { return false; }
  /// Whether a kernel of every architecture has room for a dispatch beside others; asked where it may stay apart.
  virtual bool fitsAsPart(kernel::DispatchOp dispatch) const { return true; }
  /// Target::mayOverwrite, of an operand of the result's type that is passed once.
  virtual bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const { return false; }
  /// Emits what a block computes of a tile. All threads of the block are there; another tile may follow, after a
  /// barrier.
  virtual mlir::LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &kernel, mlir::Value tile) const = 0;
};

/// The emitters in order of preference: the first that matches a dispatch serves it.
llvm::ArrayRef<const GpuEmitter *> gpuEmitters();

/// The emitter of a dispatch, or null when there is no kernel for it.
const GpuEmitter *findGpuEmitter(kernel::DispatchOp dispatch, GpuScope scope = GpuScope::grid);

/// Target::fusePatterns of CUDA: filters of convolutions that become tiles get their rows or channels inside.
void layFiltersForCuda(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isHere);
/// The same: dispatches of attention where one kernel takes no longer.
void fuseAttentionForCuda(mlir::Block &block, Precision precision, llvm::function_ref<bool(mlir::Operation *)> isHere);
/// The same: concatenations of many operands become some of a few neighbours each, and one of their results: a kernel
/// has a parameter for each buffer, whose room is bounded, and each of its threads looks for its operand among all.
/// Nothing joins nested concatenations again after it.
void splitConcatsForCuda(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isHere);
/// Target::takesScan, Target::canFuse, Target::plan and Target::mayOverwrite of CUDA.
bool takesScanOnCuda(ir::ScanOp scan, std::string &why);
bool canFuseOnCuda(const FusionGroup &group, mlir::Operation *op);
mlir::FailureOr<KernelPlan> planCudaDispatch(kernel::DispatchOp dispatch);
bool mayOverwriteOnCuda(kernel::DispatchOp dispatch, unsigned operand, unsigned result,
                        GpuScope scope = GpuScope::grid);

struct CudaKernel {
  mlir::gpu::GPUFuncOp function;
  LaunchShape launch;
  int64_t tiles;
};

/// Emits, at the end of `module`,
///   gpu.func @name(operands..., results... : memref, %status: !llvm.ptr, %scratch: memref<Nxi8>, %first: i32) kernel
/// whose block b computes tile %first + b. Operands and results are memrefs of static shape and identity layout in
/// storage types (unsigned integers signless, i1 as i8), 64-byte aligned; %status is a sprig_rt_kernel_status whose
/// code was 0 before the launch, %scratch the plan's bytes, aligned likewise. Errors number the dispatch's
/// operations from `firstOperation` on. A failure has been reported: there is no kernel for the dispatch.
mlir::FailureOr<CudaKernel> emitCudaKernel(kernel::DispatchOp dispatch, llvm::StringRef name,
                                           mlir::gpu::GPUModuleOp module, const CudaArch &arch,
                                           int32_t firstOperation = 0, GpuScope scope = GpuScope::grid);

/// A function of that form without code, for `plan.threads` threads; its body has a block.
mlir::gpu::GPUFuncOp makeGpuFunction(mlir::gpu::GPUModuleOp module, mlir::Location loc, llvm::StringRef name,
                                     mlir::TypeRange operands, mlir::TypeRange results, const GpuPlan &plan);
/// Gives it its end.
void finishGpuFunction(GpuBuilder &kernel);

/// The dialects that these kernels are made of.
void registerCudaKernelDialects(mlir::DialectRegistry &registry);

/// Makes the passes known to drivers by their command-line names.
void registerCudaKernelPasses();

/// Emits a function of the same form as emitCudaKernel, its buffers the block's arguments and then what it yields.
/// Several dispatches are one tile.
mlir::FailureOr<CudaKernel> emitCudaKernelGraph(const KernelGraph &graph, llvm::StringRef name,
                                                mlir::gpu::GPUModuleOp module, const CudaArch &arch);

/// Whether a dispatch is quickly done by one block, in a kernel of several.
bool isShortOnCuda(kernel::DispatchOp dispatch);

} // namespace sprig::cuda
