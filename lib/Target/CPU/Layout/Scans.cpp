// The scans pass: makes products of inputs part of the steps that read them, and packs the matrices of scans that
// become one kernel.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/ScanStages.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"

namespace sprig::cpu {
#define GEN_PASS_DEF_SCANS
#include "lib/Target/CPU/Layout/Passes.h.inc"
} // namespace sprig::cpu

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// A step computes the products of its own inputs where a kernel of them has this many rows at once: from two tiles of
// rows on, in which the matrix is read as often as a product of all steps at once reads it, nearly. All products are
// then no array that one thread writes and another reads, which at 16 rows was most of a second thread's time.
constexpr int64_t kLeastRows = 16;
// Elements of the matrix, which lies in a core's second cache beside that of the state.
constexpr int64_t kMostElements = 1 << 16;
// Loops sum up in one chain, other products only up to here (docs/numerics.md).
constexpr int64_t kMostDepth = 1024;

namespace {
/// The products of all steps at once that an input of a scan is: inputs times a matrix, and what is added to each row.
struct InputProducts {
  ir::MatmulOp product;
  ir::AddOp sum; // or null
  Value added;

  static std::optional<InputProducts> of(Value input) {
    InputProducts found;
    if (!input.hasOneUse()) return std::nullopt;
    if ((found.sum = input.getDefiningOp<ir::AddOp>())) {
      found.added = found.sum.getRhs();
      input = found.sum.getLhs();
      if (!input.hasOneUse() || tensorOf(found.added).getRank() != 1) return std::nullopt;
    }
    found.product = input.getDefiningOp<ir::MatmulOp>();
    if (!found.product || found.product.getTransposeLhs() || !isTaken(found.product)) return std::nullopt;
    return found;
  }

private:
  static bool isTaken(ir::MatmulOp product) {
    RankedTensorType rows = tensorOf(product.getLhs()), matrix = tensorOf(product.getRhs());
    Type element = tensorOf(product.getResult()).getElementType();
    Operation *origin = product.getRhs().getDefiningOp();
    return (element.isF32() || element.isF64()) && rows.getElementType() == element &&
           matrix.getElementType() == element && rows.getRank() == 3 && matrix.getRank() == 2 &&
           rows.getDimSize(1) >= kLeastRows && rows.getDimSize(2) <= kMostDepth &&
           matrix.getNumElements() <= kMostElements && (!origin || isa<ir::ConstantOp, ir::GetParamOp>(origin));
  }
};

struct Scans : cpu::impl::ScansBase<Scans> {
  using ScansBase::ScansBase;

  void runOnOperation() override {
    made.clear();
    SmallVector<ir::ScanOp> scans;
    getOperation().walk([&](ir::ScanOp scan) { scans.push_back(scan); });
    for (ir::ScanOp scan : scans) {
      std::string reason;
      if (!ir::ScanStages::analyze(scan, reason)) continue;
      if (products)
        for (unsigned i = 0; i < scan.getNumInputs(); ++i)
          if (auto found = InputProducts::of(scan.getInputs()[i])) computeInSteps(scan, i, *found);
      pack(scan);
    }
  }

private:
  void computeInSteps(ir::ScanOp scan, unsigned i, InputProducts of) {
    Block &body = scan.getStep();
    auto known = [&](Value value) {
      scan.getInvariantsMutable().append(value);
      return body.addArgument(value.getType(), value.getLoc());
    };
    Value matrix = known(of.product.getRhs()), added = of.added ? known(of.added) : Value();
    BlockArgument input = body.getArgument(i);
    RankedTensorType rows = tensorOf(of.product.getLhs());
    input.setType(rows.clone(rows.getShape().drop_front()));
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    auto product = ir::MatmulOp::create(b, of.product.getLoc(), input, matrix, false, of.product.getTransposeRhs());
    Value result = product;
    if (added) result = ir::AddOp::create(b, of.sum.getLoc(), result, added);
    input.replaceAllUsesExcept(result, product);
    scan->setOperand(i, of.product.getLhs());
    if (of.sum) of.sum.erase();
    of.product.erase();
  }

  /// The products of all steps read the same matrices, so that packing pays even where it happens at run time.
  void pack(ir::ScanOp scan) {
    Block &body = scan.getStep();
    for (auto product : llvm::make_early_inc_range(body.getOps<ir::MatmulOp>())) {
      unsigned index = cast<BlockArgument>(product.getRhs()).getArgNumber();
      Value matrix = scan->getOperand(index), &panels = made[{matrix, product.getTransposeRhs()}];
      if (!panels) {
        OpBuilder b(&getContext());
        b.setInsertionPointAfterValue(matrix);
        int64_t interleave = product.getAccumulator() ? kernel::interleaveOf(tensorOf(matrix).getElementType()) : 1;
        panels = packed(b, scan.getLoc(), matrix, product.getTransposeRhs(), interleave);
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
