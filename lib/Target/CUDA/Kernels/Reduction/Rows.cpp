// Reductions and what is elementwise around them (softmax, norms, losses, sums of gradients): the threads of a row go
// through it once for each level of reductions, and once for results that have all of its elements. A short part of a
// row stays in registers between the passes.
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowPasses.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
class RowKernel {
public:
  RowKernel(GpuBuilder &kernel, const RowGroup &group)
      : k(kernel), group(group), evaluator(kernel), passes(kernel, group, evaluator, group.parts) {
    for (int64_t d : group.keptDims) keptSizes.push_back(group.shape[d]);
  }

  void emit(Value tile) {
    int64_t perBlock = group.rowsPerBlock();
    Value column;
    if (group.alongRows) {
      part = k.rem(k.thread(), group.parts);
      column = k.div(k.thread(), group.parts);
    } else {
      part = k.div(k.thread(), perBlock);
      column = k.rem(k.thread(), perBlock);
    }
    row = k.add(k.mul(tile, perBlock), column);
    if (group.rows % perBlock == 0) return emitRow();
    exists = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, row, k.index(group.rows));
    if (!group.threadsMeet()) return k.ifThen(exists, [&] { emitRow(); });
    // Threads of rows that are not there come along, with a row that is.
    row = k.min(row, k.index(group.rows - 1));
    emitRow();
  }

private:
  void emitRow() {
    Evaluator::Scope scope(evaluator);
    passes.enter(k.delinearize(row, keptSizes), part);
    passes.reduce();
    storeRows();
    SmallVector<unsigned> full;
    for (auto [i, value] : llvm::enumerate(group.yielded))
      if (!group.isRow(value)) full.push_back(i);
    if (!full.empty()) passes.forElements([&](Value valid) { storeElements(full, valid); });
  }

  void storeRows() {
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, value] : llvm::enumerate(group.yielded))
      if (group.isRow(value))
        values.push_back({i, evaluator.at(value, evaluator.broadcastPosition(value, passes.rowOnly))});
    if (values.empty()) return;
    auto store = [&] {
      for (auto [i, value] : values) k.store(value, k.flat(k.resultBuffer(i)), row, elementOf(group.yielded[i]));
    };
    Value mine = exists && group.threadsMeet() ? exists : Value();
    if (group.parts > 1) {
      Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, part, k.index(0));
      mine = mine ? Value(arith::AndIOp::create(k.b, k.loc, mine, isFirst)) : isFirst;
    }
    mine ? k.ifThen(mine, store) : store();
  }

  // All of the results at this position are computed before the first is stored: it may take an operand's bytes.
  void storeElements(ArrayRef<unsigned> results, Value valid) {
    SmallVector<Value> values, indices;
    for (unsigned result : results) values.push_back(evaluator.at(group.yielded[result], passes.position));
    for (const Coordinate &coordinate : passes.position) indices.push_back(coordinate.base);
    Value offset = k.linearize(indices, group.shape), mine = valid;
    if (exists && group.threadsMeet()) mine = mine ? Value(arith::AndIOp::create(k.b, k.loc, mine, exists)) : exists;
    auto store = [&] {
      for (auto [result, value] : llvm::zip_equal(results, values))
        k.store(value, k.flat(k.resultBuffer(result)), offset, elementOf(group.yielded[result]));
    };
    mine ? k.ifThen(mine, store) : store();
  }

  GpuBuilder &k;
  const RowGroup &group;
  GpuEvaluator evaluator;
  RowPasses passes;
  SmallVector<int64_t> keptSizes;
  Value part, row, exists;
};

struct RowEmitter : GpuEmitter {
  StringRef name() const override { return "rows"; }
  bool matches(kernel::DispatchOp dispatch) const override { return RowGroup::analyze(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override { return RowGroup::analyze(dispatch)->plan(); }

  // Each element of a row belongs to one thread, which reads it before it writes it. Where threads come along with
  // another one's row, they would read what that one has written.
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    RowGroup group = *RowGroup::analyze(dispatch);
    BlockArgument argument = dispatch->getRegion(0).getArgument(operand);
    bool hasGuests = group.rows % group.rowsPerBlock() != 0 && group.threadsMeet();
    if (hasGuests || shapeOf(argument) != ArrayRef(group.shape) || group.isRow(argument)) return false;
    return llvm::all_of(
        group.ops, [&](Operation *op) { return isa<ElementwiseOpInterface, ir::ReduceOp>(op) || ir::splatOf(op); });
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    RowGroup group = *RowGroup::analyze(dispatch);
    RowKernel(k, group).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuRowEmitter() { return std::make_unique<RowEmitter>(); }
