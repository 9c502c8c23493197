// The freeze pass: parameters to constants, batch norms into the products in front of them, constant divisors to
// factors.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Transforms/FoldBatchNorm.h"
#include "lib/Transforms/Passes.h"

namespace sprig {
#define GEN_PASS_DEF_FREEZE
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

/// Replaces reads of parameters by constants, one per parameter and function. A parameter that some function sets
/// stays.
static void freezeParameters(ModuleOp module) {
  SymbolTableCollection symbols;
  llvm::DenseSet<StringAttr> written;
  module.walk([&](ir::SetParamOp set) { written.insert(set.getParamAttr().getAttr()); });
  module.walk([&](func::FuncOp function) {
    if (function.isDeclaration()) return;
    llvm::MapVector<Operation *, Value> constants;
    SmallVector<ir::GetParamOp> reads;
    function.walk([&](ir::GetParamOp read) { reads.push_back(read); });
    for (ir::GetParamOp read : reads) {
      if (written.contains(read.getParamAttr().getAttr())) continue;
      auto param = symbols.lookupNearestSymbolFrom<ir::ParamOp>(read, read.getParamAttr());
      Value &constant = constants[param];
      if (!constant) {
        OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
        // The location of a constant names the parameter, for reports.
        Location loc = NameLoc::get(param.getSymNameAttr(), param.getLoc());
        constant = ir::ConstantOp::create(builder, loc, param.getTensorType(), param.getValue());
      }
      read.replaceAllUsesWith(constant);
      read.erase();
    }
  });
  // All uses at once: to ask for those of one parameter is a walk over the module.
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses) return;
  llvm::DenseSet<StringAttr> used;
  for (SymbolTable::SymbolUse use : *uses) used.insert(use.getSymbolRef().getRootReference());
  for (auto param : llvm::make_early_inc_range(module.getOps<ir::ParamOp>()))
    if (!used.contains(param.getSymNameAttr())) param.erase();
}

/// The reciprocals of a constant of floats, rounded once; null where one of them would be no normal number.
static ElementsAttr reciprocalsOf(Value value) {
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  if (!constant) return {};
  ir::ConstantView view(constant.getValue());
  auto element = dyn_cast<FloatType>(view.elementType());
  if (!element || !(element.isF32() || element.isF64())) return {};
  SmallVector<APFloat> results;
  for (int64_t i = 0, count = view.isSplat() ? 1 : view.size(); i < count; ++i) {
    APFloat result(1 / view.asDouble(i));
    bool inexact;
    result.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    if (!result.isNormal()) return {};
    results.push_back(result);
  }
  if (results.empty()) return {};
  return DenseElementsAttr::get(view.type(), ArrayRef<APFloat>(results));
}

/// A division by a constant, which costs as much as ten products, as one.
static void multiplyInstead(ir::DivOp division) {
  ElementsAttr reciprocals = reciprocalsOf(division.getRhs());
  if (!reciprocals) return;
  OpBuilder builder(division);
  Value factor = ir::ConstantOp::create(builder, division.getLoc(), division.getRhs().getType(), reciprocals);
  division.replaceAllUsesWith(
      ir::MulOp::create(builder, division.getLoc(), division.getType(), division.getLhs(), factor).getResult());
  division.erase();
}

/// Divisions of what is only known at run time: others are folded, as they are written. The scale of a quantiser that
/// is computed of its weight has the bits that it was trained with.
static SmallVector<ir::DivOp> divisionsAtRunTime(ModuleOp module) {
  SmallVector<ir::DivOp> divisions;
  llvm::DenseSet<Value> known;
  module.walk([&](Operation *op) {
    bool isKnown = isa<ir::ConstantOp>(op) ||
                   (op->getNumOperands() && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                    llvm::all_of(op->getOperands(), [&](Value operand) { return known.contains(operand); }));
    if (isKnown) known.insert(op->result_begin(), op->result_end());
    if (auto division = dyn_cast<ir::DivOp>(op); division && !isKnown) divisions.push_back(division);
  });
  return divisions;
}

namespace {
struct FreezePass : sprig::impl::FreezeBase<FreezePass> {
  using FreezeBase::FreezeBase;
  void runOnOperation() override {
    freezeParameters(getOperation());
    if (strict) return;
    SmallVector<ir::BatchNormOp> norms;
    getOperation().walk([&](ir::BatchNormOp norm) { norms.push_back(norm); });
    for (ir::BatchNormOp norm : norms) foldBatchNorm(norm);
    for (ir::DivOp division : divisionsAtRunTime(getOperation())) multiplyInstead(division);
  }
};
} // namespace
