// Bisection: compiled versions of the entry that end early and return what lies inside.
#include "lib/Interpreter/Bisect.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

namespace sprig::interp {
namespace {

using Values = llvm::SetVector<mlir::Value>;

class Bisector {
public:
  Bisector(mlir::ModuleOp module, mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs,
           const CompileAndRun &compile, const BisectOptions &options)
      : module(module), function(function), inputs(inputs), compile(compile), options(options) {
    for (mlir::Operation &op : function.getBody().front())
      if (!op.hasTrait<mlir::OpTrait::IsTerminator>() && !isGiven(&op)) operations.push_back(&op);
  }

  mlir::FailureOr<BisectReport> run() {
    for (size_t begin = 0; begin < operations.size();) {
      size_t end = chunkEnd(begin);
      mlir::FailureOr<bool> found = checkChunk(begin, end);
      if (mlir::failed(found)) return mlir::failure();
      if (*found) return report;
      begin = end;
    }
    if (mlir::failed(checkWhole())) return mlir::failure();
    return report;
  }

private:
  // Constants and parameters need no comparison.
  static bool isGiven(mlir::Operation *op) { return llvm::isa<ir::ConstantOp, ir::GetParamOp>(op); }

  size_t chunkEnd(size_t begin) const {
    int64_t bytes = 0;
    size_t end = begin;
    while (end < operations.size() && int64_t(end - begin) < options.chunkOperations &&
           (end == begin || bytes < options.chunkBytes)) {
      bytes += detail::countOperandAndResultBytes(operations[end]);
      ++end;
    }
    return end;
  }

  // The compiled values, from a version of the module whose entry ends where the last of them is there.
  mlir::FailureOr<Results> valuesOf(const Values &values) {
    mlir::IRMapping mapping;
    mlir::OwningOpRef<mlir::ModuleOp> clone(llvm::cast<mlir::ModuleOp>(module->clone(mapping)));
    auto entry = clone->lookupSymbol<mlir::func::FuncOp>(function.getSymName());
    for (auto other : llvm::make_early_inc_range(clone->getOps<mlir::func::FuncOp>()))
      if (other != entry) other.erase();
    llvm::SmallVector<mlir::Value> outputs;
    for (mlir::Value value : values) outputs.push_back(mapping.lookup(value));
    mlir::Operation *terminator = entry.getBody().front().getTerminator();
    terminator->setOperands(outputs);
    mlir::OpBuilder builder(entry.getContext());
    entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), mlir::ValueRange(outputs).getTypes()));
    llvm::SmallVector<mlir::Attribute> attributes;
    for (size_t i = 0; i < outputs.size(); ++i)
      attributes.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr(ir::kNameAttr, builder.getStringAttr("value" + std::to_string(i)))));
    entry.setResAttrsAttr(builder.getArrayAttr(attributes));
    mlir::FailureOr<Results> results = compile(*clone, entry.getSymName(), inputs);
    if (mlir::succeeded(results) && results->size() != outputs.size())
      return function.emitError("the compiled entry gives ")
             << results->size() << " values where " << outputs.size() << " were asked for";
    return results;
  }

  // The value of something that the compiled code gets rather than computes, or nothing.
  mlir::FailureOr<Tensor> given(mlir::Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return inputs[argument.getArgNumber()];
    mlir::Operation *op = value.getDefiningOp();
    if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op)) return constantTensor(constant.getValue(), op->getLoc());
    auto param = symbols.lookupNearestSymbolFrom<ir::ParamOp>(op, llvm::cast<ir::GetParamOp>(op).getParamAttr());
    if (!param) return op->emitOpError("names no parameter");
    return constantTensor(param.getValue(), param.getLoc());
  }
  static bool isComputed(mlir::Value value) {
    mlir::Operation *op = value.getDefiningOp();
    return op && !isGiven(op);
  }

  mlir::FailureOr<bool> checkChunk(size_t begin, size_t end) {
    Values wanted;
    for (size_t i = begin; i < end; ++i) {
      for (mlir::Value operand : operations[i]->getOperands())
        if (isComputed(operand)) wanted.insert(operand);
      for (mlir::Value result : operations[i]->getResults()) wanted.insert(result);
    }
    mlir::FailureOr<Results> values = valuesOf(wanted);
    if (mlir::failed(values)) return mlir::failure();
    llvm::DenseMap<mlir::Value, Tensor> compiled;
    for (auto [value, tensor] : llvm::zip_equal(wanted, *values)) compiled[value] = tensor;
    for (size_t i = begin; i < end; ++i) {
      mlir::FailureOr<bool> differs = checkOperation(operations[i], compiled);
      if (mlir::failed(differs) || *differs) return differs;
    }
    return false;
  }

  bool note(mlir::OpResult result, const Difference &difference) {
    report.operation = result.getOwner();
    report.result = result.getResultNumber();
    report.difference = difference;
    return true;
  }

  Tolerance toleranceOf(const Tensor &tensor) const { return options.tolerance(tensor.elementType()); }

  mlir::FailureOr<bool> checkOperation(mlir::Operation *op, const llvm::DenseMap<mlir::Value, Tensor> &compiled) {
    Results operands;
    for (mlir::Value operand : op->getOperands()) {
      mlir::FailureOr<Tensor> tensor = isComputed(operand) ? compiled.lookup(operand) : given(operand);
      if (mlir::failed(tensor)) return mlir::failure();
      operands.push_back(*tensor);
    }
    mlir::FailureOr<Results> wants = evaluate(op, operands);
    if (mlir::failed(wants)) return mlir::failure();
    ++report.operations;
    for (auto [i, want] : llvm::enumerate(*wants))
      if (Difference difference = compare(compiled.lookup(op->getResult(i)), want, toleranceOf(want)))
        return note(op->getResult(i), difference);
    return false;
  }

  // Every operation is right alone. Compares each prefix of the entry, compiled with one output and so with all the
  // fusion there is, with the same value from a version whose operations all have outputs.
  mlir::LogicalResult checkWhole() {
    size_t good = 0, bad = operations.size(); // prefix lengths; the whole entry is checked first
    if (bad == 0) return mlir::success();
    Values outputs;
    for (mlir::Value value : function.getBody().front().getTerminator()->getOperands())
      if (isComputed(value)) outputs.insert(value);
    mlir::FailureOr<bool> wrong = differsWhenFused(outputs);
    if (mlir::failed(wrong) || !*wrong) return wrong;
    while (bad - good > 1) {
      size_t middle = (good + bad) / 2;
      Values last(operations[middle - 1]->result_begin(), operations[middle - 1]->result_end());
      wrong = differsWhenFused(last);
      if (mlir::failed(wrong)) return wrong;
      (*wrong ? bad : good) = middle;
    }
    return mlir::success();
  }

  mlir::FailureOr<bool> differsWhenFused(const Values &outputs) {
    // The separate version returns what a chunk of operations in front gives too, which keeps kernels apart there.
    Values separate = outputs;
    auto isProducer = [&](mlir::Operation *op) {
      return llvm::any_of(op->getResults(), [&](mlir::Value result) { return outputs.contains(result); });
    };
    auto rest = llvm::make_range(std::find_if(operations.rbegin(), operations.rend(), isProducer), operations.rend());
    for (auto [i, op] : llvm::enumerate(rest)) {
      if (int64_t(i) >= options.chunkOperations) break;
      separate.insert(op->result_begin(), op->result_end());
    }
    mlir::FailureOr<Results> fused = valuesOf(outputs), apart = valuesOf(separate);
    if (mlir::failed(fused) || mlir::failed(apart)) return mlir::failure();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (Difference difference = compare((*fused)[i], (*apart)[i], toleranceOf((*apart)[i]))) {
        report.onlyWhenFused = true;
        return note(llvm::cast<mlir::OpResult>(outputs[i]), difference);
      }
    return false;
  }

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  llvm::ArrayRef<Tensor> inputs;
  const CompileAndRun &compile;
  const BisectOptions &options;
  llvm::SmallVector<mlir::Operation *> operations;
  mlir::SymbolTableCollection symbols;
  BisectReport report;
};

} // namespace

mlir::FailureOr<BisectReport> bisect(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs,
                                     const CompileAndRun &compile, const BisectOptions &options) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(entry);
  if (!function || !function.getBody().hasOneBlock())
    return module.emitError("has no entry '") << entry << "' of one block to bisect";
  if (inputs.size() != function.getNumArguments())
    return function.emitError("takes ") << function.getNumArguments() << " inputs and gets " << inputs.size();
  return Bisector(module, function, inputs, compile, options).run();
}

} // namespace sprig::interp
