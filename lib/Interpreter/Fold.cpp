// Constant folding through the interpreter, with each result rounded to its type.
#include "lib/Interpreter/Fold.h"
#include "dialects/NN/Constants.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Interpreter/Interpreter.h"

namespace sprig::interp {
namespace {

// Operations whose result on splats is a splat that costs one element.
bool keepsSplats(mlir::Operation *op) {
  return llvm::isa<ElementwiseOpInterface, ir::ReshapeOp, ir::BroadcastOp, ir::TransposeOp, ir::SliceOp, ir::ConcatOp,
                   ir::PadOp, kernel::PackOp>(op);
}

bool isEmpty(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.getNumElements() == 0;
}

// Of nothing an operation gives the same number everywhere, and rounds none: a sum gives zeros, a product ones.
bool isOfNothing(mlir::Operation *op) { return op->getNumOperands() && llvm::all_of(op->getOperandTypes(), isEmpty); }

bool isWithinLimits(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, const FoldLimits &limits) {
  if (isOfNothing(op)) return true;
  bool splats = llvm::all_of(operands, [](const Tensor &t) { return t.isSplat(); });
  if (splats && !operands.empty() && keepsSplats(op)) return true;
  int64_t operandBytes = 0, resultBytes = 0;
  for (const Tensor &operand : operands)
    operandBytes += (operand.isSplat() ? 1 : operand.count()) * storageBytes(operand.elementType());
  for (mlir::Type type : op->getResultTypes()) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    resultBytes += tensor.getNumElements() * storageBytes(tensor.getElementType());
  }
  auto cost = llvm::dyn_cast<CostOpInterface>(op);
  return resultBytes <= std::max(limits.resultBytes, operandBytes) && (!cost || cost.getFlops() <= limits.flops);
}

} // namespace

// Doubles rounded to the element type are what a kernel gives where the type's own arithmetic rounds correctly, which
// holds for f32 in double precision; half types are computed in f32.
static bool hasKernelBits(mlir::Operation *op) {
  auto all = [&](auto is) {
    auto fits = [&](mlir::Type type) { return is(mlir::getElementTypeOrSelf(type)); };
    return llvm::all_of(op->getOperandTypes(), fits) && llvm::all_of(op->getResultTypes(), fits);
  };
  if (all([](mlir::Type type) { return llvm::isa<mlir::IntegerType>(type); })) return true;
  // No rounding at all.
  if (llvm::isa<ir::AbsOp, ir::NegOp, ir::SignOp, ir::FloorOp, ir::CeilOp, ir::RoundOp, ir::ReluOp, ir::MaxOp,
                ir::MinOp, ir::IsNanOp, ir::IsInfOp, ir::CompareOp, ir::SelectOp, ir::BitcastOp, ir::IotaOp,
                ir::ReshapeOp, ir::BroadcastOp, ir::TransposeOp, ir::SliceOp, ir::ConcatOp, ir::PadOp, ir::GatherOp,
                ir::GatherElementsOp, ir::GatherNdOp, kernel::PackOp>(op))
    return true;
  return llvm::isa<ir::AddOp, ir::SubOp, ir::MulOp, ir::DivOp, ir::SqrtOp, ir::ReciprocalOp, ir::CastOp>(op) &&
         all([](mlir::Type type) { return !type.isF16() && !type.isBF16(); });
}

std::optional<llvm::SmallVector<mlir::ElementsAttr>>
foldOperation(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands, const FoldLimits &limits) {
  if (op->getNumRegions() || !op->getNumResults() || llvm::isa<ir::ConstantOp>(op) || !isInterpreted(op->getName()))
    return std::nullopt;
  if (limits.exact && !hasKernelBits(op) && !isOfNothing(op)) return std::nullopt;
  llvm::SmallVector<Tensor> tensors;
  for (mlir::ElementsAttr operand : operands) {
    std::string reason;
    if (!operand || !ir::isReadableConstant(operand, reason)) return std::nullopt;
    auto view = std::make_shared<ir::ConstantView>(operand);
    tensors.push_back(Tensor::viewBytes(view->type(), view->bytes(), view));
  }
  if (!isWithinLimits(op, tensors, limits)) return std::nullopt;
  std::string error;
  auto results = tryEvaluate(op, tensors, Precision::Rounded, error);
  if (mlir::failed(results)) return std::nullopt;
  llvm::SmallVector<mlir::ElementsAttr> attributes;
  for (const Tensor &result : *results)
    attributes.push_back(ir::makeConstant(result.type(), result.bytes(/*keepSplat=*/true)));
  return attributes;
}

std::optional<llvm::SmallVector<mlir::ElementsAttr>> foldOperation(mlir::Operation *op, const FoldLimits &limits) {
  auto nothing = [](mlir::Type type) {
    return ir::makeConstant(llvm::cast<mlir::RankedTensorType>(type), std::vector<char>());
  };
  if (limits.empty && op->getNumResults() && llvm::all_of(op->getResultTypes(), isEmpty) &&
      mlir::isMemoryEffectFree(op) && !llvm::isa<ir::ConstantOp>(op)) {
    llvm::SmallVector<mlir::ElementsAttr> results;
    for (mlir::Type type : op->getResultTypes()) results.push_back(nothing(type));
    return results;
  }
  llvm::SmallVector<mlir::ElementsAttr> operands;
  for (mlir::Value operand : op->getOperands()) {
    if (auto constant = operand.getDefiningOp<ir::ConstantOp>())
      operands.push_back(constant.getValue());
    else if (limits.empty && isEmpty(operand.getType()))
      operands.push_back(nothing(operand.getType()));
    else
      return std::nullopt;
  }
  return foldOperation(op, operands, limits);
}

} // namespace sprig::interp
