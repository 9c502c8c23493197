#define GEN_PASS_DEF_EXPANDCOLLECTIVES
#include "lib/Shard/Passes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Shard/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/collective/Collective.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::ir;
using rt::collective::Algorithm;
using rt::collective::Plan;
using rt::collective::Step;

namespace {

struct ExpandCollectives : sprig::impl::ExpandCollectivesBase<ExpandCollectives> {
  using ExpandCollectivesBase::ExpandCollectivesBase;

  void runOnOperation() override {
    Algorithm known;
    if (!algorithm.empty() && !rt::collective::findAlgorithm(algorithm, known)) {
      getOperation().emitError() << "there is no algorithm '" << algorithm << "'";
      return signalPassFailure();
    }
    if (perMachine < 1) {
      getOperation().emitError() << "expected 1 or more ranks of a machine, found " << perMachine.getValue();
      return signalPassFailure();
    }
    // What goes together is as many programs.
    getOperation()->walk([](Operation *op) {
      if (!dist::collectiveUse(op) || op->getNumOperands() < 2) return;
      OpBuilder b(op);
      for (auto [value, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
        OperationState one(op->getLoc(), op->getName(), value, result.getType(), op->getAttrs());
        result.replaceAllUsesWith(b.create(one)->getResult(0));
      }
      op->erase();
    });
    SmallVector<Operation *> collectives;
    getOperation()->walk([&](Operation *op) {
      if (dist::collectiveUse(op)) collectives.push_back(op);
    });
    for (Operation *op : collectives)
      if (failed(expand(op))) return signalPassFailure();
  }

  // Ranks of the group on each machine, where the machines' are equally many and lie together; 0 elsewhere.
  int ranksOnMachine(ArrayRef<int64_t> group) {
    size_t here = 1;
    while (here < group.size() && group[here] / perMachine == group[0] / perMachine) ++here;
    if (group.size() % here) return 0;
    for (size_t i = 0; i < group.size(); ++i) {
      int64_t machine = group[i] / perMachine;
      if (machine != group[i - i % here] / perMachine) return 0;
      if (i >= here && i % here == 0 && machine == group[i - 1] / perMachine) return 0;
    }
    return int(here);
  }

  // Whether the algorithm that was asked for everything can be this collective's.
  bool canTake(const Plan &plan) {
    if (!rt::collective::does(plan.algorithm, plan.kind)) return false;
    if (plan.algorithm == Algorithm::hierarchy) return plan.perMachine > 0;
    return plan.algorithm != Algorithm::rings;
  }

  void chooseAlgorithm(Operation *op, const dist::CollectiveUse &use, Plan &plan) {
    if (use.algorithm && rt::collective::findAlgorithm(use.algorithm.getValue(), plan.algorithm)) return;
    if (algorithm.empty() || !rt::collective::findAlgorithm(algorithm, plan.algorithm) || !canTake(plan))
      plan.algorithm = rt::collective::chooseAlgorithm(plan.kind, plan.ranks,
                                                       op->getNumOperands() ? shard::bytesOf(op->getOperand(0)) : 0);
  }

  LogicalResult expand(Operation *op) {
    dist::CollectiveUse use = *dist::collectiveUse(op);
    auto mesh = SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(op, use.mesh);
    auto function = op->getParentOfType<func::FuncOp>();
    auto whose = function ? function->getAttrOfType<IntegerAttr>(dist::kRankAttr) : IntegerAttr();
    if (whose && whose.getInt() != rank)
      return op->emitError() << "is in a function of rank " << whose.getInt() << ", not of rank " << rank.getValue();
    if (rank < 0 || rank >= mesh.numRanks())
      return op->emitError() << "rank " << rank.getValue() << " is none of the " << mesh.numRanks() << " of "
                             << use.mesh;
    SmallVector<int64_t> group = mesh.groupOf(rank, use.axes);
    int place = int(llvm::find(group, rank) - group.begin());
    Plan plan;
    plan.kind = dist::kindOf(op);
    plan.ranks = int(group.size());
    plan.root = int(use.root);
    plan.perMachine = ranksOnMachine(group);
    chooseAlgorithm(op, use, plan);
    rt::collective::Program program;
    std::string why;
    if (!rt::collective::makeProgram(plan, place, program, why)) return op->emitError() << why;
    return write(op, use, group, place, program);
  }

  // Both are apart. What this rank gets may be more than another does.
  FailureOr<int64_t> checkExchange(dist::AllToAllOp op, size_t ranks, int place) {
    int64_t from = op.getX().getType().getDimSize(0), to = op.getType().getDimSize(0);
    if (rt::collective::exchanges(from, to, uint32_t(ranks), uint32_t(place))) return 0;
    return op.emitError() << "rank " << rank.getValue() << " gets "
                          << rt::collective::exchangedRows(from, uint32_t(ranks), uint32_t(place)) << " rows for "
                          << from << " over " << ranks << " ranks, found " << to;
  }

  // Where a smaller operand or result lies in the larger one: a piece of rows. This rank's may be one more than
  // another's.
  FailureOr<int64_t> placeOf(Operation *op, int64_t from, int64_t to, size_t ranks, int place) {
    if (from == to) return 0;
    if (auto exchange = dyn_cast<dist::AllToAllOp>(op)) return checkExchange(exchange, ranks, place);
    Value whole = from > to ? op->getOperand(0) : op->getResult(0),
          part = from > to ? op->getResult(0) : op->getOperand(0);
    auto wholeType = cast<RankedTensorType>(whole.getType()), partType = cast<RankedTensorType>(part.getType());
    int64_t rows = wholeType.getDimSize(0);
    rt::collective::Range own = rt::collective::pieceOf(rows, uint32_t(ranks), uint32_t(place));
    if (partType.getDimSize(0) != own.size())
      return op->emitError() << "rank " << rank.getValue() << " has " << own.size() << " of the " << rows
                             << " rows over " << ranks << " ranks, found " << partType.getDimSize(0);
    return own.begin * (wholeType.getNumElements() / rows);
  }

  LogicalResult write(Operation *op, const dist::CollectiveUse &use, ArrayRef<int64_t> group, int place,
                      const rt::collective::Program &program) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    int64_t from = 0, to = 0;
    if (op->getNumOperands()) {
      from = cast<ShapedType>(op->getOperand(0).getType()).getNumElements();
      to = cast<ShapedType>(op->getResult(0).getType()).getNumElements();
    }
    int64_t unit = 1;
    // Of a whole whose first axis is divided, pieces are of rows.
    if (rt::collective::formOf(dist::kindOf(op)) != rt::collective::Form::inPlace)
      unit = ShapedType::getNumElements(cast<ShapedType>(op->getOperand(0).getType()).getShape().drop_front());
    FailureOr<int64_t> at = placeOf(op, from, to, group.size(), place);
    if (failed(at)) return failure();
    auto steps = dist::StepsOp::create(b, loc, op->getResultTypes(), op->getOperands(),
                                       use.reduction.value_or(dist::Reduction::sum), rank, *at, program.isApart);
    b.createBlock(&steps.getBody());
    for (const Step &step : program.steps) {
      auto rangeIn = [&](int64_t elements) -> rt::collective::Range {
        if (!program.pieces || !unit) return {};
        auto range = rt::collective::piecesOf(elements / unit, program.pieces, step.piece, step.count);
        return {range.begin * unit, range.end * unit};
      };
      // Where both are apart each is cut by itself.
      int64_t written = program.isApart ? to : std::max(from, to);
      rt::collective::Range read = rangeIn(program.isApart ? from : written),
                            range = step.kind == Step::Kind::send ? read : rangeIn(written);
      int64_t peer = step.peer < 0 ? 0 : group[size_t(step.peer)], lane = step.lane;
      switch (step.kind) {
      case Step::Kind::send: dist::SendOp::create(b, loc, range.begin, range.end, peer, lane); break;
      case Step::Kind::receive: dist::ReceiveOp::create(b, loc, range.begin, range.end, peer, lane); break;
      case Step::Kind::reduce: dist::CombineOp::create(b, loc, range.begin, range.end, peer, lane); break;
      case Step::Kind::finish: dist::FinishOp::create(b, loc, range.begin, range.end, lane); break;
      case Step::Kind::keep:
        dist::KeepOp::create(b, loc, range.begin, range.end,
                             read.begin == range.begin ? IntegerAttr() : b.getI64IntegerAttr(read.begin), lane);
        break;
      }
    }
    b.setInsertionPointAfter(steps);
    // Only the root has the sum, or all rows.
    if (isa<dist::ReduceOp, dist::GatherOp>(op) && place != use.root)
      op->getResult(0).replaceAllUsesWith(ir::createSplat(b, loc, op->getResult(0).getType(), 0));
    else
      op->replaceAllUsesWith(steps);
    op->erase();
    return success();
  }
};

} // namespace
