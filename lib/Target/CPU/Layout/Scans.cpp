// The scans pass: packs the matrices of scans that become one kernel, and unrolls the others.
#include "dialects/NN/ScanStages.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace sprig {
#define GEN_PASS_DEF_SCANS
#include "lib/Target/CPU/Layout/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Slice `step` along the first dimension, without it.
static Value sliceOf(OpBuilder &b, Location loc, Value value, int64_t step) {
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  SmallVector<int64_t> starts(shape.size(), 0), sizes(shape), steps(shape.size(), 1);
  starts[0] = step;
  sizes[0] = 1;
  Value slice = ir::SliceOp::create(b, loc, value, starts, sizes, steps);
  return ir::ReshapeOp::create(b, loc, tensorOf(value).clone(shape.drop_front()), slice);
}

static void unroll(ir::ScanOp scan) {
  OpBuilder b(scan);
  Location loc = scan.getLoc();
  int64_t steps = scan.getSteps();
  SmallVector<Value> carried(scan.getInitial());
  SmallVector<SmallVector<Value>> outputs(scan.getNumOutputs(), SmallVector<Value>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = scan.getReverse() ? steps - 1 - i : i;
    IRMapping mapping;
    mapping.map(scan.getCarriedArguments(), carried);
    mapping.map(scan.getInvariantArguments(), scan.getInvariants());
    for (auto [argument, input] : llvm::zip_equal(scan.getInputArguments(), scan.getInputs()))
      if (!argument.use_empty()) mapping.map(argument, sliceOf(b, loc, input, step));
    for (Operation &op : scan.getStep().without_terminator()) b.clone(op, mapping);
    SmallVector<Value> yielded;
    for (Value value : scan.getStep().getTerminator()->getOperands()) yielded.push_back(mapping.lookup(value));
    carried.assign(yielded.begin(), yielded.begin() + carried.size());
    for (auto [i, output] : llvm::enumerate(outputs)) output[step] = yielded[carried.size() + i];
  }
  for (auto [result, value] : llvm::zip(scan.getResults(), carried)) result.replaceAllUsesWith(value);
  for (auto [i, values] : llvm::enumerate(outputs)) {
    Value result = scan.getResult(carried.size() + i);
    if (result.use_empty()) continue;
    SmallVector<int64_t> shape(tensorOf(result).getShape());
    shape[0] = 1;
    for (Value &value : values) value = ir::ReshapeOp::create(b, loc, tensorOf(result).clone(shape), value);
    result.replaceAllUsesWith(ir::ConcatOp::create(b, loc, values, 0));
  }
  scan.erase();
}

namespace {
struct Scans : sprig::impl::ScansBase<Scans> {
  using ScansBase::ScansBase;

  void runOnOperation() override {
    made.clear();
    SmallVector<ir::ScanOp> scans;
    getOperation().walk([&](ir::ScanOp scan) { scans.push_back(scan); }); // inner ones first
    for (ir::ScanOp scan : scans) {
      std::string reason;
      bool inner = scan->getParentOfType<ir::ScanOp>() != nullptr;
      if (all || inner || !ir::ScanStages::analyze(scan, reason)) {
        if (!reason.empty())
          remark::missed(scan.getLoc(), remark::RemarkOpts::name("scan").category("fuse"))
              << ("a loop of " + std::to_string(scan.getSteps()) + " steps is unrolled: " + reason);
        unroll(scan);
      } else {
        pack(scan);
      }
    }
  }

private:
  /// The products of all steps read the same matrices, so that packing pays even where it happens at run time.
  void pack(ir::ScanOp scan) {
    Block &body = scan.getStep();
    for (auto product : llvm::make_early_inc_range(body.getOps<ir::MatmulOp>())) {
      unsigned index = cast<BlockArgument>(product.getRhs()).getArgNumber();
      Value matrix = scan->getOperand(index), &panels = made[{matrix, product.getTransposeRhs()}];
      if (!panels) {
        OpBuilder b(&getContext());
        b.setInsertionPointAfterValue(matrix);
        panels = packed(b, scan.getLoc(), matrix, product.getTransposeRhs());
      }
      BlockArgument argument;
      for (auto [own, operand] : llvm::zip_equal(scan.getInvariantArguments(), scan.getInvariants()))
        if (operand == panels) argument = own;
      if (!argument) {
        scan.getInvariantsMutable().append(panels);
        argument = body.addArgument(panels.getType(), scan.getLoc());
      }
      OpBuilder b(product);
      int64_t columns = tensorOf(product.getResult()).getShape().back();
      Value result = ir::MatmulPackedOp::create(b, product.getLoc(), product.getLhs(), argument, columns);
      product.getResult().replaceAllUsesWith(result);
      product.erase();
    }
    unsigned first = scan.getNumInputs() + scan.getNumCarried();
    for (unsigned i = scan.getInvariants().size(); i-- > 0;) {
      if (!body.getArgument(first + i).use_empty()) continue;
      body.eraseArgument(first + i);
      scan.getInvariantsMutable().erase(i);
    }
  }

  llvm::DenseMap<std::pair<Value, int64_t>, Value> made; // of a matrix, transposed or not
};
} // namespace
