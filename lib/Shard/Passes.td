//===- Passes.td - Programs of many ranks ------------------------------------------------------------------------------===//

#ifndef SPRIG_SHARD_PASSES_TD
#define SPRIG_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandCollectives : Pass<"sprig-expand-collectives", "::mlir::ModuleOp"> {
  let summary = "Spells collectives out as the steps of one rank";
  let description = [{
    Every collective of `dist` becomes `dist.steps`: what the rank sends, receives and combines, by the algorithm that
    the collective names, else by `algorithm`, where it does what is asked, else by the one that is taken by default: for an
    all-reduce the tree or the ring by its bytes. The programs are those that engines run and the simulator plays
    (runtime/collective), so what is counted here is what happens. A collective of a group of one moves nothing.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", "0", "whose program it becomes, by its number on the mesh">,
    Option<"algorithm", "algorithm", "std::string", "\"\"", "of collectives that name none and that it can do">,
    Option<"perMachine", "per-machine", "int64_t", "1", "ranks of a machine, for the algorithm 'hierarchy'">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

def BucketAllReduces : Pass<"sprig-bucket-all-reduces", "::mlir::func::FuncOp"> {
  let summary = "Joins all-reduces, so that their messages are fewer and longer";
  let description = [{
    All-reduces of one reduction, group, algorithm and element type that follow each other become one at the place of the
    last of them, as long as it has at most `bytes`, nothing between reads a result, and none of another kind comes
    between. What is joined follows from the order of the function and the sizes of its tensors, which are the same on all
    ranks, be their shares of a batch what they may. Each tensor is cut into pieces by itself, so bits do not depend on
    it. One of more bytes stays alone.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "1 << 20", "most bytes that go together">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

#endif // SPRIG_SHARD_PASSES_TD
