//===- Passes.td - From dispatches to a planned program ----------------------------------------------------------------===//
//
// One entry, one .cpp and one test per pass, of one stem: `plan-memory`, PlanMemory.cpp, test/Parallel/plan-memory.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_PARALLEL_PASSES_TD
#define SPRIG_PARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"sprig-schedule", "::mlir::ModuleOp"> {
  let summary = "Turns functions of dispatches into programs: kernels, buffers and lanes of commands";
  let description = [{
    Each public function becomes an `exec.program` of the same name. A dispatch becomes a kernel, equal ones the same
    kernel, and a command; a reshape is no command but another view of a buffer; a constant becomes bytes of the package,
    a parameter a buffer of its state. What the function returns is copied to the outputs; `plan-memory` removes the
    copies that it can. All commands are on one lane.
  }];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

def PlanMemory : Pass<"sprig-plan-memory", "::sprig::exec::ProgramOp"> {
  let summary = "Gives every arena buffer its place";
  let description = [{
    A result that is copied to an output is written there in the first place when nothing else forbids it. Buffers whose
    lifetimes do not overlap share bytes; of several ways to place them the smallest arena counts. A result is written
    over an operand that nothing reads any more, where the scheduler says that the kernel allows it.
    Remarks of the category `memory` state the arena's size beside the lower bound, the most bytes alive at once.
  }];
}

def MergeDispatches : Pass<"sprig-merge-dispatches", "::mlir::ModuleOp"> {
  let summary = "Makes one command of a small program";
  let description = [{
    When the work of a whole program is below both limits and no command is worth a second thread, its kernels are
    called one after the other from one composite kernel, so that a run hands over once. Needs planned memory.
  }];
  let options = [
    Option<"maxFlops", "max-flops", "int64_t", "2000000", "most floating-point operations of a small program">,
    Option<"maxBytes", "max-bytes", "int64_t", "1048576", "most bytes that a small program moves">,
  ];
}

#endif // SPRIG_PARALLEL_PASSES_TD
