// The unroll-scans pass: spells out the loops over time that the target has no kernel for.
#define GEN_PASS_DEF_UNROLLSCANS
#include "lib/Transforms/Passes.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/Select.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;

/// Slice `step` along the first dimension, without it.
static Value sliceOf(OpBuilder &b, Location loc, Value value, int64_t step) {
  Value slice = ir::select(b, loc, value, 0, step);
  return ir::ReshapeOp::create(b, loc, tensorOf(value).clone(tensorOf(value).getShape().drop_front()), slice);
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
struct UnrollScans : sprig::impl::UnrollScansBase<UnrollScans> {
  using UnrollScansBase::UnrollScansBase;

  void runOnOperation() override {
    const Target *device = targetForPass(getOperation(), target);
    if (!device) return signalPassFailure();
    SmallVector<ir::ScanOp> scans;
    getOperation().walk([&](ir::ScanOp scan) { scans.push_back(scan); }); // inner ones first
    for (ir::ScanOp scan : scans) {
      std::string reason;
      bool inner = scan->getParentOfType<ir::ScanOp>() != nullptr;
      if (!all && !inner && device->takesScan(scan, reason)) continue;
      if (!reason.empty())
        remark::missed(scan.getLoc(), remark::RemarkOpts::name("scan").category("fuse"))
            << ("a loop of " + std::to_string(scan.getSteps()) + " steps is unrolled: " + reason);
      unroll(scan);
    }
  }
};
} // namespace
