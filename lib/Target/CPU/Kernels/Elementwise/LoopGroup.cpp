#include "lib/Target/CPU/Kernels/Elementwise/LoopGroup.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/ReduceOrder.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// A shape with ones in front, to a rank.
static SmallVector<int64_t> padded(ArrayRef<int64_t> shape, size_t rank) {
  SmallVector<int64_t> result(rank - std::min(rank, shape.size()), 1);
  result.append(shape.begin(), shape.end());
  return result;
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>());
}

std::optional<LoopGroup> LoopGroup::analyze(kernel::DispatchOp dispatch) {
  LoopGroup group;
  group.dispatch = dispatch;
  Block &body = dispatch->getRegion(0).front();
  for (Operation &op : body.without_terminator()) group.ops.push_back(&op);
  group.yielded.assign(body.getTerminator()->operand_begin(), body.getTerminator()->operand_end());
  if (!group.collect()) return std::nullopt;
  group.chooseRuns();
  group.chooseBlocks(/*always=*/false);
  group.keepRows();
  group.chooseTiles();
  return group;
}

std::optional<LoopGroup> LoopGroup::analyzeRows(kernel::DispatchOp dispatch, ArrayRef<Operation *> ops,
                                                ArrayRef<Value> yielded, int64_t scratchBegin) {
  LoopGroup group;
  group.dispatch = dispatch;
  group.ops.assign(ops.begin(), ops.end());
  group.yielded.assign(yielded.begin(), yielded.end());
  group.scratchBytes = scratchBegin;
  if (!group.collect()) return std::nullopt;
  group.chooseRuns();
  if (!group.chooseBlocks(/*always=*/true)) return std::nullopt;
  group.keepRows();
  return group;
}

// Finds the reductions and the iteration space, and refuses what the evaluator cannot compute.
bool LoopGroup::collect() {
  members.insert(ops.begin(), ops.end());
  if (yielded.empty()) return false;
  LoopSpace space;
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<ir::ReduceOp>(op)) reductions.push_back(reduce);
  if (!reductions.empty()) {
    space.hasReduction = true;
    space.axes.assign(reductions[0].getAxes().begin(), reductions[0].getAxes().end());
  }
  shape.assign(reductions.empty() ? shapeOf(yielded[0]) : shapeOf(reductions[0].getOperand()));
  space.shape = shape;
  auto isMember = [&](Operation *op) { return contains(op); };
  for (Operation *op : ops) {
    if (!space.takes(op, isMember)) return false;
    int64_t needed = -1;
    for (Value operand : op->getOperands()) needed = std::max(needed, levelOf.count(operand) ? levelOf[operand] : -1);
    if (isa<ir::ReduceOp>(op)) levels = std::max(levels, ++needed + 1);
    if (needed >= 0 && (isLoopGenerator(op) || isa<ir::TransposeOp, ir::SliceOp>(op))) return false; // rows out of line
    levelOf[op->getResult(0)] = needed;
    if (auto cost = dyn_cast<CostOpInterface>(op)) flops += cost.getFlops();
  }
  return llvm::all_of(yielded, [&](Value value) { return space.mayYield(value); });
}

// Merges neighbouring dimensions where no value tells them apart, and decides what the lanes are.
void LoopGroup::chooseRuns() {
  int64_t rank = shape.size();
  llvm::SmallVector<bool> reduced(rank, false);
  if (!reductions.empty())
    for (int64_t axis : reductions[0].getAxes()) reduced[axis] = true;
  innerReduced = rank > 0 && reduced[rank - 1];
  int64_t lastReduced = rank - 1;
  while (lastReduced > 0 && !reduced[lastReduced]) --lastReduced;
  partials = !innerReduced && llvm::any_of(reductions, [](ir::ReduceOp op) { return ir::hasPartials(op); });

  merged = true;
  SmallVector<Value> values;
  for (Operation *op : ops) {
    if (isLoopGenerator(op) || isa<ir::TransposeOp, ir::SliceOp>(op)) merged = false;
    if (!isa<ir::ReduceOp>(op)) values.push_back(op->getResult(0));
    values.append(op->operand_begin(), op->operand_end());
  }
  // A splat is the same everywhere.
  llvm::erase_if(values, [](Value value) { return value.getDefiningOp<ir::ConstantOp>(); });
  for (Value value : values)
    if (static_cast<int64_t>(shapeOf(value).size()) > rank) merged = false;

  for (int64_t d = 0; d < rank; ++d) {
    bool joins = merged && !runs.empty() && runs.back().reduced == reduced[d];
    // The last run of several reduced dimensions has the partial accumulators of the last one alone only where that is
    // a whole number of vectors.
    if (joins && (innerReduced || partials) && reduced[d] && shape[lastReduced] % kLanes != 0) joins = d != lastReduced;
    for (Value value : values) {
      if (!joins) break;
      SmallVector<int64_t> own = padded(shapeOf(value), rank);
      auto has = [&](int64_t dim) { return own[dim] == shape[dim]; };
      bool before = true, none = true;
      for (int64_t i = runs.back().begin; i < runs.back().end; ++i) {
        before &= has(i);
        none &= own[i] == 1;
      }
      joins = (before && has(d)) || (none && own[d] == 1);
      if (auto iota = value.getDefiningOp<ir::IotaOp>()) joins &= countsAlone(iota, runs.back().begin, d + 1);
    }
    if (joins) {
      runs.back().end = d + 1;
      runs.back().size *= shape[d];
    } else {
      runs.push_back({d, d + 1, shape[d], reduced[d]});
    }
  }
  int64_t inner = runs.empty() ? 1 : runs.back().size;
  if (inner == 1) lanes = 1;
  if (innerReduced) lanes = kLanes; // the order of a reduction along lanes is part of its meaning
  if (lanes > 1 && !merged) {
    llvm::SmallVector<bool> laneDims(rank, false);
    if (rank > 0) laneDims[rank - 1] = true;
    auto allowed = [&](Value value) { return lanesAllowed(value, laneDims); };
    bool all = llvm::all_of(reductions, [&](ir::ReduceOp reduce) { return allowed(reduce.getOperand()); });
    for (Value value : yielded)
      if (shapeOf(value) == ArrayRef(shape)) all &= allowed(value);
    if (!all) lanes = 1;
  }
}

// Whether a value can be computed for several lanes at once, when the lanes are neighbours in the marked dimensions.
bool LoopGroup::lanesAllowed(Value value, SmallVector<bool> laneDims) const {
  Operation *op = value.getDefiningOp();
  if (!contains(op) || llvm::none_of(laneDims, [](bool lane) { return lane; })) return true;
  auto operandLanes = [&](Value operand) {
    ArrayRef<int64_t> own = shapeOf(operand);
    llvm::SmallVector<bool> dims(own.size(), false);
    for (size_t i = 0; i < own.size() && i < laneDims.size(); ++i)
      dims[own.size() - 1 - i] = laneDims[laneDims.size() - 1 - i] && own[own.size() - 1 - i] != 1;
    return dims;
  };
  if (isa<ElementwiseOpInterface, ir::BroadcastOp, ir::SliceOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return lanesAllowed(operand, operandLanes(operand)); });
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    llvm::SmallVector<bool> dims(laneDims.size(), false);
    for (auto [i, source] : llvm::enumerate(transpose.getPermutation())) dims[source] = laneDims[i];
    return lanesAllowed(transpose.getOperand(), dims);
  }
  if (auto pool = dyn_cast<ir::PoolOp>(op)) {
    int64_t channel = pool.getChannelsLast() ? laneDims.size() - 1 : 1;
    for (size_t d = 0; d < laneDims.size(); ++d)
      if (laneDims[d] && d != 0 && static_cast<int64_t>(d) != channel) return false;
    return lanesAllowed(pool.getOperand(), laneDims);
  }
  if (auto gradient = dyn_cast<ir::PoolGradOp>(op)) {
    size_t channel = gradient.getChannelsLast() ? laneDims.size() - 1 : 1;
    for (size_t d = 0; d < laneDims.size(); ++d)
      if (laneDims[d] && d != 0 && d != channel) return false;
    return lanesAllowed(gradient.getOperand(), laneDims) && lanesAllowed(gradient.getCotangent(), laneDims);
  }
  if (auto pad = dyn_cast<ir::PadOp>(op)) {
    for (size_t d = 0; d < laneDims.size(); ++d)
      if (laneDims[d] && (pad.getLow()[d] || pad.getHigh()[d])) return false;
    return lanesAllowed(pad.getOperand(), laneDims);
  }
  if (isa<ir::ConvOp, ir::ConvTransposeOp, ir::ConvFilterGradOp>(op)) return false;
  // Gathers take lanes one by one where they run over the indices; a product's columns are lanes.
  return true;
}

/// Whether a run of these dimensions counts as the operation does, where its axis is one of them.
bool LoopGroup::countsAlone(ir::IotaOp iota, int64_t begin, int64_t end) const {
  ArrayRef<int64_t> own = shapeOf(iota.getResult());
  int64_t missing = static_cast<int64_t>(shape.size() - own.size()), axis = iota.getAxis() + missing;
  if (axis < begin || axis >= end) return true;
  SmallVector<int64_t> sizes = padded(own, shape.size());
  return product(ArrayRef(sizes).slice(begin, end - begin)) == sizes[axis];
}

size_t LoopGroup::coordinateOf(ir::IotaOp iota) const {
  if (!merged) return iota.getAxis();
  int64_t axis = iota.getAxis() + static_cast<int64_t>(shape.size() - shapeOf(iota.getResult()).size());
  return llvm::find_if(runs, [&](const DimRun &run) { return axis < run.end; }) - runs.begin();
}

SmallVector<int64_t> LoopGroup::positionShape(Value value) const {
  if (!merged) return SmallVector<int64_t>(shapeOf(value));
  SmallVector<int64_t> own = padded(shapeOf(value), shape.size()), sizes;
  for (const DimRun &run : runs) {
    int64_t size = 1;
    for (int64_t d = run.begin; d < run.end; ++d) size *= own[d];
    sizes.push_back(size);
  }
  return sizes;
}

bool LoopGroup::isRow(Value value) const {
  if (reductions.empty()) return false;
  if (value.getDefiningOp<ir::ReduceOp>()) return true;
  if (shapeOf(value).size() > shape.size()) return false;
  SmallVector<int64_t> own = padded(shapeOf(value), shape.size());
  return llvm::all_of(reductions[0]->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef(),
                      [&](int64_t axis) { return own[axis] == 1; });
}

bool LoopGroup::isSinglePass() const {
  return levels == 1 && kept.empty() &&
         llvm::all_of(yielded, [&](Value value) { return isRow(value) || levelNeeded(value) < 0; });
}

bool LoopGroup::reducesColumns() const {
  if (!isSinglePass() || innerReduced || lanes != kLanes || !merged) return false;
  // Values of rows that a sum is made of would be defined before it, for one vector.
  auto isEarly = [&](Operation *op) {
    return isa<ElementwiseOpInterface>(op) && isRow(op->getResult(0)) && levelNeeded(op->getResult(0)) < 0;
  };
  return llvm::none_of(ops, isEarly);
}

int64_t LoopGroup::levelNeeded(Value value) const {
  auto it = levelOf.find(value);
  return it == levelOf.end() ? -1 : it->second;
}

int64_t LoopGroup::reducedCount() const {
  int64_t count = 1;
  for (const DimRun &run : runs)
    if (run.reduced) count *= run.size;
  return count;
}

int64_t LoopGroup::keptCount() const {
  int64_t count = 1;
  for (const DimRun &run : runs)
    if (!run.reduced) count *= run.size;
  return count;
}

// A value of the whole row that one pass computes and a later one needs again is kept in scratch where computing it
// again costs more than one operation (the exponentials of a softmax), if the row is not too long for it.
void LoopGroup::keepRows() {
  constexpr int64_t kMostScratch = 1 << 20;
  if (levels == 0 || !merged) return;
  llvm::DenseSet<Value> computedEarlier;
  auto isFull = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return contains(op) && isa<ElementwiseOpInterface>(op) && !isRow(value) && shapeOf(value) == ArrayRef(shape);
  };
  std::function<int64_t(Value)> depth = [&](Value value) -> int64_t {
    if (!isFull(value)) return 0;
    int64_t most = 0;
    for (Value operand : value.getDefiningOp()->getOperands()) most = std::max(most, depth(operand));
    return most + 1;
  };
  int64_t rowElements = blockRows ? blockRows * keptStride() : reducedCount() * (innerReduced ? 1 : lanes);
  std::function<void(Value, llvm::DenseSet<Value> &)> visit = [&](Value value, llvm::DenseSet<Value> &seen) {
    if (!isFull(value) || !seen.insert(value).second) return;
    if (computedEarlier.contains(value) && depth(value) >= 2) {
      // Whole vectors, and a row more than its own length where the last one is not whole.
      int64_t size = (rowElements + kLanes) * storageBytes(elementOf(value));
      size = (size + 63) / 64 * 64;
      if (kept.count(value) || scratchBytes + size <= kMostScratch) {
        if (kept.insert({value, scratchBytes}).second) scratchBytes += size;
        return;
      }
    }
    for (Value operand : value.getDefiningOp()->getOperands()) visit(operand, seen);
  };
  for (int64_t level = 0; level <= levels; ++level) {
    llvm::DenseSet<Value> seen;
    if (level < levels) {
      for (ir::ReduceOp reduce : reductions)
        if (levelOf[reduce.getResult()] == level) visit(reduce.getOperand(), seen);
    } else {
      for (Value value : yielded) visit(value, seen);
    }
    computedEarlier.insert(seen.begin(), seen.end());
  }
}

// Neighbouring rows of one long or short innermost dimension make blocks; a block's rows stay in the first-level cache
// between passes.
bool LoopGroup::chooseBlocks(bool always) {
  if (levels == 0 || !merged || !innerReduced || runs.size() < 2 || reducedCount() < 2) return false;
  for (const DimRun &run : ArrayRef(runs).drop_back())
    if (run.reduced) return false;
  if (runs[runs.size() - 2].size < 2 && !always) return false;
  auto isRowOfBits = [&](Operation *op) {
    return !isa<ir::ConstantOp>(op) && isRow(op->getResult(0)) && elementOf(op->getResult(0)).isInteger(1);
  };
  if (llvm::any_of(ops, isRowOfBits)) return false;
  int64_t length = reducedCount();
  blockRows = length <= 384 ? 16 : length <= 768 ? 8 : length <= 1536 ? 4 : 2;

  constexpr int64_t kVectorBytes = kLanes * 8; // of the widest type
  int64_t most = 0;
  for (int64_t level = 0; level < levels; ++level)
    most = std::max<int64_t>(
        most, llvm::count_if(reductions, [&](ir::ReduceOp op) { return levelOf[op.getResult()] == level; }));
  partialsOffset = scratchBytes;
  scratchBytes += most * kLanes * kVectorBytes;
  for (Operation *op : ops) {
    Value value = op->getResult(0);
    if (!isa<ElementwiseOpInterface, ir::ReduceOp>(op) || !isRow(value)) continue;
    auto isWhole = [&](Operation *user) { return contains(user) && !isRow(user->getResult(0)); };
    auto isReducing = [&](Operation *user) { return contains(user) && isa<ir::ReduceOp>(user); };
    if (!llvm::any_of(op->getUsers(), [&](Operation *user) { return isWhole(user) || isReducing(user); })) continue;
    rowSlots[value] = scratchBytes;
    scratchBytes += kVectorBytes;
  }
  return true;
}

void LoopGroup::chooseTiles() {
  // About this many operations a tile: small enough to share out, large enough to forget the loop around it.
  constexpr int64_t kWork = 16384;
  int64_t total = product(shape);
  int64_t perElement = std::max<int64_t>(1, total == 0 ? 1 : flops / total);
  bool innerKept = !runs.empty() && !runs.back().reduced;
  innerSize = blockRows ? runs[runs.size() - 2].size : innerKept ? runs.back().size : 1;
  outerSize = innerSize == 0 ? 0 : keptCount() / innerSize;
  int64_t want = std::max<int64_t>(1, kWork / (perElement * std::max<int64_t>(1, reducedCount())));
  int64_t unit = blockRows ? blockRows : !reducesColumns() ? kLanes : innerSize < 8 * kLanes ? 2 * kLanes : 4 * kLanes;
  int64_t wantInner = (want + unit - 1) / unit * unit;
  if (innerSize > wantInner + wantInner / 2) {
    innerChunk = wantInner;
    outerChunk = 1;
  } else {
    innerChunk = std::max<int64_t>(innerSize, 1);
    outerChunk = std::max<int64_t>(1, want / innerChunk);
  }
  if (auto tile = dyn_cast_if_present<kernel::LoopTileAttr>(dispatch.getTileAttr()))
    // A dump may be edited by hand: what does not fit is no choice.
    if (reductions.empty() && lanes > 1 && tile.getElements() % kLanes == 0 && tile.getElements() < innerSize) {
      innerChunk = tile.getElements();
      outerChunk = 1;
    }
  auto countTiles = [&] {
    innerTiles = llvm::divideCeil(innerSize, innerChunk);
    outerTiles = llvm::divideCeil(outerSize, outerChunk);
  };
  countTiles();
  if (innerTiles * outerTiles == 1 && total >= kHalvedElements && !reducesColumns()) {
    if (outerSize > 1) {
      outerChunk = llvm::divideCeil(outerSize, 2);
    } else {
      innerChunk = llvm::alignTo(llvm::divideCeil(innerSize, 2), unit);
      outerChunk = 1;
    }
    countTiles();
  }
}

KernelPlan LoopGroup::plan() const {
  int64_t tiles = innerTiles * outerTiles;
  return {tiles, scratchBytes};
}

/// The run that innerTiles cut, or -1.
int64_t LoopGroup::innerRun() const {
  int64_t last = static_cast<int64_t>(runs.size()) - 1;
  if (blockRows) return last - 1;
  return last >= 0 && !runs[last].reduced ? last : -1;
}

// What tiles touch of a value that has these sizes along the runs: each of them a run's own, or 1. No steps where the
// parts of the outer positions do not follow each other.
SmallVector<TileStep> LoopGroup::stepsOf(ArrayRef<int64_t> sizes) const {
  int64_t inner = innerRun(), perOuter = 1, after = 1;
  bool isWhole = true, isFirst = true; // in each outer position the inner run, and nothing in front of it
  for (auto [index, run] : llvm::enumerate(runs)) {
    int64_t i = index;
    if (sizes[i] != run.size && sizes[i] != 1) return {};
    if (run.reduced || i == inner) {
      if (i == inner) isWhole = sizes[i] == run.size;
      if (i < inner) isFirst &= sizes[i] == 1;
      if (i > inner) after *= sizes[i];
      perOuter *= sizes[i];
    } else if (sizes[i] != run.size || (perOuter != 1 && run.size != 1)) {
      return {};
    }
  }
  TileStep outer{outerChunk * perOuter, 0, outerChunk * perOuter};
  if (innerTiles == 1 || !isWhole || !isFirst) return {outer, {0, 0, outer.extent}};
  return {outer, {innerChunk * after, 0, innerChunk * after}};
}

bool LoopGroup::isElementwise() const {
  auto isInPlace = [](Operation *op) {
    return isa<ElementwiseOpInterface, ir::ReduceOp, ir::IotaOp>(op) || ir::splatOf(op);
  };
  return merged && llvm::all_of(ops, isInPlace);
}

SmallVector<TileRange> LoopGroup::tileRanges() const {
  TileRanges ranges(dispatch, {outerTiles, innerTiles});
  ranges.operands([&](OpOperand &use) -> SmallVector<TileStep> {
    // Anything that looks at other positions (views, windows, gathers) reads where it likes.
    if (!isElementwise() || shapeOf(use.get()).size() > shape.size()) return {};
    return stepsOf(positionShape(use.get()));
  });
  for (auto [index, value] : llvm::enumerate(yielded)) {
    bool oneARow = isRow(value);
    SmallVector<int64_t> sizes =
        llvm::map_to_vector(runs, [&](const DimRun &run) { return oneARow && run.reduced ? int64_t(1) : run.size; });
    ranges.result(index, stepsOf(sizes));
  }
  return ranges.take();
}

// Loops load, compute and store a position at a time, tails masked. Rows that are reduced are read in several passes
// and written in the last; anything that looks at other positions is not taken.
bool LoopGroup::mayOverwrite(unsigned result) const {
  return isElementwise() && ArrayRef(shape) == shapeOf(dispatch->getResult(result));
}
