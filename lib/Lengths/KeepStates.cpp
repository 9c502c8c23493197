// The keep-states pass: arguments that results of the call before are become parameters that the function sets.
#define GEN_PASS_DEF_KEEPSTATES
#include "lib/Lengths/Passes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sprig;

namespace {
/// One argument with the result that it is in the next call, and the parameter between.
struct KeptState {
  ir::ParamOp param;
  unsigned argument = 0, result = 0;

  RankedTensorType type() { return param.getTensorType(); }
};
} // namespace

/// Whether the parameter holds a tensor of this type as its beginning along one dimension at most; else why not.
static LogicalResult holds(func::FuncOp function, KeptState &state, Type type, StringRef what) {
  auto own = dyn_cast<RankedTensorType>(type);
  auto refuse = [&]() -> LogicalResult {
    return function.emitError() << "'" << ir::kStateAttr << "' of parameter '" << state.param.getSymName() << "', "
                                << state.type() << ": its " << what << " is " << type
                                << ", expected the same type, or one that is shorter along one dimension";
  };
  if (!own || own.getElementType() != state.type().getElementType() || own.getRank() != state.type().getRank())
    return refuse();
  unsigned shorter = 0;
  for (auto [size, all] : llvm::zip_equal(own.getShape(), state.type().getShape())) {
    if (ShapedType::isDynamic(size) || size > all) return refuse();
    shorter += size < all;
  }
  return shorter > 1 ? refuse() : success();
}

static FailureOr<SmallVector<KeptState>> statesOf(func::FuncOp function, SymbolTable &symbols) {
  SmallVector<KeptState> states;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(argument, ir::kStateAttr);
    if (!symbol) continue;
    KeptState state{symbols.lookup<ir::ParamOp>(symbol.getAttr()), argument, function.getNumResults()};
    if (!state.param)
      return function.emitError() << "'" << ir::kStateAttr << "' on argument " << argument << ": there is no parameter "
                                  << symbol;
    unsigned found = 0;
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (function.getResultAttrOfType<FlatSymbolRefAttr>(result, ir::kStateAttr) == symbol) {
        state.result = result;
        ++found;
      }
    bool isTwice = llvm::any_of(states, [&](KeptState &other) { return other.param == state.param; });
    if (found != 1 || isTwice)
      return function.emitError() << "'" << ir::kStateAttr << "' of parameter " << symbol
                                  << ": expected one argument and one result, found "
                                  << (isTwice ? "a second argument"
                                      : found ? "several results"
                                              : "no result");
    if (failed(holds(function, state, function.getArgument(argument).getType(), "argument")) ||
        failed(holds(function, state, function.getResultTypes()[state.result], "result")))
      return failure();
    states.push_back(state);
  }
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto symbol = function.getResultAttrOfType<FlatSymbolRefAttr>(result, ir::kStateAttr);
        symbol && llvm::none_of(states, [&](KeptState &state) { return state.result == result; }))
      return function.emitError() << "'" << ir::kStateAttr << "' on result " << result << ": no argument has "
                                  << symbol;
  return states;
}

static Value sliceOf(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> steps(starts.size(), 1);
  return ir::SliceOp::create(b, loc, value, starts, sizes, steps);
}

static Value read(OpBuilder &b, Location loc, KeptState &state) {
  return ir::GetParamOp::create(b, loc, state.type(), FlatSymbolRefAttr::get(state.param.getSymNameAttr()));
}

/// The parameter's new value: the result, and behind it what has been there.
static Value withBeginning(OpBuilder &b, Location loc, KeptState &state, Value result) {
  ArrayRef<int64_t> own = cast<RankedTensorType>(result.getType()).getShape(), all = state.type().getShape();
  for (unsigned dim = 0; dim < all.size(); ++dim) {
    if (own[dim] == all[dim]) continue;
    SmallVector<int64_t> starts(all.size(), 0), sizes(all);
    starts[dim] = own[dim];
    sizes[dim] = all[dim] - own[dim];
    Value rest = sliceOf(b, loc, read(b, loc, state), starts, sizes);
    return own[dim] ? ir::ConcatOp::create(b, loc, ValueRange{result, rest}, dim).getResult() : rest;
  }
  return result;
}

/// `nn.lengths` without the ports that are gone; fails where none is left that tells the length.
static LogicalResult dropPorts(func::FuncOp function, const llvm::BitVector &arguments,
                               const llvm::BitVector &results) {
  auto stated = function->getAttrOfType<DictionaryAttr>(ir::kLengthsAttr);
  if (!stated) return success();
  if (!stated.get("inputs"))
    return function.emitError()
           << "is of one length among several: sprig-mask-lengths comes before its states are kept";
  auto left = [&](StringRef side, const llvm::BitVector &gone) {
    SmallVector<Attribute> kept;
    for (auto [i, port] : llvm::enumerate(stated.getAs<ArrayAttr>(side)))
      if (!gone.test(i)) kept.push_back(port);
    return ArrayAttr::get(function.getContext(), kept);
  };
  ArrayAttr inputs = left("inputs", arguments);
  bool tells = llvm::any_of(inputs.getAsRange<DenseI64ArrayAttr>(), [](DenseI64ArrayAttr port) {
    for (int64_t i = 0; i < port.size(); i += 4)
      if (port[i + 3] == 1) return true;
    return false;
  });
  if (!tells)
    return function.emitError() << "no input but its states has a dimension that grows with "
                                << stated.getAs<StringAttr>("axis")
                                << ", so that nothing tells how much of them is there";
  NamedAttrList changed(stated);
  changed.set("inputs", inputs);
  changed.set("outputs", left("outputs", results));
  function->setAttr(ir::kLengthsAttr, changed.getDictionary(function.getContext()));
  return success();
}

static LogicalResult keepStates(func::FuncOp function, SymbolTable &symbols) {
  if (function.isExternal()) return success();
  FailureOr<SmallVector<KeptState>> states = statesOf(function, symbols);
  if (failed(states)) return failure();
  if (states->empty()) return success();
  llvm::BitVector arguments(function.getNumArguments()), results(function.getNumResults());
  Operation *end = function.front().getTerminator();
  OpBuilder begin = OpBuilder::atBlockBegin(&function.front()), b(end);
  for (KeptState &state : *states) {
    BlockArgument argument = function.getArgument(state.argument);
    auto type = cast<RankedTensorType>(argument.getType());
    Value value = read(begin, argument.getLoc(), state);
    if (type != state.type())
      value = sliceOf(begin, argument.getLoc(), value, SmallVector<int64_t>(type.getRank(), 0), type.getShape());
    argument.replaceAllUsesWith(value);
    arguments.set(state.argument);
    results.set(state.result);
  }
  for (KeptState &state : *states) {
    Value result = end->getOperand(state.result);
    ir::SetParamOp::create(b, end->getLoc(), FlatSymbolRefAttr::get(state.param.getSymNameAttr()),
                           withBeginning(b, end->getLoc(), state, result));
  }
  if (failed(dropPorts(function, arguments, results))) return failure();
  end->eraseOperands(results);
  return success(succeeded(function.eraseArguments(arguments)) && succeeded(function.eraseResults(results)));
}

namespace {
struct KeepStates : sprig::impl::KeepStatesBase<KeepStates> {
  using KeepStatesBase::KeepStatesBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(keepStates(function, symbols))) return signalPassFailure();
  }
};
} // namespace
