// Reductions and what is elementwise around them (softmax, norms, losses, sums of gradients): the threads of a row go
// through it once for each level of reductions, and once for results that have all of its elements. A short part of a
// row stays in registers between the passes.
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "lib/Target/CUDA/Kernels/Elements/GpuEvaluator.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowGroup.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

namespace {
class RowKernel {
public:
  RowKernel(GpuBuilder &kernel, const RowGroup &group) : k(kernel), group(group), evaluator(kernel) {
    for (int64_t d : group.keptDims) keptSizes.push_back(group.shape[d]);
    for (int64_t d : group.reducedDims) reducedSizes.push_back(group.shape[d]);
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
  int64_t rounds() const { return llvm::divideCeil(group.length, group.parts); }
  /// Whether all of a thread's elements of a row have registers.
  bool isStaged() const { return rounds() <= 8; }

  void emitRow() {
    Evaluator::Scope scope(evaluator);
    position.assign(group.shape.size(), Coordinate{evaluator.zero, 0});
    for (auto [d, index] : llvm::zip_equal(group.keptDims, k.delinearize(row, keptSizes))) position[d] = {index, 0};
    rowOnly = position;
    for (int64_t level = 0; level < group.levels; ++level) {
      reduceLevel(level);
      defineRowValues(level);
    }
    storeRows();
    SmallVector<unsigned> full;
    for (auto [i, value] : llvm::enumerate(group.yielded))
      if (!group.isRow(value)) full.push_back(i);
    if (!full.empty()) forElements({}, [&](Value valid, ValueRange) { return storeElements(full, valid); });
  }

  using Body = llvm::function_ref<SmallVector<Value>(Value valid, ValueRange carried)>;

  // The thread's elements of the row in ascending order. Where an element may not be there, `valid` says whether it is,
  // and `position` is that of the thread's first one.
  SmallVector<Value> forElements(ValueRange initial, Body body) {
    if (group.length == 0) return SmallVector<Value>(initial);
    if (!isStaged())
      return k.loop(part, k.index(group.length), group.parts, initial, [&](Value i, ValueRange carried) {
        Evaluator::Scope scope(evaluator);
        enter(i);
        return body(Value(), carried);
      });
    SmallVector<Value> carried(initial);
    for (int64_t round = 0; round < rounds(); ++round) {
      if (places.size() <= static_cast<size_t>(round)) places.push_back(placeOf(round));
      for (auto [d, index] : llvm::zip_equal(group.reducedDims, places[round].indices)) position[d] = {index, 0};
      carried = body(places[round].valid, carried);
    }
    return carried;
  }

  struct Place {
    SmallVector<Value> indices; // of the reduced dimensions
    Value valid;
  };
  Place placeOf(int64_t round) {
    Value i = k.add(part, round * group.parts), valid;
    if ((round + 1) * group.parts > group.length) {
      valid = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, i, k.index(group.length));
      i = arith::SelectOp::create(k.b, k.loc, valid, i, part);
    }
    return {k.delinearize(i, reducedSizes), valid};
  }
  void enter(Value i) {
    for (auto [d, index] : llvm::zip_equal(group.reducedDims, k.delinearize(i, reducedSizes))) position[d] = {index, 0};
  }

  void reduceLevel(int64_t level) {
    SmallVector<ir::ReduceOp> reductions;
    SmallVector<Value> start;
    for (ir::ReduceOp reduce : group.reductions) {
      if (group.levelNeeded(reduce.getResult()) != level) continue;
      reductions.push_back(reduce);
      start.push_back(reductionIdentity(k, reduce.getKind(), elementTypeOf(reduce.getOperand()), 1));
    }
    SmallVector<Value> totals = forElements(start, [&](Value valid, ValueRange carried) {
      SmallVector<Value> next;
      for (auto [reduce, old] : llvm::zip_equal(reductions, carried)) {
        Value element = evaluator.at(reduce.getOperand(), position);
        Value stepped = reductionStep(k, reduce.getKind(), elementTypeOf(reduce.getOperand()), old, element);
        next.push_back(valid ? Value(arith::SelectOp::create(k.b, k.loc, valid, stepped, old)) : stepped);
      }
      return next;
    });
    combine(reductions, totals);
    for (auto [reduce, total] : llvm::zip_equal(reductions, totals))
      evaluator.define(reduce.getResult(), k.round(total, elementTypeOf(reduce.getOperand())));
  }

  // Leaves the reduction of all parts of the row in each of its threads.
  void combine(ArrayRef<ir::ReduceOp> reductions, MutableArrayRef<Value> totals) {
    if (group.parts == 1) return;
    auto step = [&](size_t i, Value a, Value b) {
      ir::ReduceOp reduce = reductions[i];
      return reductionStep(k, reduce.getKind(), elementTypeOf(reduce.getOperand()), a, b);
    };
    auto acrossLanes = [&](int64_t lanes) {
      for (int64_t distance = lanes / 2; distance >= 1; distance /= 2)
        for (size_t i = 0; i < totals.size(); ++i) totals[i] = step(i, totals[i], k.shuffleXor(totals[i], distance));
    };
    if (group.alongRows) acrossLanes(std::min(group.parts, kWarp));
    if (group.alongRows && group.parts <= kWarp) return;
    // In shared memory: one value of each warp of the row, or of each part for all rows of the block.
    int64_t count = group.alongRows ? group.parts / kWarp : group.parts, rows = group.rowsPerBlock();
    Value lane = k.rem(k.thread(), kWarp), warp = k.div(k.thread(), kWarp);
    SmallVector<Value> buffers;
    for (size_t i = 0; i < totals.size(); ++i) {
      Type type = totals[i].getType();
      buffers.push_back(k.sharedBuffer({count * rows}, storageType(type)));
      auto put = [&](Value at) { k.store(totals[i], buffers[i], at, type); };
      if (!group.alongRows) {
        put(k.thread());
        continue;
      }
      Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, lane, k.index(0));
      k.ifThen(isFirst, [&] { put(warp); });
    }
    k.barrier();
    Value column = group.alongRows ? Value() : k.rem(k.thread(), rows);
    for (size_t i = 0; i < totals.size(); ++i) {
      Type type = totals[i].getType();
      auto get = [&](Value at) { return k.load(buffers[i], at, type); };
      if (group.alongRows) {
        totals[i] = get(k.rem(lane, count));
        continue;
      }
      Value total = get(column);
      for (int64_t p = 1; p < count; ++p) total = step(i, total, get(k.add(column, p * rows)));
      totals[i] = total;
    }
    if (group.alongRows) acrossLanes(count);
  }

  // Elementwise values of rows, once, as soon as the reductions that they need are known.
  void defineRowValues(int64_t level) {
    for (Operation *op : group.ops) {
      Value value = op->getResult(0);
      if (!isa<ElementwiseOpInterface>(op) || !group.isRow(value) || group.levelNeeded(value) != level) continue;
      evaluator.define(value, evaluator.at(value, evaluator.broadcastPosition(value, rowOnly)));
    }
  }

  void storeRows() {
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, value] : llvm::enumerate(group.yielded))
      if (group.isRow(value)) values.push_back({i, evaluator.at(value, evaluator.broadcastPosition(value, rowOnly))});
    if (values.empty()) return;
    auto store = [&] {
      for (auto [i, value] : values) k.store(value, k.flat(k.resultBuffer(i)), row, elementTypeOf(group.yielded[i]));
    };
    Value mine = exists && group.threadsMeet() ? exists : Value();
    if (group.parts > 1) {
      Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, part, k.index(0));
      mine = mine ? Value(arith::AndIOp::create(k.b, k.loc, mine, isFirst)) : isFirst;
    }
    mine ? k.ifThen(mine, store) : store();
  }

  // All of the results at this position are computed before the first is stored: it may take an operand's bytes.
  SmallVector<Value> storeElements(ArrayRef<unsigned> results, Value valid) {
    SmallVector<Value> values, indices;
    for (unsigned result : results) values.push_back(evaluator.at(group.yielded[result], position));
    for (const Coordinate &coordinate : position) indices.push_back(coordinate.base);
    Value offset = k.linearize(indices, group.shape), mine = valid;
    if (exists && group.threadsMeet()) mine = mine ? Value(arith::AndIOp::create(k.b, k.loc, mine, exists)) : exists;
    auto store = [&] {
      for (auto [result, value] : llvm::zip_equal(results, values))
        k.store(value, k.flat(k.resultBuffer(result)), offset, elementTypeOf(group.yielded[result]));
    };
    mine ? k.ifThen(mine, store) : store();
    return {};
  }

  GpuBuilder &k;
  const RowGroup &group;
  GpuEvaluator evaluator;
  SmallVector<int64_t> keptSizes, reducedSizes;
  Value part, row, exists;
  Position position, rowOnly;
  SmallVector<Place> places;
};

class RowEmitter : public GpuEmitter {
public:
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

std::unique_ptr<GpuEmitter> sprig::createGpuRowEmitter() { return std::make_unique<RowEmitter>(); }
