// The scans pass: packs the matrices of scans that become one kernel.
#include "dialects/NN/ScanStages.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"

namespace sprig {
#define GEN_PASS_DEF_SCANS
#include "lib/Target/CPU/Layout/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
struct Scans : sprig::impl::ScansBase<Scans> {
  void runOnOperation() override {
    made.clear();
    SmallVector<ir::ScanOp> scans;
    getOperation().walk([&](ir::ScanOp scan) { scans.push_back(scan); });
    for (ir::ScanOp scan : scans) {
      std::string reason;
      if (ir::ScanStages::analyze(scan, reason)) pack(scan);
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
      Value result =
          kernel::MatmulPackedOp::create(b, product.getLoc(), product.getLhs(), argument, columns, IntegerAttr());
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
