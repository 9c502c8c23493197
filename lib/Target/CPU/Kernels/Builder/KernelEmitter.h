// From a dispatch to a kernel function: the interface of emitters, and the registry that picks one.
// For the scheduler, which asks for plans, and the target, which asks for functions. A plan depends on shapes alone,
// never on the instruction set or the number of threads.
#pragma once
#include "dialects/NN/NNStructure.h"
#include "lib/Target/CPU/Kernels/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace sprig {

class KernelBuilder;

/// How the work of a dispatch can be cut.
struct KernelPlan {
  int64_t tiles = 0;        // independent work units, fixed by shape alone
  int64_t grain = 1;        // fewest tiles that are worth a thread of their own
  int64_t scratchBytes = 0; // per thread, 64-byte aligned
};

/// Emits the kernels of one family of dispatches.
class KernelEmitter {
public:
  virtual ~KernelEmitter() = default;
  virtual llvm::StringRef name() const = 0;
  virtual bool matches(ir::DispatchOp dispatch) const = 0;
  virtual KernelPlan plan(ir::DispatchOp dispatch) const = 0;
  /// Emits the function's body at the builder's insertion point; a failure has been reported on the dispatch.
  virtual mlir::LogicalResult emit(ir::DispatchOp dispatch, KernelBuilder &kernel) const = 0;
};

/// The emitters in order of preference: the first that matches a dispatch serves it.
llvm::ArrayRef<const KernelEmitter *> kernelEmitters();

/// The emitter of a dispatch, or null when no kernel can be made of it.
const KernelEmitter *findKernelEmitter(ir::DispatchOp dispatch);

/// The plan of a dispatch; fails with a diagnostic when no emitter takes it.
mlir::FailureOr<KernelPlan> planDispatch(ir::DispatchOp dispatch);

/// The target for one dispatch: with the register tile that its attribute `nn.tile` names, [rows, vectors], if it has
/// one. (Of elementwise loops, `nn.tile` is the elements of a tile, a multiple of kLanes: see LoopGroup.)
CpuTarget tunedTarget(ir::DispatchOp dispatch, const CpuTarget &target);

/// Emits, at the end of `module`,
///   func.func @name(%begin: index, %end: index, %scratch: memref<SxI8>, %status: !llvm.ptr, operands..., results...)
///   -> i32
/// which computes the tiles [begin, end). Operands and results are memrefs of static shape and identity layout in
/// storage types (unsigned integers signless, i1 as i8); S is the plan's scratchBytes. The function returns 0 or the
/// code that it wrote to the status (sprig/rt/kernel.h).
mlir::FailureOr<mlir::func::FuncOp> emitKernel(ir::DispatchOp dispatch, llvm::StringRef name, const CpuTarget &target,
                                               mlir::ModuleOp module);

/// The dialects that kernels are made of.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Fewest tiles that pay for a second thread, from the cost of the whole work; at least 1.
int64_t chooseGrain(int64_t tiles, int64_t flops, int64_t bytes);

} // namespace sprig
