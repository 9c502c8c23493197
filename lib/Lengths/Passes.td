//===- Passes.td - Entries that take several lengths -------------------------------------------------------------------===//

#ifndef SPRIG_LENGTHS_PASSES_TD
#define SPRIG_LENGTHS_PASSES_TD

include "mlir/Pass/PassBase.td"

def MaskLengths : Pass<"sprig-mask-lengths", "::mlir::ModuleOp"> {
  let summary = "Makes one program for all lengths of an axis of the same program at several lengths";
  let description = [{
    Functions with `nn.lengths = {axis, first, last, length, group}` of one group are one model at several lengths of an
    axis. What stays of them is that of the length `last`, for every length t from `first` on: it has one more argument,
    t, and computes on arrays of `last` elements, of which the first t are given. Its attribute then tells which
    dimensions of its arguments and results grow, and how (`Length`): {axis, first, last, inputs, outputs}.

    The functions are compared operation by operation. Dimensions whose sizes differ grow; dimension rules say how their
    lengths go on from operands to results. What lies behind a length is anything, and nothing valid is made of it:
    where elements of a growing dimension come together, those behind its end are replaced before by what does not count
    (-0 and 0 of products, -0 of sums, the lowest number of maxima and of softmax), so each valid element has the bits
    of the function at that length. Starts of slices, places of concatenated parts, and numbers that are a multiple of
    t, of its reciprocal too, are computed from t; recurrent layers get t as the lengths of their sequences. Composites
    that need a growing dimension whole are decomposed.

    Refused with the operation's place: whatever differs between the functions in another way (so a decision that the
    model takes by a length), what needs a growing dimension whole, samples and steps in one dimension, and sums of
    products whose cuts (docs/numerics.md) are not the same from `first` to `last`.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "kind of device that it is for: of others than the processor sums go by the number of elements">,
  ];
}

def KeepStates : Pass<"sprig-keep-states", "::mlir::ModuleOp"> {
  let summary = "Makes state of arguments that results of the call before are";
  let description = [{
    An argument and a result with one `nn.state = @parameter` leave the function's signature: the argument is read from
    the parameter, the result sets it. A parameter that is longer along one dimension holds what grows from call to call
    (keys and values of a decoder): the argument is its beginning, the result replaces its beginning, and what lies
    behind stays. Behind `sprig-mask-lengths`, whose programs do not read what is behind a length; at least one argument
    that is left must tell the length.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

#endif // SPRIG_LENGTHS_PASSES_TD
