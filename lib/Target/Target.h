// What the compiler asks about a kind of device: how networks lie in its memory, what may become one kernel, how a
// kernel is cut into tiles, and its machine code. For the phases from `fuse` on and the passes after them, which know
// no instruction set, no layout and no emitter. Everything here depends on the program and the options alone: equal
// programs get equal answers.
#pragma once
#include "dialects/NN/NNRecurrent.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Target/FusionGroup.h"
#include "lib/Target/Image.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/options.h"

namespace sprig {

class FileCache;

/// The bytes of an operand that each tile touches: tile t at most `size` of them from `first + t / per * step` on, as
/// far as the operand has them.
struct TileRange {
  int64_t operand = 0; // those of the dispatch, then its results
  int64_t first = 0, step = 0, size = 0;
  int64_t per = 1; // tiles after each other that share a range

  bool operator==(const TileRange &) const = default;
};

/// How the work of a dispatch can be cut.
struct KernelPlan {
  int64_t tiles = 0;        // independent work units, fixed by shape alone
  int64_t scratchBytes = 0; // per thread, 64-byte aligned
  /// In the order of operands; of those that it leaves out, every tile may touch all bytes.
  llvm::SmallVector<TileRange> ranges = {};
};

/// How much work a program may be that becomes a single command; none: no program does.
struct SmallProgram {
  int64_t flops = 0, bytes = 0;
  /// With the limits that someone gives instead; below zero: none.
  SmallProgram orGiven(int64_t givenFlops, int64_t givenBytes) const {
    return {givenFlops < 0 ? flops : givenFlops, givenBytes < 0 ? bytes : givenBytes};
  }
};

/// Tiles to try for a dispatch.
struct TileChoices {
  /// What the best of them depends on, as a hash: the kernel, the compiler, the machine.
  std::string key;
  /// Tiles as the attribute `tile` of a dispatch takes them; null: the target's own choice, which comes first.
  llvm::SmallVector<mlir::Attribute> tiles;
};

/// What a compilation of kernels did.
struct CodeGenCounts {
  size_t kernels = 0; // different ones, over all architectures
  size_t cached = 0;  // of them, those whose objects were in the cache
};

class Target {
public:
  virtual ~Target() = default;
  /// What `--target` and `exec.device` call it: "cpu".
  virtual llvm::StringRef kind() const = 0;
  /// The kinds of devices that its code runs on; of those for several (Mixed/MixedTarget.h) the caller's arrays are
  /// where devices of the first work.
  virtual llvm::SmallVector<llvm::StringRef> deviceKinds() const { return {kind()}; }
  /// The dialects that its kernels go through, and their translations.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Makes its own passes known to sprig-opt.
  virtual void registerPasses() const {}
  /// The architectures of a package for which nobody names any.
  virtual std::vector<std::string> packagedArchitectures() const { return CompileOptions().architectures; }
  /// Whether this is the name of one of its architectures, and of no other target's.
  virtual bool namesArchitecture(llvm::StringRef name) const { return false; }
  /// Throws sprig::Error for architectures that it does not know, and for options that it cannot honour.
  virtual void check(const CompileOptions &options) const {}
  /// Whether it has kernels for a precision; the pipeline refuses others.
  virtual bool takes(Precision precision) const { return precision == Precision::f32; }
  /// How fast the devices are that the options name, for the scheduler.
  virtual machine::MachineModel machine(const CompileOptions &options) const = 0;
  /// Those of one of its kinds.
  virtual machine::MachineModel machineOf(llvm::StringRef deviceKind, const CompileOptions &options) const {
    return machine(options);
  }

  /// Whether it has one kernel for all steps of a loop over time; where not, `why` may say it. Others are spelled out
  /// step by step before its layout passes.
  virtual bool takesScan(ir::ScanOp scan, std::string &why) const { return false; }
  /// Whether it has kernels for products with constants that have an accumulator of their own: of ui8 and i8 in i32, of
  /// bf16 in f32. Others' operands are widened.
  virtual bool takesDotProducts() const { return false; }
  /// Passes from nn to nn, on functions of primitives: the layouts that its kernels want.
  virtual void addLayoutPasses(mlir::OpPassManager &passes, const CompileOptions &options) const {}
  /// Whether an operation of its layout passes does nothing but lay a value out for its kernels: a loop that does not
  /// change the value has it done once, in front of it.
  virtual bool isLayout(mlir::Operation *op) const { return false; }
  /// Whether an operation is placed on a device that code is generated for.
  using IsHere = llvm::function_ref<bool(mlir::Operation *)>;
  /// Makes dispatches in a block of primitives for which it has kernels of their own, before others are formed; and
  /// lays out constants that kernels then read through a view: of operations that are here. `precision` is that of
  /// products.
  virtual void fusePatterns(mlir::Block &block, Precision precision, IsHere isHere) const {}

  /// Whether an operation may belong to a group, whose values others may read: an elementwise operation or a reduction
  /// that joins it, or a view of what the group reads, which it then reads in place. What this allows has a plan.
  /// Splats are always part of the kernels that read them.
  virtual bool canFuse(const FusionGroup &group, mlir::Operation *op) const = 0;
  /// The plan of a dispatch; a failure has been reported: it has no kernel for it.
  virtual mlir::FailureOr<KernelPlan> plan(kernel::DispatchOp dispatch) const = 0;
  /// The name of what makes the kernel of a dispatch, for remarks; empty where nothing does.
  virtual llvm::StringRef emitterOf(kernel::DispatchOp dispatch) const { return {}; }
  /// Whether the kernel of a dispatch may write a result into the buffer of an operand of the same type: each element
  /// of the operand is read only for the same element of the dispatch's results, before any of those is written (or, in
  /// a row that is reduced, before any of the row is written).
  virtual bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const { return false; }
  /// Lanes that programs are spread over where nobody asks for a number.
  virtual unsigned defaultLanes() const { return 1; }
  /// Whether a kernel may call others, so that commands which do not depend on each other can become one.
  virtual bool takesComposites() const { return false; }
  /// Programs that become one kernel, which computes several dispatches and keeps what is between them in its scratch
  /// memory.
  virtual SmallProgram inlinedProgram() const { return {}; }
  /// Whether a dispatch may be in such a kernel, which computes all tiles by itself: of a dispatch that has `tiles`
  /// alone, `grain` of which are worth a thread.
  virtual bool isShort(kernel::DispatchOp dispatch, int64_t tiles, int64_t grain) const { return tiles <= grain; }
  /// Programs that become one command, whose kernel calls those of the program.
  virtual SmallProgram mergedProgram() const { return {}; }
  /// For `--tune`, which times them on this machine; no tiles where there is nothing to choose. Throws sprig::Error
  /// where the options ask for code of another machine.
  virtual TileChoices tileChoices(kernel::DispatchOp dispatch, const CompileOptions &options) const { return {}; }

  /// The code of all kernels of a planned program, an image for each architecture that the options name. `cache` may be
  /// null. The context must have all dialects loaded. A failure has been reported; throws sprig::Error for an
  /// architecture that it does not know.
  virtual mlir::FailureOr<std::vector<PackageImage>> compile(mlir::ModuleOp program, const CompileOptions &options,
                                                             FileCache *cache, CodeGenCounts &counts) const = 0;
  /// A form of the planned program's kernels that other tools read (Pipeline/Emit.h). A failure has been reported;
  /// throws sprig::Error for a form that it does not have.
  virtual mlir::FailureOr<std::string> emit(mlir::ModuleOp program, const CompileOptions &options,
                                            llvm::StringRef form) const = 0;
};

} // namespace sprig
