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
      if (options.onResults) options.onResults(&op, *results);
      release(op);
    }
    return Results();
  }

  /// Of operations inside another one, which write no state.
  static mlir::FailureOr<Results> runInside(mlir::Operation *symbols, mlir::Block &block, llvm::ArrayRef<Tensor> inputs,
                                            Precision precision) {
    RunOptions inner{precision};
    return BlockRunner(inner, symbols).run(block, inputs);
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
    auto runPart = [&](mlir::Region &region) {
      return runInside(symbols, region.front(), operands, options.precision);
    };
    if (auto dispatch = llvm::dyn_cast<kernel::DispatchOp>(op)) return runPart(dispatch.getBody());
    if (auto get = llvm::dyn_cast<ir::GetParamOp>(op)) return parameter(get);
    if (auto set = llvm::dyn_cast<ir::SetParamOp>(op)) {
      updates.push_back({set.getParam().str(), operands.front()});
      return Results();
    }
    if (auto part = llvm::dyn_cast<ir::CheckpointOp>(op)) return runPart(part.getBody());
    if (auto part = llvm::dyn_cast<ir::CustomGradientOp>(op)) return runPart(part.getForward());
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

// A scan: its region once for each step.
mlir::FailureOr<Results> runScan(ir::ScanOp scan, llvm::ArrayRef<Tensor> operands, Precision precision) {
  int64_t steps = scan.getSteps();
  size_t inputs = scan.getNumInputs(), carried = scan.getNumCarried();
  std::vector<Results> outputs(scan.getNumOutputs(), Results(steps));
  Results arguments(operands);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = scan.getReverse() ? steps - 1 - i : i;
    for (size_t k = 0; k < inputs; ++k)
      arguments[k] =
          sliceOf(operands[k], step, llvm::cast<mlir::RankedTensorType>(scan.getStep().getArgument(k).getType()));
    mlir::FailureOr<Results> yielded = BlockRunner::runInside(scan, scan.getStep(), arguments, precision);
    if (mlir::failed(yielded)) return mlir::failure();
    for (size_t k = 0; k < carried; ++k) arguments[inputs + k] = (*yielded)[k];
    for (size_t k = 0; k < outputs.size(); ++k) outputs[k][step] = (*yielded)[carried + k];
  }
  Results results(arguments.begin() + inputs, arguments.begin() + inputs + carried);
  for (size_t k = 0; k < outputs.size(); ++k)
    results.push_back(stacked(outputs[k], llvm::cast<mlir::RankedTensorType>(scan.getResult(carried + k).getType())));
  return results;
}

bool isTrue(const Tensor &flag) {
  return byClass(flag, [&](auto zero) {
    decltype(zero) value{};
    flag.load(0, 1, &value);
    return value != decltype(zero)(0);
  });
}

// A branch: one of its regions.
mlir::FailureOr<Results> runCond(ir::CondOp cond, llvm::ArrayRef<Tensor> operands, Precision precision) {
  mlir::Region &taken = isTrue(operands.front()) ? cond.getThenRegion() : cond.getElseRegion();
  return BlockRunner::runInside(cond, taken.front(), operands.drop_front(), precision);
}

// A loop: its condition, and where that holds its body.
mlir::FailureOr<Results> runWhile(ir::WhileOp loop, llvm::ArrayRef<Tensor> operands, Precision precision) {
  size_t carried = loop.getNumCarried();
  Results arguments(operands);
  for (uint64_t step = 0; !loop.getMaxSteps() || step < *loop.getMaxSteps(); ++step) {
    mlir::FailureOr<Results> flag = BlockRunner::runInside(loop, loop.getCondition().front(), arguments, precision);
    if (mlir::failed(flag)) return mlir::failure();
    if (!isTrue(flag->front())) break;
    mlir::FailureOr<Results> next = BlockRunner::runInside(loop, loop.getBody().front(), arguments, precision);
    if (mlir::failed(next)) return mlir::failure();
    llvm::copy(*next, arguments.begin());
  }
  arguments.resize(carried);
  return arguments;
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
  if (auto scan = llvm::dyn_cast<ir::ScanOp>(op)) return runScan(scan, operands, precision);
  if (auto cond = llvm::dyn_cast<ir::CondOp>(op)) return runCond(cond, operands, precision);
  if (auto loop = llvm::dyn_cast<ir::WhileOp>(op)) return runWhile(loop, operands, precision);
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
