#include "lib/Target/Kernels/FuseAttention.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;

static remark::RemarkOpts options() { return remark::RemarkOpts::name("attention").category("fuse"); }

/// What is read in place: views and what they keep apart from its producer.
static void addOperand(const ir::PointwiseView &view, llvm::SetVector<Operation *> &body) {
  body.insert(view.ops.begin(), view.ops.end());
}

static void outline(ir::Attention &attention) {
  llvm::SetVector<Operation *> body;
  addOperand(attention.query, body);
  addOperand(attention.key, body);
  addOperand(attention.value, body);
  body.insert(attention.scores);
  body.insert(attention.rows.begin(), attention.rows.end());
  body.insert(attention.output);
  body.insert(attention.views.begin(), attention.views.end());

  SetVector<Value> operands;
  SmallVector<Location> locations;
  std::string names;
  for (Operation *op : body) {
    for (Value operand : op->getOperands())
      if (!body.contains(operand.getDefiningOp())) operands.insert(operand);
    if (isa<ir::ConstantOp>(op)) continue;
    locations.push_back(op->getLoc());
    names += (names.empty() ? "" : ", ") + op->getName().getStringRef().str();
  }
  Value result = attention.result();
  OpBuilder builder(result.getDefiningOp());
  auto dispatch =
      kernel::DispatchOp::create(builder, FusedLoc::get(builder.getContext(), locations), TypeRange(result.getType()),
                                 operands.getArrayRef(), builder.getStringAttr("attention"), /*tile=*/Attribute());
  Block *block = builder.createBlock(&dispatch->getRegion(0));
  IRMapping mapping;
  for (Value operand : operands) mapping.map(operand, block->addArgument(operand.getType(), operand.getLoc()));
  kernel::setDevice(dispatch, kernel::deviceOf(attention.scores));
  for (Operation *op : body) builder.clone(*op, mapping)->removeAttr(kernel::kDeviceAttr);
  kernel::YieldOp::create(builder, dispatch.getLoc(), mapping.lookup(result));
  remark::passed(attention.scores.getLoc(), options()) << ("one kernel without scores in memory of " + names);
  result.replaceAllUsesWith(dispatch->getResult(0));
  for (Operation *op : llvm::reverse(body))
    if (op->use_empty()) op->erase();
}

/// Whether all that it computes is placed on one device; views are read wherever they are.
static bool isOnOneDevice(ir::Attention &attention) {
  unsigned device = kernel::deviceOf(attention.scores);
  auto isThere = [&](Operation *op) { return isa<ir::ConstantOp>(op) || kernel::deviceOf(op) == device; };
  return isThere(attention.output) && llvm::all_of(attention.rows, isThere) && llvm::all_of(attention.views, isThere);
}

void sprig::fuseAttention(Block &block, llvm::function_ref<bool(Operation *)> isHere,
                          llvm::function_ref<bool(const ir::Attention &, std::string &why)> takes) {
  SmallVector<ir::MatmulOp> products(block.getOps<ir::MatmulOp>());
  // From the end: what is erased comes before, and only the products of one attention go.
  llvm::SmallPtrSet<Operation *, 8> taken;
  for (ir::MatmulOp product : llvm::reverse(products)) {
    if (taken.contains(product) || !isHere(product)) continue;
    std::string why;
    std::optional<ir::Attention> attention = ir::matchAttention(product, why);
    if (attention && !isOnOneDevice(*attention)) {
      attention.reset();
      why = "they are placed on different devices";
    }
    if (attention && !takes(*attention, why)) attention.reset();
    if (attention) {
      taken.insert(attention->scores);
      outline(*attention);
    } else if (!why.empty()) {
      remark::missed(product.getLoc(), options()) << ("the product and the reduction before it stay apart: " + why);
    }
  }
}
