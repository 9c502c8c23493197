// Evaluates operations through the table, and blocks of them with values freed after their last use.
#include "lib/Interpreter/Interpreter.h"
#include "dialects/Interfaces/DecomposeCopy.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/Constants.h"
#include "lib/Interpreter/Evaluation.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>

namespace sprig::interp {
namespace {

// Part `index` along the first dimension.
Tensor sliceOf(const Tensor &tensor, int64_t index, mlir::RankedTensorType type) {
  if (tensor.isSplat()) return tensor.reshaped(type);
  return byClass(tensor, [&](auto zero) {
    std::vector<decltype(zero)> values(type.getNumElements());
    tensor.load(index * type.getNumElements(), values.size(), values.data());
    return Tensor::of(type, std::move(values));
  });
}

Tensor stacked(llvm::ArrayRef<Tensor> parts, mlir::RankedTensorType type) {
  return byClass(parts.front(), [&](auto zero) {
    std::vector<decltype(zero)> values(type.getNumElements());
    int64_t at = 0;
    for (const Tensor &part : parts) {
      part.load(0, part.count(), values.data() + at);
      at += part.count();
    }
    return Tensor::of(type, std::move(values));
  });
}

bool isTrue(const Tensor &flag) {
  return byClass(flag, [&](auto zero) {
    decltype(zero) value{};
    flag.load(0, 1, &value);
    return value != decltype(zero)(0);
  });
}

/// The results of an operation with regions, which run here; nothing where it is none of those.
std::optional<mlir::FailureOr<Results>> runRegions(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                                                   const RunOptions &options, mlir::Operation *symbols);

// Runs the operations of a block; what it does not define itself comes in through `values`.
class BlockRunner {
public:
  BlockRunner(const RunOptions &options, mlir::Operation *symbols) : options(options), symbols(symbols) {}

  mlir::FailureOr<Results> run(mlir::Block &block, llvm::ArrayRef<Tensor> inputs) {
    for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), inputs)) values[argument] = tensor;
    countUses(block);
    for (mlir::Operation &op : block) {
      Results operands;
      for (mlir::Value operand : op.getOperands()) operands.push_back(values.lookup(operand));
      if (op.hasTrait<mlir::OpTrait::IsTerminator>()) {
        if (options.state)
          for (auto &[name, tensor] : updates) (*options.state)[name] = tensor;
        return operands;
      }
      mlir::FailureOr<Results> results = runOne(&op, operands);
      if (mlir::failed(results)) return mlir::failure();
      for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results)) values[value] = tensor;
      if (options.watcher && op.getNumRegions() == 0) options.watcher->onResults(&op, operands, *results);
      release(op);
    }
    return Results();
  }

private:
  void countUses(mlir::Block &block) {
    for (mlir::Operation &op : block)
      for (mlir::Value operand : op.getOperands()) ++uses[operand];
  }
  void release(mlir::Operation &op) {
    for (mlir::Value operand : op.getOperands())
      if (--uses[operand] == 0) values.erase(operand);
    for (mlir::Value result : op.getResults())
      if (result.use_empty()) values.erase(result);
  }

  mlir::FailureOr<Results> runOne(mlir::Operation *op, llvm::ArrayRef<Tensor> operands) {
    if (auto get = llvm::dyn_cast<ir::GetParamOp>(op)) return parameter(get);
    if (auto set = llvm::dyn_cast<ir::SetParamOp>(op)) {
      updates.push_back({set.getParam().str(), operands.front()});
      return Results();
    }
    if (op->getNumRegions())
      if (auto results = runRegions(op, operands, {options.precision, options.watcher}, symbols)) return *results;
    return evaluate(op, operands, options.precision);
  }

  mlir::FailureOr<Results> parameter(ir::GetParamOp get) {
    if (options.state)
      if (auto found = options.state->find(get.getParam()); found != options.state->end())
        return Results{found->second};
    auto param = tables.lookupNearestSymbolFrom<ir::ParamOp>(symbols, get.getParamAttr());
    if (!param) return get.emitOpError("names no parameter: ") << get.getParam();
    mlir::FailureOr<Tensor> tensor = constantTensor(param.getValue(), param.getLoc());
    if (mlir::failed(tensor)) return mlir::failure();
    return Results{*tensor};
  }

  const RunOptions &options;
  mlir::Operation *symbols; // any operation below the symbol table
  mlir::SymbolTableCollection tables;
  llvm::DenseMap<mlir::Value, Tensor> values;
  llvm::DenseMap<mlir::Value, int64_t> uses;
  std::vector<std::pair<std::string, Tensor>> updates; // by nn.set_param
};

// The regions of one operation, which write no state.
class RegionRunner {
public:
  RegionRunner(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, const RunOptions &options,
               mlir::Operation *symbols)
      : op(op), operands(operands), options(options), symbols(symbols), sources(op->getOperands()) {
    if (options.watcher) options.watcher->onRegions(op);
  }

  // Runs the region once on all operands.
  mlir::FailureOr<Results> part(mlir::Region &region) { return runLast(region.front(), operands); }

  // A scan: its region once for each step.
  mlir::FailureOr<Results> scan(ir::ScanOp scan) {
    int64_t steps = scan.getSteps();
    size_t inputs = scan.getNumInputs(), carried = scan.getNumCarried();
    std::vector<Results> outputs(scan.getNumOutputs(), Results(steps));
    Results arguments(operands);
    mlir::Block &block = scan.getStep();
    for (int64_t i = 0; i < steps; ++i) {
      int64_t step = scan.getReverse() ? steps - 1 - i : i;
      for (size_t k = 0; k < inputs; ++k)
        arguments[k] = sliceOf(operands[k], step, llvm::cast<mlir::RankedTensorType>(block.getArgument(k).getType()));
      mlir::FailureOr<Results> yielded = runOn(block, arguments);
      if (mlir::failed(yielded)) return mlir::failure();
      auto given = llvm::ArrayRef(*yielded);
      pass(block.getTerminator()->getOperands().drop_front(carried), scan.getResults().drop_front(carried),
           given.drop_front(carried));
      carry(block, inputs, given.take_front(carried), arguments);
      for (size_t k = 0; k < outputs.size(); ++k) outputs[k][step] = given[carried + k];
    }
    Results results = carriedOut(inputs, carried, arguments);
    for (size_t k = 0; k < outputs.size(); ++k)
      results.push_back(stacked(outputs[k], llvm::cast<mlir::RankedTensorType>(scan.getResult(carried + k).getType())));
    return results;
  }

  // A branch: one of its regions.
  mlir::FailureOr<Results> cond(ir::CondOp cond) {
    mlir::Region &taken = isTrue(operands.front()) ? cond.getThenRegion() : cond.getElseRegion();
    sources.erase(sources.begin());
    return runLast(taken.front(), operands.drop_front());
  }

  // A loop: its condition, and where that holds its body.
  mlir::FailureOr<Results> whileLoop(ir::WhileOp loop) {
    size_t carried = loop.getNumCarried();
    Results arguments(operands);
    mlir::Block &body = loop.getBody().front();
    for (uint64_t step = 0; !loop.getMaxSteps() || step < *loop.getMaxSteps(); ++step) {
      mlir::FailureOr<Results> flag = runOn(loop.getCondition().front(), arguments);
      if (mlir::failed(flag)) return mlir::failure();
      if (!isTrue(flag->front())) break;
      mlir::FailureOr<Results> next = runOn(body, arguments);
      if (mlir::failed(next)) return mlir::failure();
      carry(body, 0, *next, arguments);
    }
    return carriedOut(0, carried, arguments);
  }

private:
  void pass(mlir::ValueRange from, mlir::ValueRange to, llvm::ArrayRef<Tensor> tensors) {
    if (options.watcher) options.watcher->onPass(from, to, tensors);
  }
  mlir::FailureOr<Results> runOn(mlir::Block &block, llvm::ArrayRef<Tensor> arguments) {
    pass(sources, block.getArguments(), arguments);
    return BlockRunner(options, symbols).run(block, arguments);
  }
  mlir::FailureOr<Results> runLast(mlir::Block &block, llvm::ArrayRef<Tensor> arguments) {
    mlir::FailureOr<Results> results = runOn(block, arguments);
    if (mlir::succeeded(results)) pass(block.getTerminator()->getOperands(), op->getResults(), *results);
    return results;
  }
  // A loop's step takes what the one before it gives.
  void carry(mlir::Block &block, size_t first, llvm::ArrayRef<Tensor> given, Results &arguments) {
    auto held = block.getArguments().slice(first, given.size());
    pass(block.getTerminator()->getOperands().take_front(given.size()), mlir::ValueRange(held), given);
    llvm::copy(held, sources.begin() + first);
    llvm::copy(given, arguments.begin() + first);
  }
  Results carriedOut(size_t first, size_t count, const Results &arguments) {
    Results results(arguments.begin() + first, arguments.begin() + first + count);
    pass(mlir::ValueRange(sources).slice(first, count), op->getResults().take_front(count), results);
    return results;
  }

  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  const RunOptions options;
  mlir::Operation *symbols;               // any operation below the symbol table
  llvm::SmallVector<mlir::Value> sources; // where the region's next arguments come from
};

std::optional<mlir::FailureOr<Results>> runRegions(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                                                   const RunOptions &options, mlir::Operation *symbols) {
  RegionRunner runner(op, operands, options, symbols);
  if (auto dispatch = llvm::dyn_cast<kernel::DispatchOp>(op)) return runner.part(dispatch.getBody());
  if (auto part = llvm::dyn_cast<ir::CheckpointOp>(op)) return runner.part(part.getBody());
  if (auto part = llvm::dyn_cast<ir::CustomGradientOp>(op)) return runner.part(part.getForward());
  if (auto scan = llvm::dyn_cast<ir::ScanOp>(op)) return runner.scan(scan);
  if (auto cond = llvm::dyn_cast<ir::CondOp>(op)) return runner.cond(cond);
  if (auto loop = llvm::dyn_cast<ir::WhileOp>(op)) return runner.whileLoop(loop);
  return std::nullopt;
}

// A composite without an evaluator of its own: its decomposition, built in a function of its own and run.
mlir::FailureOr<Results> evaluateDecomposed(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, Precision precision,
                                            std::string &error) {
  mlir::OpBuilder builder(op->getContext());
  mlir::Location loc = op->getLoc();
  mlir::OwningOpRef<mlir::func::FuncOp> function = mlir::func::FuncOp::create(
      builder, loc, "decomposed", builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  mlir::Block &block = function->getBody().emplaceBlock();
  auto values = decomposeCopy(op, block);
  if (mlir::failed(values)) {
    error = "does not decompose";
    return mlir::failure();
  }
  builder.setInsertionPointToEnd(&block);
  mlir::func::ReturnOp::create(builder, loc, *values);
  return run(*function, operands, {precision});
}

} // namespace

bool isInterpreted(mlir::OperationName name) {
  const llvm::StringRef other[] = {ir::ConstantOp::getOperationName(), ir::ScanOp::getOperationName(),
                                   ir::CondOp::getOperationName(), ir::WhileOp::getOperationName()};
  return EvaluatorTable::get().find(name) || llvm::is_contained(other, name.getStringRef()) ||
         name.hasInterface<DecomposableOpInterface>();
}

mlir::FailureOr<Tensor> constantTensor(mlir::ElementsAttr value, mlir::Location loc) {
  std::string reason;
  if (!ir::isReadableConstant(value, reason)) return mlir::emitError(loc) << "the constant is not readable: " << reason;
  auto view = std::make_shared<ir::ConstantView>(value);
  return Tensor::viewBytes(view->type(), view->bytes(), view);
}

mlir::FailureOr<Results> tryEvaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, Precision precision,
                                     std::string &error) {
  if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op)) {
    mlir::FailureOr<Tensor> tensor = constantTensor(constant.getValue(), op->getLoc());
    if (mlir::failed(tensor)) return mlir::failure();
    return Results{*tensor};
  }
  if (llvm::isa<ir::ScanOp, ir::CondOp, ir::WhileOp>(op)) return *runRegions(op, operands, {precision}, op);
  const EvaluatorTable::Evaluator *evaluator = EvaluatorTable::get().find(op->getName());
  if (!evaluator && llvm::isa<DecomposableOpInterface>(op)) return evaluateDecomposed(op, operands, precision, error);
  if (!evaluator) {
    error = "is not an operation that the interpreter evaluates";
    return mlir::failure();
  }
  Evaluation evaluation{op, operands, {}, {}};
  if (mlir::failed((*evaluator)(evaluation))) {
    error = evaluation.error;
    return mlir::failure();
  }
  Results results(evaluation.results.begin(), evaluation.results.end());
  if (precision == Precision::Rounded)
    for (Tensor &result : results) result = result.rounded();
  return results;
}

mlir::FailureOr<Results> evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, Precision precision) {
  std::string error;
  mlir::FailureOr<Results> results = tryEvaluate(op, operands, precision, error);
  if (mlir::failed(results) && !error.empty()) return op->emitOpError(error);
  return results;
}

mlir::FailureOr<Results> run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs, const RunOptions &options) {
  if (!function.getBody().hasOneBlock()) return function.emitOpError("has no body of one block to run");
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError("takes ") << function.getNumArguments() << " inputs and gets " << inputs.size();
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input.type() != function.getArgumentTypes()[i])
      return function.emitOpError("takes ") << ir::describe(function.getArgumentTypes()[i]) << " as input " << i
                                            << " and gets " << ir::describe(input.type());
  return BlockRunner(options, function).run(function.getBody().front(), inputs);
}

} // namespace sprig::interp
