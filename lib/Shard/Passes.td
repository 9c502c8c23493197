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
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

def DropLoneCollectives : Pass<"sprig-drop-lone-collectives", "::mlir::func::FuncOp"> {
  let summary = "Removes the collectives of groups of one rank";
  let description = [{
    Who is alone has all parts, and is waited for by nobody: a result is its operand. So a mesh, or an axis, of one rank
    costs nothing, and a program of one rank has no commands of ranks.
  }];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

def PlanCollectives : Pass<"sprig-plan-collectives", "::mlir::func::FuncOp"> {
  let summary = "Writes down the collectives of a function, for sprig-check-collectives";
  let description = [{
    Ranks that come to other collectives than the rest wait for ever, or read each other's numbers. `dist.plan` says what
    the function does together with other ranks: kind, bytes, group and order. It is written where the program of a rank
    is final in this, and read where code is about to be made.
  }];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

def CheckCollectives : Pass<"sprig-check-collectives", "::mlir::func::FuncOp"> {
  let summary = "Refuses a function whose collectives are not those of its plan";
  let description = [{
    Passes behind `sprig-plan-collectives` may move a collective to where its operands are ready and its result is
    needed, but drop, repeat, join or exchange none. What differs is an error of the compiler, and names both. The plan is
    removed.
  }];
}

def GatherFactors : Pass<"sprig-gather-factors", "::mlir::func::FuncOp"> {
  let summary = "Makes products of gathered factors of sums of products over ranks";
  let description = [{
    The gradient of a dense layer's weight is a product over samples, of which each rank has its own: an all-reduce adds
    up the ranks' products. Where samples are few and the weight is large, the factors are far fewer numbers: each rank
    gathers them, the rows of all ranks in the order of their numbers, and has the whole product. So each element is one
    chain over all samples, as on one rank. The rule is `gathersFactors` (FactorRule.h): sizes and the number of ranks
    decide, and nothing of the machine. A factor that several products have is gathered once, and the sum over the rows
    of one that is gathered (the gradient of a bias) needs no all-reduce.

    That is done to an `all_reduce` of a sum, of one value and without an algorithm of its own, whose operand is a product
    of two matrices that nobody else reads; between them may be reshapes, transposes and products with one number. Sums
    of several passes stay, as do means. In a program that is one rank's alone (`dist.rank`) the sum has to be marked
    `dist.late`, which says that other ranks have it in the same form, each rank two samples at least (of `dist.samples`,
    by `weights`), and the rows have to be those of samples, by the dimension rules of what made them. Where shares are
    not even each rank gives as many samples as the largest share has, filled with zeros. Gathers stand right behind
    their operand, and are late where the sum was. A remark says what was done.
    With `divide` each rank multiplies its part of a product's rows, where ranks have even parts, and all gather these:
    each element is the same chain.
  }];
  let options = [
    Option<"always", "always", "bool", "false", "wherever fewer bytes move, however much there is to compute">,
    Option<"divide", "divide", "bool", "false",
           "each rank multiplies its part of a product's rows, and all gather these, where ranks have even parts: for "
           "ranks between which bytes cost less than products; the same bits">,
    ListOption<"weights", "weights", "int64_t", "of the ranks' shares of samples, where they are not even">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

def BucketCollectives : Pass<"sprig-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "Joins collectives, so that their messages are fewer and longer";
  let description = [{
    All-reduces, reduce-scatters or all-gathers of one reduction, group, algorithm and element type that follow each other
    become one, as long as its wholes have at most `bytes`, and nothing between reads a result. Those that no other
    collective needs a result of are late: they join over others, come behind the last other collective that they need a
    result of and in front of what makes more of them, with what they need before them, and what reads them comes in the
    end. So gradients leave as the backward pass makes them, let the sums pass that it waits for in between, and updates
    come when they are back. In a program that is one rank's alone
    (`dist.rank`) those count as late that are marked so (`dist.late`), and where any are marked those alone, which may
    need each other: a gather of updated parameters comes behind the updates that it needs, in front of the next ones.
    Late ones are marked behind the pass. Those that say a place in the order (`dist.order`) come by it, whatever the
    order of the function is. Nothing passes a barrier.
    What is joined, and the order of all collectives, follow from what they need of each other, the order of the function
    and the sizes of its wholes, which are the same on all ranks, be their shares of a batch what they may. Each tensor
    is cut into pieces by itself, so bits do not depend on it. One of more bytes stays alone.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "1 << 20", "most bytes that go together">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

def StateStrategy : Pass<"sprig-state-strategy", "::mlir::ModuleOp"> {
  let summary = "States shardings of steps of samples, as a strategy of several ranks has them";
  let description = [{
    The strategies are those of lib/Shard/Strategy. They look for the marks that steps bear (dialects/NN/Attributes.h:
    passes, gradients, totals, the optimizer's state), and add dist.shard and attributes of shardings alone, on `mesh` or
    where none is given the module's. It runs before gradients become operations. The marks go; with a strategy those
    stay that the partition reads.
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "\"\"", "its name; none: the marks go, and nothing else happens">,
    Option<"mesh", "mesh", "std::string", "\"\"", "axes and how many ranks each has, as data=2: added where there is none">,
    ListOption<"weights", "weights", "int64_t", "of the ranks' shares of samples, where they are not even">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

def StateShardings : Pass<"sprig-state-shardings", "::mlir::ModuleOp"> {
  let summary = "States shardings of what has a name: inputs, outputs and parameters";
  let description = [{
    Adds a `dist.mesh`, where there is none of these axes, and writes `dist.sharding` on arguments and results of
    functions and on parameters, from text as the command line takes it. A name that is several things' is stated of all.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "axes and how many ranks each has: data=2,model=4">,
    ListOption<"shardings", "shardings", "std::string", "each as NAME=data,-: the axes of each dimension">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect"];
}

def PropagateShardings : Pass<"sprig-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Gives all values shardings, from those that are stated";
  let description = [{
    What is stated (on arguments, results and parameters of functions, by dist.shard) stays as it is; a parameter without
    a sharding is replicated. Everything else follows: along the factors of an operation's dimension rule the axes of one
    value become those of the others, forward and backward until nothing changes. Lists of axes only grow. Elementwise
    operations come first, all others when these agree. Where values disagree about a factor, stated ones win over others,
    then results over operands, then those that come first; the others keep what they have, and the partition moves data.

    A composite that needs a dimension whole which is split is decomposed, so that its parts can be sums over ranks. The
    shardings are written as `dist.sharding` of arguments and results and `dist.shardings` of operations.
  }];
  let options = [
    Option<"parameters", "parameters", "bool", "false",
           "parameters of which nothing is stated follow too, where all that read them agree">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

def Partition : Pass<"sprig-partition", "::mlir::ModuleOp"> {
  let summary = "Makes the program of one rank from functions of sharded values";
  let description = [{
    Arguments, results, parameters and operations become those of the rank's parts, whose sizes may differ from rank to
    rank where an axis does not divide them. Between what an operation gives and what another needs stand collectives: a
    partial value becomes whole by an all_reduce, or by a reduce_scatter where it is needed split; a split one by an
    all_gather, or by an all_to_all where the axis goes to another dimension; what is replicated is split by a slice. A
    value stays partial as long as all that read it are linear in it and give no more elements than they take. All ranks'
    programs have the same operations in the same order. A parameter that becomes a flat piece says of which shape
    (`dist.piece`).

    In steps (`nn.passes`) what would gather values of samples, which are more bytes than parameters as a rule, is an error
    without `allow-gather`.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", "0", "whose program it becomes, by its number on the mesh">,
    Option<"together", "together", "bool", "false",
           "where all ranks have parts of one size the program is every rank's: parts are taken by dist.part">,
    Option<"allowGather", "allow-gather", "bool", "false",
           "whether a step may gather what ranks have of values of samples">,
    Option<"noteMost", "note-most", "bool", "false",
           "whether operations say how many bytes their results have on the rank that has most (dist.most_bytes)">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

def PartitionRanks : Pass<"sprig-partition-ranks", "::mlir::ModuleOp"> {
  let summary = "Puts the programs of all ranks beside each other";
  let description = [{
    Each function with shardings becomes one of each rank, as the partition pass makes them: entries of one name, of which
    a package has those of all ranks. A parameter that is split becomes one of each rank, others are shared. Functions
    name the mesh (`dist.mesh`) and the rank (`dist.rank`), and arguments and results that are pieces say where they lie
    in their whole (`dist.piece`), so that who calls them can split arrays and put them together.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", "-1", "the only rank whose programs are made; below zero: all">,
  ];
  let dependentDialects = ["::sprig::ir::dist::DistDialect", "::sprig::ir::NNDialect"];
}

#endif // SPRIG_SHARD_PASSES_TD
