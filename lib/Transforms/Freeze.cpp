// The freeze pass: parameters to constants, batch norms into the products in front of them, constant divisors to
// factors.
#define GEN_PASS_DEF_FREEZE
#include "lib/Transforms/Passes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Transforms/FoldBatchNorm.h"
#include <cmath>

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

namespace {
struct Reciprocals {
  ElementsAttr values;
  bool areExact = true; // of powers of two: products have the quotients' bits
};
} // namespace

/// The reciprocals of a constant of floats, rounded once; nothing where one of them would be no normal number, or where
/// there are so many that reading them takes as long as dividing.
static std::optional<Reciprocals> reciprocalsOf(Value value) {
  constexpr int64_t kMost = 1 << 16;
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  if (!constant) return std::nullopt;
  ir::ConstantView view(constant.getValue());
  Type element = view.elementType();
  int64_t count = view.isSplat() ? 1 : view.size();
  if (!(element.isF32() || element.isF64()) || count == 0 || count > kMost) return std::nullopt;
  Reciprocals found;
  std::vector<char> bytes;
  for (int64_t i = 0; i < count; ++i) {
    double divisor = view.asDouble(i), result = 1 / divisor;
    float single = float(result);
    if (element.isF32() ? !std::isnormal(single) : !std::isnormal(result)) return std::nullopt;
    int exponent;
    found.areExact &= std::fabs(std::frexp(divisor, &exponent)) == 0.5;
    const char *begin = element.isF32() ? reinterpret_cast<const char *>(&single) : reinterpret_cast<char *>(&result);
    bytes.insert(bytes.end(), begin, begin + (element.isF32() ? sizeof single : sizeof result));
  }
  found.values = ir::makeConstant(view.type(), std::move(bytes));
  return found;
}

/// Whether a value goes into nothing but functions without steps, through sums and products at most: whoever rounds,
/// compares or chooses would tell a product from the quotient at whole numbers.
static bool endsInFunctions(Value value, int depth = 4) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<ir::ErfOp, ir::ExpOp, ir::TanhOp, ir::SigmoidOp, ir::SoftmaxOp, ir::LogSoftmaxOp>(user)) return true;
    return depth && isa<ir::AddOp, ir::SubOp, ir::MulOp, ir::NegOp>(user) &&
           endsInFunctions(user->getResult(0), depth - 1);
  });
}

/// A division by a constant, which costs as much as ten products, as one.
static void multiplyInstead(ir::DivOp division) {
  std::optional<Reciprocals> reciprocals = reciprocalsOf(division.getRhs());
  if (!reciprocals || !(reciprocals->areExact || endsInFunctions(division.getResult()))) return;
  OpBuilder builder(division);
  Value factor = ir::ConstantOp::create(builder, division.getLoc(), division.getRhs().getType(), reciprocals->values);
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
    getOperation().walk([](ir::BatchNormOp norm) { foldBatchNorm(norm); });
    for (ir::DivOp division : divisionsAtRunTime(getOperation())) multiplyInstead(division);
  }
};
} // namespace
