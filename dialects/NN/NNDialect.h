// The nn dialect without its operations: enums, attributes and helpers.
// Operations have a header for each .td that defines them (NNContraction.h, ...): a file includes those that it names,
// since all of them together (NN.h) cost a second and a half of each compilation.
#pragma once
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/SumOrder.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sprig::ir::detail {
/// Puts what the dictionary has of an operation's own attributes, and then the defaults, into its properties.
template <typename OpT, typename Properties>
mlir::LogicalResult completeProperties(Properties &properties, mlir::MLIRContext *context,
                                       std::optional<mlir::Location> location, mlir::DictionaryAttr attributes) {
  auto emitError = [&] {
    return mlir::emitError(location.value_or(mlir::UnknownLoc::get(context)))
           << "'" << OpT::getOperationName() << "' op ";
  };
  if (attributes && !attributes.empty() && mlir::failed(OpT::setPropertiesFromAttr(properties, attributes, emitError)))
    return mlir::failure();
  OpT::populateDefaultProperties(mlir::OperationName(OpT::getOperationName(), context), properties);
  return mlir::success();
}
} // namespace sprig::ir::detail

namespace sprig::ir {
class Inference; // Infer.h
// What nn.yield may stand in.
class CheckpointOp;
class CondOp;
class CustomGradientOp;
class ScanOp;
class WhileOp;
} // namespace sprig::ir

#include "dialects/NN/NNDialect.h.inc"
#include "dialects/NN/NNEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/NN/NNAttributes.h.inc"

namespace sprig::ir {

/// The operations of a kind join the dialect (OpKind.cpp.in).
void registerUnaryOperations(mlir::Dialect &dialect);
void registerElementwiseOperations(mlir::Dialect &dialect);
void registerContractionOperations(mlir::Dialect &dialect);
void registerReductionOperations(mlir::Dialect &dialect);
void registerShapeOpsOperations(mlir::Dialect &dialect);
void registerCompositeOperations(mlir::Dialect &dialect);
void registerStateOperations(mlir::Dialect &dialect);
void registerRecurrentOperations(mlir::Dialect &dialect);
void registerControlOperations(mlir::Dialect &dialect);
void registerGradientOperations(mlir::Dialect &dialect);
void registerLossOperations(mlir::Dialect &dialect);
void registerRandomOperations(mlir::Dialect &dialect);
void registerQuantizedOperations(mlir::Dialect &dialect);
void registerYieldOperations(mlir::Dialect &dialect);

/// The broadcast of two shapes by NumPy's rules, or failure.
mlir::FailureOr<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Whether an elementwise operation checks values while it runs: divisors of integers, indices of classes, ranges.
bool isCheckedAtRunTime(mlir::Operation *op);

/// Prints as in diagnostics: 32x128xf32.
std::string describe(mlir::Type type);

/// Creates an operation whose result types are inferred. Where `OpBuilder::create` would abort the process on operands
/// that do not fit, this emits the operation's diagnostic at `loc` and fails.
template <typename OpT>
mlir::FailureOr<OpT> createChecked(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
  mlir::MLIRContext *context = builder.getContext();
  mlir::OperationState state(loc, OpT::getOperationName());
  state.addOperands(operands);
  state.addAttributes(attributes);
  auto dictionary = state.attributes.getDictionary(context);
  auto &properties = state.getOrAddProperties<typename OpT::Properties>();
  if (mlir::failed(detail::completeProperties<OpT>(properties, context, loc, dictionary))) return mlir::failure();
  state.attributes.clear();
  llvm::SmallVector<mlir::Type> types;
  if (mlir::failed(OpT::inferReturnTypes(context, loc, operands, dictionary, &properties, {}, types)))
    return mlir::failure();
  state.addTypes(types);
  return llvm::cast<OpT>(builder.create(state));
}

} // namespace sprig::ir
