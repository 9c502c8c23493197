// The prepare pass: what depends on unchanging parameters alone moves to a function that runs when they change.
#define GEN_PASS_DEF_PREPARE
#include "lib/Transforms/Passes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;

namespace {

/// Whether an operation on prepared values may be prepared itself: it costs work, gives no more than it takes, and
/// cannot fail.
bool isWorthPreparing(Operation *op) {
  if (!isPure(op) || op->getNumRegions() || isa<ir::BroadcastOp, ir::AfterOp>(op) || ir::isCheckedAtRunTime(op))
    return false;
  // Indices are checked against what they index.
  return llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return isa<FloatType>(cast<RankedTensorType>(type).getElementType()); });
}

class Preparation {
public:
  explicit Preparation(ModuleOp module) : module(module), symbols(module) {
    module.walk([&](ir::SetParamOp set) { updated.insert(set.getParamAttr()); });
  }
  void run();

private:
  void findInvariants(func::FuncOp function);
  void addRoot(Value value);
  void prepare(func::FuncOp function);

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseSet<Attribute> updated;
  // Of the function at hand.
  llvm::DenseSet<Value> invariants;
  llvm::SetVector<Value> roots;
  func::FuncOp target;
};

} // namespace

void Preparation::findInvariants(func::FuncOp function) {
  invariants.clear();
  for (Operation &op : function.getBody().front()) {
    if (auto read = dyn_cast<ir::GetParamOp>(op)) {
      if (!updated.contains(read.getParamAttr())) invariants.insert(read.getResult());
      continue;
    }
    bool fromParameters = llvm::any_of(op.getOperands(), [&](Value value) { return invariants.contains(value); });
    bool fromNothingElse = llvm::all_of(op.getOperands(), [&](Value value) {
      return invariants.contains(value) || value.getDefiningOp<ir::ConstantOp>();
    });
    if (fromParameters && fromNothingElse && isWorthPreparing(&op))
      invariants.insert(op.getResults().begin(), op.getResults().end());
  }
}

// A view stays a view, of what is prepared.
void Preparation::addRoot(Value value) {
  value = storageOf(value);
  if (!value.getDefiningOp<ir::GetParamOp>()) roots.insert(value);
}

void Preparation::prepare(func::FuncOp function) {
  findInvariants(function);
  roots.clear();
  for (Operation &op : function.getBody().front())
    for (Value operand : op.getOperands())
      if (invariants.contains(operand) &&
          llvm::none_of(op.getResults(), [&](Value v) { return invariants.contains(v); }))
        addRoot(operand);
  if (roots.empty()) return;
  MLIRContext *context = module.getContext();
  if (!target) {
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    auto name = StringAttr::get(context, "prepare");
    target = func::FuncOp::create(end, NameLoc::get(name), name, end.getFunctionType({}, {}));
    target->setAttr(ir::kEntryAttr, name);
    symbols.insert(target);
    OpBuilder body = OpBuilder::atBlockEnd(target.addEntryBlock());
    func::ReturnOp::create(body, target.getLoc());
  }
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> open(roots.begin(), roots.end());
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (needed.insert(op)) llvm::append_range(open, op->getOperands());
  }
  OpBuilder b(target.getBody().front().getTerminator());
  IRMapping mapping;
  for (Operation &op : function.getBody().front())
    if (needed.contains(&op)) b.clone(op, mapping);
  for (Value root : roots) {
    auto type = cast<RankedTensorType>(root.getType());
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto param = ir::ParamOp::create(top, root.getLoc(), "prepared", ir::makeSplat(type, 0), StringAttr());
    auto symbol = FlatSymbolRefAttr::get(symbols.insert(param));
    ir::SetParamOp::create(b, root.getLoc(), symbol, mapping.lookup(root));
    OpBuilder at(context);
    at.setInsertionPointAfterValue(root);
    root.replaceAllUsesWith(ir::GetParamOp::create(at, root.getLoc(), type, symbol));
  }
}

void Preparation::run() {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal()) prepare(function);
}

namespace {
struct Prepare : sprig::impl::PrepareBase<Prepare> {
  void runOnOperation() override { Preparation(getOperation()).run(); }
};
} // namespace
