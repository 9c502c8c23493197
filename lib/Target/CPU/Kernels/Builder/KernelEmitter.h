// From a dispatch to a kernel function: the interface of emitters, and the registry that picks one.
// For the scheduler, which asks for plans, and the target, which asks for functions. A plan depends on shapes alone,
// never on the instruction set or the number of threads.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/CpuArch.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "lib/Target/Kernels/KernelGraph.h"

namespace sprig::cpu {

class KernelBuilder;

/// Emits the kernels of one family of dispatches.
class KernelEmitter {
public:
  virtual ~KernelEmitter() = default;
  virtual llvm::StringRef name() const = 0;
  virtual bool matches(kernel::DispatchOp dispatch) const = 0;
  virtual KernelPlan plan(kernel::DispatchOp dispatch) const = 0;
  /// Whether the kernel may write a result over an operand of its type that is passed once (Target::mayOverwrite).
  virtual bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const { return false; }
  /// Whether the kernel reads its buffers off a list rather than as arguments: one of so many that its code must not
  /// grow with their number. It does so only where it is a function by itself (KernelBuilder::hasBufferList).
  virtual bool readsBufferList(kernel::DispatchOp dispatch) const { return false; }
  /// Emits the function's body at the builder's insertion point; a failure has been reported on the dispatch.
  virtual mlir::LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const = 0;
};

/// The emitters in order of preference: the first that matches a dispatch serves it.
llvm::ArrayRef<const KernelEmitter *> kernelEmitters();

/// The emitter of a dispatch, or null when no kernel can be made of it.
const KernelEmitter *findKernelEmitter(kernel::DispatchOp dispatch);

/// The plan of a dispatch; fails with a diagnostic when no emitter takes it.
mlir::FailureOr<KernelPlan> planDispatch(kernel::DispatchOp dispatch);

/// Target::mayOverwrite, by the emitter of the dispatch.
bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result);

/// The architecture for one dispatch: with the register tile that its #kernel.register_tile names, if it has one that
/// the registers hold. (For #kernel.loop_tile, whose elements are a multiple of kLanes, see LoopGroup.)
CpuArch tunedTarget(kernel::DispatchOp dispatch, const CpuArch &target);

/// Emits, at the end of `module`,
///   func.func @name(%begin: index, %end: index, %scratch: memref<SxI8>, %status: !llvm.ptr, operands..., results...)
///   -> i32
/// which computes the tiles [begin, end). Operands and results are memrefs of static shape and identity layout in
/// storage types (unsigned integers signless, i1 as i8); S is the plan's scratchBytes. The function returns 0 or the
/// code that it wrote to the status (sprig/rt/kernel.h). A kernel that reads its buffers off a list has a pointer to
/// that in their place, unless it is a `part` of another function.
mlir::FailureOr<mlir::func::FuncOp> emitKernel(kernel::DispatchOp dispatch, llvm::StringRef name, const CpuArch &target,
                                               mlir::ModuleOp module, bool isPart = false);

/// The dialects that kernels are made of.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Target::canFuse, by the rules of the emitters that will take the dispatch (Epilogue, LoopSpace).
bool canFuse(const FusionGroup &group, mlir::Operation *op);

/// Makes the passes known to drivers by their command-line names.
void registerKernelPasses();

/// Emits a function of the same form as emitKernel, its buffers the block's arguments and then what it yields. One
/// dispatch computes the tiles [begin, end); several compute all of their tiles, whatever the range.
mlir::FailureOr<mlir::func::FuncOp> emitKernelGraph(const KernelGraph &graph, llvm::StringRef name,
                                                    const CpuArch &target, mlir::ModuleOp module);

/// Whether that function has a pointer to its buffers in their place (KernelEmitter::readsBufferList).
bool readsBufferList(mlir::Block &body);

// The kernel of a dispatch inside another function: for kernels of several dispatches and for regions of branches and
// loops. Nothing is called; trip counts, offsets and conditions of the part are constants.

/// Emits all tiles of a dispatch at the builder's insertion point, in a kernel function (KernelEmitter.h) of `module`
/// whose scratch memory starts with what the part needs. `buffers` are those of the dispatch's operands, then of its
/// results. Gives the code that the dispatch's own function would return.
mlir::FailureOr<mlir::Value> emitPart(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                                      kernel::DispatchOp dispatch, llvm::ArrayRef<mlir::Value> buffers,
                                      const CpuArch &target, mlir::ModuleOp module);

/// Adds to the number of the operation in a status that a part has written: numbers go on from part to part.
void shiftOperationNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value status, int32_t base);

} // namespace sprig::cpu
