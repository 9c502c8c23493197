// The freeze pass: parameters to constants, batch norms into the products in front of them.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNComposite.h"
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

namespace {
struct FreezePass : sprig::impl::FreezeBase<FreezePass> {
  using FreezeBase::FreezeBase;
  void runOnOperation() override {
    freezeParameters(getOperation());
    if (strict) return;
    SmallVector<ir::BatchNormOp> norms;
    getOperation().walk([&](ir::BatchNormOp norm) { norms.push_back(norm); });
    for (ir::BatchNormOp norm : norms) foldBatchNorm(norm);
  }
};
} // namespace
