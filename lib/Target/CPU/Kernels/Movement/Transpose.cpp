// nn.transpose that moves the innermost dimension: 16x16 blocks, read along one dimension, turned in registers, written
// along the other.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// The permutation without dimensions of size 1, and with neighbours that stay neighbours as one.
struct Permuted {
  SmallVector<int64_t> sizes;   // of the operand
  SmallVector<int64_t> sources; // result dimension i is operand dimension sources[i]

  Permuted(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
    SmallVector<SmallVector<int64_t>> pieces; // result dimensions, as runs of operand dimensions
    for (int64_t source : permutation) {
      if (shape[source] == 1) continue;
      auto follows = [&](int64_t last) {
        for (int64_t d = last + 1; d < source; ++d)
          if (shape[d] != 1) return false;
        return last < source;
      };
      if (!pieces.empty() && follows(pieces.back().back()))
        pieces.back().push_back(source);
      else
        pieces.push_back({source});
    }
    SmallVector<int64_t> order(pieces.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    llvm::sort(order, [&](int64_t a, int64_t b) { return pieces[a][0] < pieces[b][0]; });
    sizes.resize(pieces.size());
    sources.resize(pieces.size());
    for (auto [place, piece] : llvm::enumerate(order)) {
      int64_t size = 1;
      for (int64_t d : pieces[piece]) size *= shape[d];
      sizes[place] = size;
      sources[piece] = place;
    }
  }
  bool movesInner() const { return !sources.empty() && sources.back() != static_cast<int64_t>(sources.size()) - 1; }
};

struct TransposeEmitter : SingleOpEmitter<ir::TransposeOp> {
  bool takes(ir::TransposeOp op) const override {
    return Permuted(shapeOf(op.getOperand()), op.getPermutation()).movesInner();
  }
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::TransposeOp op) const override {
    Permuted p(shapeOf(op.getOperand()), op.getPermutation());
    int64_t rank = p.sizes.size(), rowDim = p.sources.back(), columns = p.sizes.back();
    SmallVector<int64_t> space = outerSizes(p);
    space.push_back(blocks(p.sizes[rowDim]));
    Halves halves(p);
    space.push_back(halves.count);
    KernelPlan plan;
    plan.tiles = columns == 0 ? 0 : 1;
    for (int64_t size : space) plan.tiles *= size;
    if (plan.tiles == 0) return plan;
    SmallVector<int64_t> outer = outerDims(p);
    auto stepsOf = [&](ArrayRef<int64_t> strides) {
      auto extentOf = [&](int64_t rows, int64_t columns) {
        return (rows - 1) * strides[rowDim] + (columns - 1) * strides[rank - 1] + 1;
      };
      int64_t rows = std::min(kLanes, p.sizes[rowDim]);
      SmallVector<TileStep> steps{{kLanes * strides[rowDim], 0, extentOf(rows, columns)},
                                  {halves.columns * strides[rank - 1], 0, extentOf(rows, halves.columns)}};
      int64_t extent = extentOf(p.sizes[rowDim], columns);
      for (int64_t d : llvm::reverse(outer)) {
        steps.insert(steps.begin(), {strides[d], 0, extent});
        extent += (p.sizes[d] - 1) * strides[d];
      }
      return steps;
    };
    auto [from, to] = strides(p);
    TileRanges ranges(dispatch, space);
    ranges.operands([&](OpOperand &) { return stepsOf(from); });
    ranges.result(0, stepsOf(to));
    plan.ranges = ranges.take();
    return plan;
  }
  void emitOp(KernelBuilder &k, ir::TransposeOp op) const override {
    Permuted p(shapeOf(op.getOperand()), op.getPermutation());
    int64_t rank = p.sizes.size(), rowDim = p.sources.back(), rows = p.sizes[rowDim], columns = p.sizes.back();
    auto [from, to] = strides(p);
    Block16 block{k,
                  k.flatOperand(op.getOperand()),
                  k.flat(k.resultBuffer(0)),
                  VectorType::get({kLanes}, storageType(elementOf(op.getResult()))),
                  from[rowDim],
                  to[rank - 1]};
    int64_t rowBlocks = blocks(rows);
    Halves halves(p);
    k.forTiles([&](Value tile) {
      Value fromBase = k.index(0), toBase = k.index(0), half = k.rem(tile, halves.count);
      Value tileOfRows = k.div(tile, halves.count), rowBlock = k.rem(tileOfRows, rowBlocks);
      for (auto [d, i] : llvm::zip_equal(outerDims(p), k.delinearize(k.div(tileOfRows, rowBlocks), outerSizes(p)))) {
        fromBase = k.add(fromBase, k.mul(i, from[d]));
        toBase = k.add(toBase, k.mul(i, to[d]));
      }
      Value row = k.mul(rowBlock, kLanes), firstColumn = k.mul(half, halves.columns);
      fromBase = k.add(fromBase, k.add(k.mul(row, from[rowDim]), firstColumn));
      toBase = k.add(toBase, k.add(row, k.mul(firstColumn, block.toStride)));
      k.ifLast(rowBlock, rowBlocks, rows % kLanes != 0, [&](bool lastRows) {
        k.ifLast(half, halves.count, columns % halves.columns != 0, [&](bool lastHalf) {
          int64_t rowCount = lastRows ? rows - (rowBlocks - 1) * kLanes : kLanes;
          int64_t count = lastHalf ? columns - (halves.count - 1) * halves.columns : halves.columns;
          int64_t whole = count / kLanes * kLanes;
          k.loop(k.index(0), k.index(whole), kLanes, [&](Value column) {
            block.emit(k.add(fromBase, column), k.add(toBase, k.mul(column, block.toStride)), rowCount, kLanes);
          });
          if (whole < count)
            block.emit(k.add(fromBase, whole), k.add(toBase, whole * block.toStride), rowCount, count - whole);
        });
      });
    });
  }

private:
  /// Columns are cut in two where there would be one tile of some size (an image of few channels).
  struct Halves {
    int64_t count = 1, columns;
    explicit Halves(const Permuted &p) : columns(p.sizes.back()) {
      int64_t rows = p.sizes[p.sources.back()], all = 1;
      for (int64_t size : p.sizes) all *= size;
      if (all != rows * columns || blocks(rows) != 1 || all < kHalvedElements || columns < 2 * kLanes) return;
      columns = llvm::alignTo(llvm::divideCeil(columns, 2), kLanes);
      count = 2;
    }
  };

  static int64_t blocks(int64_t size) { return (size + kLanes - 1) / kLanes; }
  /// The dimensions of the operand that no block runs over, in the result's order.
  static SmallVector<int64_t> outerDims(const Permuted &p) {
    SmallVector<int64_t> dims;
    for (int64_t source : p.sources)
      if (source != p.sources.back() && source != static_cast<int64_t>(p.sizes.size()) - 1) dims.push_back(source);
    return dims;
  }
  static SmallVector<int64_t> outerSizes(const Permuted &p) {
    return llvm::map_to_vector(outerDims(p), [&](int64_t d) { return p.sizes[d]; });
  }
  /// Strides of the operand's dimensions in operand and result.
  static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> strides(const Permuted &p) {
    int64_t rank = p.sizes.size();
    SmallVector<int64_t> from(rank, 1), to(rank, 1);
    for (int64_t d = rank - 2; d >= 0; --d) from[d] = from[d + 1] * p.sizes[d + 1];
    for (int64_t i = rank - 2; i >= 0; --i) to[p.sources[i]] = to[p.sources[i + 1]] * p.sizes[p.sources[i + 1]];
    return {from, to};
  }

  struct Block16 {
    KernelBuilder &k;
    Value from, to;
    VectorType type;
    int64_t fromStride, toStride;

    // A few lines whose columns lie one after the other, as pixels of an image do: whole vectors, each from the first
    // line, into which the others are put one by one.
    void storeDense(ArrayRef<Value> lines, Value toBase) {
      auto rows = static_cast<int64_t>(lines.size());
      for (int64_t part = 0; part < rows; ++part) {
        Value made = lines[0];
        for (int64_t row = 1; row < rows; ++row) {
          SmallVector<int64_t> mask;
          for (int64_t lane = 0; lane < kLanes; ++lane) {
            int64_t at = part * kLanes + lane, column = at / rows, from = at % rows;
            mask.push_back(from == row ? kLanes + column : row > 1 ? lane : from == 0 ? column : 0);
          }
          made = vector::ShuffleOp::create(k.b, k.loc, made, lines[row], mask);
        }
        vector::StoreOp::create(k.b, k.loc, made, to, k.add(toBase, part * kLanes));
      }
    }

    // Reads `rowCount` rows of `columnCount` elements and writes them as columns.
    void emit(Value fromBase, Value toBase, int64_t rowCount, int64_t columnCount) {
      constexpr int64_t kFewRows = 4;
      SmallVector<Value> lines;
      Value readMask = columnCount < kLanes ? k.mask(columnCount) : Value();
      Value writeMask = rowCount < kLanes ? k.mask(rowCount) : Value();
      Value zero = k.zero(type.getElementType(), kLanes);
      for (int64_t i = 0; i < kLanes; ++i) {
        if (i >= rowCount) {
          lines.push_back(zero);
          continue;
        }
        Value offset = k.add(fromBase, i * fromStride);
        lines.push_back(readMask ? Value(vector::MaskedLoadOp::create(k.b, k.loc, type, from, offset, readMask, zero))
                                 : Value(vector::LoadOp::create(k.b, k.loc, type, from, offset)));
      }
      if (rowCount <= kFewRows && toStride == rowCount && !readMask)
        return storeDense(ArrayRef(lines).take_front(rowCount), toBase);
      turnLines(k, lines);
      for (int64_t i = 0; i < columnCount; ++i) {
        Value offset = k.add(toBase, i * toStride);
        if (writeMask)
          vector::MaskedStoreOp::create(k.b, k.loc, to, offset, writeMask, lines[i]);
        else
          vector::StoreOp::create(k.b, k.loc, lines[i], to, offset);
      }
    }
  };
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createTransposeEmitter() { return std::make_unique<TransposeEmitter>(); }
