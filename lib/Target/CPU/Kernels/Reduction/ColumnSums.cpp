// Reductions down columns, several vectors of them side by side: one chain for each, or, where the last of the reduced
// dimensions was innermost in the model's layout, its partial accumulators as so many vectors.
#include "dialects/NN/ReduceOrder.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopNest.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// `count` vectors of columns that are summed down the rows: lines are read whole, and no sum waits for itself alone.
void LoopNest::columnSums(Value i, int64_t count) {
  Evaluator::Scope scope(evaluator);
  SmallVector<unsigned> full = fullResults();
  SmallVector<Value> begins;
  for (int64_t n = 0; n < count; ++n) begins.push_back(k.add(i, n * group.lanes));
  auto enter = [&](int64_t n) { position[laneRun] = {begins[n], 1}; };
  SmallVector<Value> totals = reduceColumns(group.reductions, count, enter, [&] {
    for (int64_t n = 0; n < count && !full.empty(); ++n) {
      enter(n);
      store(full);
    }
  });
  evaluator.level = group.levels;
  for (int64_t n = 0; n < count; ++n) {
    Evaluator::Scope values(evaluator);
    enter(n);
    for (auto [j, reduce] : llvm::enumerate(SmallVector<ir::ReduceOp>(group.reductions)))
      evaluator.define(reduce.getResult(),
                       k.round(totals[n * group.reductions.size() + j], elementOf(reduce.getOperand())));
    defineRowValues(group.levels);
    for (unsigned result = 0; result < yielded.size(); ++result)
      if (!llvm::is_contained(full, result)) storeRow(result);
  }
  evaluator.level = 0;
}

// The totals of `count` vectors, each entered before it is computed; `visit` follows at each position. Where lanes are
// neighbours of one row, the total is still to be combined.
SmallVector<Value> LoopNest::reduceColumns(ArrayRef<ir::ReduceOp> reductions, int64_t count,
                                           llvm::function_ref<void(int64_t)> enter, llvm::function_ref<void()> visit) {
  if (group.partials) return reducePlaces(reductions, count, enter, visit);
  SmallVector<Value> accumulators;
  for (int64_t n = 0; n < count; ++n)
    for (ir::ReduceOp reduce : reductions)
      accumulators.push_back(reductionIdentity(k, reduce.getKind(), elementOf(reduce.getOperand()), group.lanes));
  return forReduced(accumulators, reducedRuns, [&](ValueRange carried) {
    SmallVector<Value> next;
    for (int64_t n = 0; n < count; ++n) {
      enter(n);
      for (ir::ReduceOp reduce : reductions) next.push_back(step(reduce, carried[next.size()]));
    }
    visit();
    return next;
  });
}

// The same with an accumulator for each place in the last reduced run, modulo kLanes. As many places as registers hold
// go down the rows together; a chain needs them all in order.
SmallVector<Value> LoopNest::reducePlaces(ArrayRef<ir::ReduceOp> reductions, int64_t count,
                                          llvm::function_ref<void(int64_t)> enter, llvm::function_ref<void()> visit) {
  auto isChain = [](ir::ReduceOp op) { return !ir::hasPartials(op) && !ir::isOrderFree(op); };
  int64_t run = reducedRuns.back(), size = group.runs[run].size, places = std::min(size, kLanes);
  int64_t sums = count * static_cast<int64_t>(reductions.size()), together = places;
  int64_t registers = std::max<int64_t>(1, group.lanes / k.target.lanes());
  if (llvm::none_of(reductions, isChain))
    while (together > 1 && together * sums * registers > k.target.vectorRegisters * 3 / 4)
      together = (together + 1) / 2;

  SmallVector<SmallVector<Value>> partials(sums); // of each sum: by place
  for (int64_t first = 0; first < places; first += together) {
    int64_t width = std::min(together, places - first);
    SmallVector<Value> accumulators;
    for (int64_t i = 0; i < width * count; ++i)
      for (ir::ReduceOp reduce : reductions)
        accumulators.push_back(reductionIdentity(k, reduce.getKind(), elementOf(reduce.getOperand()), group.lanes));
    auto steps = [&](Value begin, ValueRange carried, int64_t end) {
      SmallVector<Value> next(carried);
      for (int64_t place = 0; place < std::min(width, end - first); ++place) {
        position[run] = {k.add(begin, first + place), 0};
        for (int64_t n = 0; n < count; ++n) {
          enter(n);
          for (auto [j, reduce] : llvm::enumerate(reductions)) {
            Value &accumulator = next[(isChain(reduce) ? 0 : place * sums) + n * reductions.size() + j];
            accumulator = step(reduce, accumulator);
          }
        }
        visit();
      }
      return next;
    };
    int64_t whole = size / kLanes * kLanes;
    accumulators = forReduced(accumulators, ArrayRef(reducedRuns).drop_back(), [&](ValueRange carried) {
      SmallVector<Value> values(carried);
      if (whole > 0)
        values = k.loop(k.index(0), k.index(whole), kLanes, values, [&](Value begin, ValueRange inner) {
          Evaluator::Scope scope(evaluator);
          return steps(begin, inner, kLanes);
        });
      return whole == size ? values : steps(k.index(whole), values, size - whole);
    });
    for (int64_t place = 0; place < width; ++place)
      for (int64_t sum = 0; sum < sums; ++sum) partials[sum].push_back(accumulators[place * sums + sum]);
  }
  SmallVector<Value> totals;
  for (auto [sum, parts] : llvm::enumerate(partials)) {
    ir::ReduceOp reduce = reductions[sum % reductions.size()];
    // Where there are fewer places, the tree's other halves are identities.
    for (int64_t distance = kLanes / 2; distance >= 1; distance /= 2)
      for (int64_t i = 0; i < distance && i + distance < static_cast<int64_t>(parts.size()); ++i)
        if (!isChain(reduce))
          parts[i] = reductionStep(k, reduce.getKind(), elementOf(reduce.getOperand()), parts[i], parts[i + distance]);
    totals.push_back(parts.front());
  }
  return totals;
}
