// Attention in one kernel (dialects/NN/AttentionPattern.h): a tile is some rows of one matrix of the batch. The keys
// are turned into panels once a tile; then, for as many rows as fit the first-level cache, scores go to scratch memory,
// become weights in place and are multiplied with the values. The chains and reductions are those of separate kernels.
// Of keys that a mask excludes for all of those rows, neither scores nor products are computed where that is allowed.
#include "dialects/NN/AttentionBand.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopNest.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/Kernels/AttentionForm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// Up to so many columns of a product are spelled out, with constant offsets; code does not grow with more.
constexpr int64_t kSpelledOut = 512;

/// The cut into tiles and the scratch memory, by shape alone.
struct Plan : AttentionForm {
  int64_t tileRows, blocks; // rows of a tile, tiles of a matrix
  int64_t stepRows;         // rows whose scores are in scratch memory at a time
  int64_t scoreStride;      // elements between rows of scores
  bool packsValues, copiesQuery;
  int64_t keyPanels = 0, valuePanels = 0, queryRows = 0, scores = 0, stage = 0; // byte offsets
  std::optional<LoopGroup> group;
  std::optional<ir::Band> band; // of the keys that count; null: all do, or next to all

  Plan(kernel::DispatchOp dispatch, AttentionForm form) : AttentionForm(std::move(form)) {
    packsValues = !value.isPlain() || value.columnStride != 1;
    copiesQuery = !query.isPlain();

    constexpr int64_t kTileRows = 64, kScores = 4096; // elements
    tileRows = rows <= kTileRows * 3 / 2 ? rows : kTileRows;
    blocks = llvm::divideCeil(rows, tileRows);
    scoreStride = llvm::alignTo(keys, kLanes);
    // Rows of scores that many bytes apart would fall into few sets of the first-level cache.
    constexpr int64_t kFewSets = 1024;
    if (scoreStride * storageBytes(elementType) % kFewSets == 0) scoreStride += kLanes;
    stepRows = std::min(tileRows, std::clamp<int64_t>(kScores / scoreStride / kLanes * kLanes, kLanes, kTileRows * 2));
    int64_t bytes = storageBytes(elementType), end = 0;
    auto take = [&](int64_t elements) {
      int64_t begin = end;
      end += static_cast<int64_t>(llvm::alignTo(elements * bytes, 64));
      return begin;
    };
    keyPanels = take(panels(keys) * depth * kPanelWidth);
    if (packsValues) valuePanels = take(panels(columns) * keys * kPanelWidth);
    if (copiesQuery) queryRows = take(tileRows * llvm::alignTo(depth, kLanes));
    scores = take(stepRows * scoreStride);
    stage = end;
    group = LoopGroup::analyzeRows(dispatch, attention.rows, {attention.weights()}, stage);
    if (dispatch.getSkipMasked()) band = ir::bandOf(attention);
    constexpr double kWorthwhile = 0.9;
    if (band && shareOfKeys() > kWorthwhile) band.reset();
  }

  SmallVector<int64_t> space() const {
    SmallVector<int64_t> sizes(batch);
    sizes.push_back(blocks);
    return sizes;
  }
  SmallVector<TileRange> tileRanges(kernel::DispatchOp dispatch) const {
    auto reach = [](int64_t rowCount, int64_t rowStride, int64_t columnCount, int64_t columnStride) {
      return (rowCount - 1) * rowStride + (columnCount - 1) * columnStride + 1;
    };
    // Each tile reads all keys and values of its matrix, and its own rows of the others.
    auto shared = [&](const MatrixView &operand, int64_t rowCount, int64_t columnCount) {
      int64_t matrix = reach(rowCount, operand.rowStride, columnCount, operand.columnStride);
      return stepsOf(operand.batchStrides, matrix, {0, operand.view.offset, matrix});
    };
    auto own = [&](ArrayRef<int64_t> strides, int64_t begin, int64_t rowStride, int64_t count, int64_t columnStride) {
      return stepsOf(strides, reach(rows, rowStride, count, columnStride),
                     {tileRows * rowStride, begin, reach(tileRows, rowStride, count, columnStride)});
    };
    std::pair<const MatrixView *, SmallVector<TileStep>> reads[] = {
        {&query, own(query.batchStrides, query.view.offset, query.rowStride, depth, query.columnStride)},
        {&key, shared(key, depth, keys)},
        {&value, shared(value, keys, columns)}};
    TileRanges ranges(dispatch, space());
    for (BlockArgument argument : dispatch->getRegion(0).getArguments()) {
      SmallVector<SmallVector<TileStep>> all;
      for (const auto &[operand, steps] : reads)
        if (operand->view.root == argument) all.push_back(steps);
      if (isOnlyViewed(argument)) ranges.operand(argument.getArgNumber(), all);
    }
    ArrayRef<int64_t> strides = resultStrides;
    ranges.result(0, own(strides.drop_back(2), 0, strides.end()[-2], columns, strides.back()));
    return ranges.take();
  }

  static int64_t panels(int64_t count) { return llvm::divideCeil(count, kPanelWidth); }
  int64_t tiles() const {
    int64_t count = blocks;
    for (int64_t size : batch) count *= size;
    return count;
  }

private:
  /// How many of the keys the steps of a matrix see, about.
  double shareOfKeys() const {
    double seen = 0;
    for (int64_t first = 0; first < rows; first += stepRows) {
      int64_t last = std::min(first + stepRows, rows) - 1;
      int64_t begin = std::max<int64_t>(first - band->lower, 0), end = std::min(last + band->upper + 1, keys);
      seen += double(last + 1 - first) *
              double(std::min(llvm::alignTo(end, kPanelWidth) - begin / kPanelWidth * kPanelWidth, uint64_t(keys)));
    }
    return seen / double(rows * keys);
  }
  /// Along the batch, then within a matrix of that reach.
  SmallVector<TileStep> stepsOf(ArrayRef<int64_t> batchStrides, int64_t matrix, TileStep within) const {
    SmallVector<TileStep> steps(batch.size());
    for (size_t d = batch.size(); d-- > 0; matrix += (batch[d] - 1) * batchStrides[d])
      steps[d] = {batchStrides[d], within.begin, matrix};
    steps.push_back(within);
    return steps;
  }
  /// Whether both products, through their views, are all that reads a value.
  bool isOnlyViewed(Value viewed) const {
    auto isView = [&](Operation *op) {
      return llvm::is_contained(query.view.ops, op) || llvm::is_contained(key.view.ops, op) ||
             llvm::is_contained(value.view.ops, op);
    };
    return llvm::all_of(viewed.getUsers(), [&](Operation *user) {
      if (user == attention.scores || user == attention.output) return true;
      return isView(user) && llvm::all_of(user->getResults(), [&](Value result) { return isOnlyViewed(result); });
    });
  }
};

class AttentionKernel {
public:
  AttentionKernel(KernelBuilder &kernel, Plan &plan) : k(kernel), p(plan), nest(k, *plan.group) {}

  void emit() {
    Type storage = storageType(p.elementType);
    auto scratch = [&](int64_t offset, int64_t elements) {
      return k.scratchBuffer(offset, MemRefType::get({elements}, storage));
    };
    keyPanels = scratch(p.keyPanels, Plan::panels(p.keys) * p.depth * kPanelWidth);
    scores = scratch(p.scores, p.stepRows * p.scoreStride);
    if (p.packsValues) valuePanels = scratch(p.valuePanels, Plan::panels(p.columns) * p.keys * kPanelWidth);
    if (p.copiesQuery) queryRows = scratch(p.queryRows, p.tileRows * queryStride());
    SmallVector<int64_t> space = p.space();
    int64_t lastRows = p.rows - (p.blocks - 1) * p.tileRows;
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, space);
      matrix.assign(at.begin(), at.end() - 1);
      Value block = at.back(), row = k.mul(block, p.tileRows);
      packOperand(p.key, p.attention.scores.getRhs(), p.depth, p.keys, keyPanels, seenBy(row, p.tileRows));
      if (p.packsValues) packOperand(p.value, p.attention.output.getRhs(), p.keys, p.columns, valuePanels);
      k.ifLast(block, p.blocks, lastRows != p.tileRows,
               [&](bool last) { emitTile(row, last ? lastRows : p.tileRows); });
    });
  }

private:
  int64_t queryStride() const { return static_cast<int64_t>(llvm::alignTo(p.depth, kLanes)); }

  Value bufferOf(const MatrixView &operand) { return k.flatOperand(operand.view.root); }
  Value baseOf(const MatrixView &operand) { return operand.begin(k, matrix); }

  // The right side of a product as panels [columns / 32][depth][32]; whole ones that are not seen are left out.
  void packOperand(const MatrixView &operand, Value value, int64_t depth, int64_t columns, Value panels,
                   LoopNest::Columns seen = {}) {
    Type rootType = elementOf(operand.view.root), type = elementOf(value);
    auto change = [&](Value line) { return k.narrow(operand.applyChain(k, k.widen(line, rootType)), type); };
    Value buffer = bufferOf(operand), base = baseOf(operand);
    auto pack = [&](Value first, int64_t count) {
      PanelSource source{buffer, k.add(base, k.mul(first, operand.columnStride)), depth, operand.rowStride,
                         operand.columnStride};
      Value offset = k.mul(first, depth);
      if (operand.isPlain())
        emitPanel(k, source, count, rootType, panels, offset, PanelEnd::open);
      else
        emitPanel(k, source, count, rootType, panels, offset, PanelEnd::open, change);
    };
    int64_t first = 0;
    if (seen.end || columns > kSpelledOut) {
      first = columns / kPanelWidth * kPanelWidth;
      forColumns(seen, first, kPanelWidth, [&](Value column) { pack(column, kPanelWidth); });
    }
    for (; first < columns; first += kPanelWidth) pack(k.index(first), std::min(kPanelWidth, columns - first));
  }

  // Rows of the left side, changed on the way: along the depth where that is contiguous, else down the rows.
  void copyQuery(Value row, int64_t rows) {
    Type rootType = elementOf(p.query.view.root);
    Value buffer = bufferOf(p.query), base = k.add(baseOf(p.query), k.mul(row, p.query.rowStride));
    bool along = p.query.columnStride == 1;
    k.loop(k.index(0), k.index(rows), 1, [&](Value i) {
      auto copy = [&](Value column, int64_t count) {
        Value from = k.add(k.add(base, k.mul(i, p.query.rowStride)), k.mul(column, p.query.columnStride)), line;
        if (along) {
          line = k.loadVector(buffer, from, rootType, count < kLanes ? k.mask(count) : Value());
        } else {
          SmallVector<Value> elements;
          for (int64_t lane = 0; lane < kLanes; ++lane)
            elements.push_back(lane < count ? k.load(buffer, k.add(from, lane * p.query.columnStride), rootType)
                                            : elements.front());
          auto type = VectorType::get({kLanes}, elements.front().getType());
          line = vector::FromElementsOp::create(k.b, k.loc, type, elements);
        }
        k.store(p.query.applyChain(k, line), queryRows, k.add(k.mul(i, queryStride()), column), p.elementType);
      };
      int64_t first = 0;
      if (p.depth > kSpelledOut) {
        first = p.depth / kLanes * kLanes;
        k.loop(k.index(0), k.index(first), kLanes, [&](Value column) { copy(column, kLanes); });
      }
      for (; first < p.depth; first += kLanes) copy(k.index(first), std::min(kLanes, p.depth - first));
    });
  }

  void emitTile(Value row, int64_t rows) {
    if (p.copiesQuery) copyQuery(row, rows);
    int64_t whole = rows / p.stepRows * p.stepRows;
    k.loop(k.index(0), k.index(whole), p.stepRows, [&](Value first) { emitStep(row, first, p.stepRows); });
    if (whole < rows) emitStep(row, k.index(whole), rows - whole);
  }

  // Rows [row + first, + rows): `row` is the tile's first.
  void emitStep(Value row, Value first, int64_t rows) {
    ContractionLoop loop;
    loop.elementType = p.elementType;
    if (p.copiesQuery) {
      loop.left = queryRows;
      loop.leftBase = k.mul(first, queryStride());
      loop.leftRowStride = queryStride();
    } else {
      loop.left = bufferOf(p.query);
      loop.leftBase = k.add(baseOf(p.query), k.mul(k.add(row, first), p.query.rowStride));
      loop.leftRowStride = p.query.rowStride;
      loop.leftStep = p.query.columnStride;
    }
    loop.right = keyPanels;
    loop.rightBase = k.index(0);
    loop.count = k.index(p.depth);
    LoopNest::Columns columns = seenBy(k.add(row, first), rows);
    product(
        loop, rows, p.keys, /*panels=*/true, p.depth,
        [&](Value i, Value j, Value value, Value) {
          k.store(value, scores, k.add(k.mul(i, p.scoreStride), j), p.elementType);
        },
        columns);

    LoopEvaluator::Rows lines{scores, k.index(0), p.scoreStride};
    Value position = k.add(k.mul(k.linearize(matrix, p.batch), p.rows), k.add(row, first));
    nest.emitRows(position, rows, p.attention.scores.getResult(), lines, lines, columns);

    loop = {};
    loop.elementType = elementOf(p.attention.output.getResult());
    loop.left = scores;
    loop.leftBase = k.index(0);
    loop.leftRowStride = p.scoreStride;
    loop.right = p.packsValues ? valuePanels : bufferOf(p.value);
    loop.rightBase = p.packsValues ? k.index(0) : baseOf(p.value);
    if (!p.packsValues) loop.rightStep = p.value.rowStride;
    loop.count = k.index(p.keys);
    loop.firstStep = columns.begin;
    if (columns.end) loop.endStep = k.min(columns.end, k.index(p.keys));
    Value target = k.flat(k.resultBuffer(0)), base = k.index(0);
    for (auto [index, stride] : llvm::zip_equal(matrix, ArrayRef(p.resultStrides).drop_back(2)))
      base = k.add(base, k.mul(index, stride));
    int64_t rowStride = p.resultStrides.end()[-2];
    product(loop, rows, p.columns, p.packsValues, p.keys, [&](Value i, Value j, Value value, Value mask) {
      Value at = k.add(k.add(base, k.mul(k.add(k.add(row, first), i), rowStride)), j);
      k.store(value, target, at, p.elementType, mask);
    });
  }

  // The columns below `end`, a constant, or of these those that are seen.
  void forColumns(LoopNest::Columns seen, int64_t end, int64_t step, llvm::function_ref<void(Value column)> body) {
    k.loop(seen.begin ? seen.begin : k.index(0), seen.end ? k.min(seen.end, k.index(end)) : k.index(end), step, body);
  }

  // Whole panels of the keys that some of these rows of the matrix see; null where all are computed.
  LoopNest::Columns seenBy(Value firstRow, int64_t rows) {
    if (!p.band) return {};
    LoopNest::Columns seen{k.index(0), k.index(p.keys)};
    auto panelAt = [&](Value column) { return k.mul(k.div(column, kPanelWidth), kPanelWidth); };
    if (p.band->lower < p.rows) seen.begin = panelAt(k.max(k.add(firstRow, -p.band->lower), k.index(0)));
    if (p.band->upper < p.keys) {
      Value end = k.add(firstRow, rows + p.band->upper); // not below 1
      seen.end = panelAt(k.add(k.min(end, seen.end), kPanelWidth - 1));
    }
    return seen;
  }

  using Store = llvm::function_ref<void(Value row, Value column, Value value, Value mask)>;

  // rows x columns of a product by register tiles; gives each vector of results to `store`. Whole panels that are not
  // seen are left out.
  void product(const ContractionLoop &loop, int64_t rows, int64_t columns, bool panels, int64_t depth, Store store,
               LoopNest::Columns seen = {}) {
    int64_t vectors = llvm::divideCeil(columns, kLanes), first = 0;
    int64_t step = std::min(chooseTileVectors(k.target, loop.elementType, rows), vectors);
    if ((seen.end && columns >= kPanelWidth) || columns > kSpelledOut) {
      constexpr int64_t kVectors = kPanelWidth / kLanes; // of a panel
      if (seen.end) step = std::min(step, kVectors);
      int64_t atOnce = std::max(step, kVectors);
      first = columns / kLanes / atOnce * atOnce;
      forColumns(seen, first * kLanes, atOnce * kLanes, [&](Value column) {
        ContractionLoop part = loop;
        part.rightBase = k.add(loop.rightBase, k.mul(column, panels ? depth : 1));
        for (int64_t v = 0; v < atOnce; v += step)
          columnTiles(part, rows, v, step, atOnce * kLanes, panels, depth,
                      [&](Value i, Value j, Value value, Value mask) { store(i, k.add(column, j), value, mask); });
      });
    }
    for (int64_t v = first; v < vectors; v += step)
      columnTiles(loop, rows, v, std::min(step, vectors - v), columns, panels, depth, store);
  }

  // Vectors [v, v + count) of such columns.
  void columnTiles(const ContractionLoop &loop, int64_t rows, int64_t v, int64_t count, int64_t columns, bool panels,
                   int64_t depth, Store store) {
    int64_t most = maxTileRows(k.target, loop.elementType, count, loop.leftStep == 1 ? loop.leftRowStride : 0);
    forRowTiles(k, k.index(0), splitRows(rows, most), [&](Value first, int64_t tileRows) {
      ContractionLoop tile = loop;
      tile.leftBase = k.add(loop.leftBase, k.mul(first, loop.leftRowStride));
      SmallVector<Value> masks;
      for (int64_t j = v; j < v + count; ++j) {
        int64_t valid = columns - j * kLanes;
        masks.push_back(valid < kLanes ? k.mask(valid) : Value());
        tile.rightOffsets.push_back(panels ? j / 2 * depth * kPanelWidth + j % 2 * kLanes : j * kLanes);
      }
      if (!panels) tile.rightMasks = masks;
      SmallVector<Value> sums = emitContraction(k, tile, zeroTile(k, loop.elementType, tileRows, count));
      for (int64_t i = 0; i < tileRows; ++i)
        for (int64_t j = 0; j < count; ++j)
          store(k.add(first, i), k.index((v + j) * kLanes), k.round(sums[i * count + j], loop.elementType), masks[j]);
    });
  }

  KernelBuilder &k;
  Plan &p;
  LoopNest nest;
  Value keyPanels, valuePanels, queryRows, scores;
  SmallVector<Value> matrix; // of the batch, of the tile
};

struct AttentionEmitter : KernelEmitter {
  StringRef name() const override { return "attention"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Plan p = *analyze(dispatch);
    KernelPlan plan;
    plan.tiles = p.tiles();
    plan.scratchBytes = static_cast<int64_t>(llvm::alignTo(p.group->scratchBytes, 64));
    if (plan.tiles) plan.ranges = p.tileRanges(dispatch);
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    Plan p = *analyze(dispatch);
    if (p.tiles()) AttentionKernel(k, p).emit();
    return success();
  }

private:
  static std::optional<Plan> analyze(kernel::DispatchOp dispatch) {
    std::optional<AttentionForm> form = AttentionForm::in(dispatch);
    if (!form) return std::nullopt;
    Plan plan(dispatch, std::move(*form));
    return plan.group ? std::optional(std::move(plan)) : std::nullopt;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createAttentionEmitter() { return std::make_unique<AttentionEmitter>(); }
