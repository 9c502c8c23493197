// nn.matmul of two computed operands, with an epilogue: the right side is read by rows where that is fast, else each
// tile packs its panels into scratch memory first. The chain of multiply-adds is the same either way.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/Kernels/BatchedProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// A product and its cut into tiles of some rows and some panels of one matrix, by its shape alone.
struct Product : BatchedProduct {
  Type elementType;
  bool packs;
  int64_t groupPanels, groups, blockRows, blocks;

  explicit Product(ir::MatmulOp op) : BatchedProduct(op), elementType(elementOf(op.getResult())) {
    // The right side is read by rows where it lies, but where they lie so that they push each other out of the cache,
    // or reach over so much memory that a copy of some columns, for many rows of the left side, is cheaper to read.
    constexpr int64_t kFar = 4 * 1024 * 1024, kSetBytes = 4096;
    int64_t stride = columns * storageBytes(elementType);
    bool collide = stride % kSetBytes == 0 && (rows > 64 || depth > 512), far = depth > 1024 && depth * stride > kFar;
    packs = transposedRight || (rows > 32 && (collide || far));
    int64_t panels = llvm::divideCeil(columns, kPanelWidth);
    groupPanels = std::clamp<int64_t>(rows <= 2 ? 4 : rows <= 4 ? 2 : 1, 1, std::max<int64_t>(panels, 1));
    groups = llvm::divideCeil(panels, groupPanels);
    int64_t perRow = std::max<int64_t>(2 * depth * groupPanels * kPanelWidth, 1);
    blockRows = std::clamp<int64_t>(1500000 / perRow, packs ? 128 : 28, 512);
    blockRows = rows <= blockRows * 3 / 2 ? std::max<int64_t>(rows, 1) : blockRows;
    blocks = llvm::divideCeil(rows, blockRows);
  }

  int64_t tiles() const { return rows == 0 || columns == 0 ? 0 : matrices() * groups * blocks; }
  int64_t panelSize() const { return depth * kPanelWidth; }
  int64_t groupColumns() const { return std::min(groupPanels * kPanelWidth, columns); }

  SmallVector<int64_t> space() const {
    SmallVector<int64_t> sizes(batch);
    sizes.append({groups, blocks});
    return sizes;
  }
  SmallVector<TileStep> leftSteps() const {
    int64_t size = rows * depth;
    return steps(leftStrides, size,
                 {{0, 0, size},
                  {blockRows * (transposedLeft ? 1 : depth), 0,
                   transposedLeft ? (depth - 1) * rows + blockRows : blockRows * depth}});
  }
  SmallVector<TileStep> rightSteps() const {
    int64_t extent = transposedRight ? groupColumns() * depth : (depth - 1) * columns + groupColumns();
    return steps(rightStrides, depth * columns,
                 {{groupColumns() * (transposedRight ? depth : 1), 0, extent}, {0, 0, extent}});
  }
  SmallVector<TileStep> resultSteps() const {
    SmallVector<int64_t> strides(batch.size());
    int64_t stride = rows * columns;
    for (size_t d = batch.size(); d-- > 0; stride *= batch[d]) strides[d] = stride;
    return steps(strides, rows * columns,
                 {{groupColumns(), 0, (rows - 1) * columns + groupColumns()},
                  {blockRows * columns, 0, (blockRows - 1) * columns + groupColumns()}});
  }
  int64_t scratchBytes() const {
    return packs && tiles() ? llvm::alignTo(groupPanels * panelSize() * storageBytes(elementType), 64) : 0;
  }

private:
  /// Of matrices of `size` elements: along the batch, then as within one matrix.
  SmallVector<TileStep> steps(ArrayRef<int64_t> strides, int64_t size, SmallVector<TileStep> matrix) const {
    SmallVector<TileStep> all(batch.size());
    int64_t extent = size;
    for (size_t d = batch.size(); d-- > 0; extent += (batch[d] - 1) * strides[d]) all[d] = {strides[d], 0, extent};
    all.append(matrix);
    return all;
  }
};

class ProductKernel {
public:
  ProductKernel(KernelBuilder &kernel, const Product &product, const Epilogue &epilogue, Value left, Value right)
      : k(kernel), p(product), epilogue(epilogue), left(k.flat(left)), right(k.flat(right)) {}

  void emit() {
    if (p.packs)
      panels = k.scratchBuffer(0, MemRefType::get({p.groupPanels * p.panelSize()}, storageType(p.elementType)));
    int64_t groupColumns = p.groupPanels * kPanelWidth;
    int64_t lastColumns = p.columns - (p.groups - 1) * groupColumns, lastRows = p.rows - (p.blocks - 1) * p.blockRows;
    SmallVector<int64_t> space = p.space();
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, space);
      Value group = at.end()[-2], block = at.back();
      ArrayRef<Value> matrix = ArrayRef<Value>(at).drop_back(2);
      leftBase = offset(matrix, p.leftStrides);
      rightBase = offset(matrix, p.rightStrides);
      firstRow = k.mul(k.linearize(matrix, p.batch), p.rows);
      firstColumn = k.mul(group, groupColumns);
      Value row = k.mul(block, p.blockRows);
      k.ifLast(group, p.groups, lastColumns != groupColumns, [&](bool lastGroup) {
        int64_t tileColumns = lastGroup ? lastColumns : groupColumns;
        if (p.packs) pack(tileColumns);
        k.ifLast(block, p.blocks, lastRows != p.blockRows,
                 [&](bool lastBlock) { emitBlock(row, lastBlock ? lastRows : p.blockRows, tileColumns); });
      });
    });
  }

private:
  Value offset(ArrayRef<Value> indices, ArrayRef<int64_t> strides) {
    Value sum = k.index(0);
    for (auto [index, stride] : llvm::zip_equal(indices, strides))
      if (stride) sum = k.add(sum, k.mul(index, stride));
    return sum;
  }
  int64_t depthStride() const { return p.transposedRight ? 1 : p.columns; }
  int64_t columnStride() const { return p.transposedRight ? p.depth : 1; }

  void pack(int64_t columns) {
    Value base = k.add(rightBase, k.mul(firstColumn, columnStride()));
    for (int64_t first = 0; first < columns; first += kPanelWidth)
      emitPanel(k, {right, k.add(base, first * columnStride()), p.depth, depthStride(), columnStride()},
                std::min(kPanelWidth, columns - first), p.elementType, panels,
                k.index(first / kPanelWidth * p.panelSize()), PanelEnd::open);
  }

  void emitBlock(Value row, int64_t rows, int64_t columns) {
    int64_t vectors = llvm::divideCeil(columns, kLanes);
    int64_t step = std::min(chooseTileVectors(k.target, p.elementType, rows), vectors);
    for (int64_t j = 0; j < vectors; j += step) {
      int64_t count = std::min(step, vectors - j);
      forRowTiles(k, row, splitRows(rows, maxTileRows(k.target, p.elementType, count, p.transposedLeft ? 1 : p.depth)),
                  [&](Value first, int64_t tileRows) { emitTile(first, tileRows, j, count, columns); });
    }
  }

  void emitTile(Value first, int64_t rows, int64_t firstVector, int64_t vectors, int64_t columns) {
    ContractionLoop loop;
    loop.left = left;
    loop.leftRowStride = p.transposedLeft ? 1 : p.depth;
    loop.leftStep = p.transposedLeft ? p.rows : 1;
    loop.leftBase = k.add(leftBase, k.mul(first, loop.leftRowStride));
    loop.elementType = p.elementType;
    loop.count = k.index(p.depth);
    SmallVector<int64_t> lanes = vectorLanes(std::min(columns - firstVector * kLanes, vectors * kLanes));
    SmallVector<Value> columnValues, masks;
    Value row = k.add(firstRow, first);
    for (int64_t j = 0; j < vectors; ++j) {
      int64_t vector = firstVector + j;
      columnValues.push_back(k.add(firstColumn, vector * kLanes));
      masks.push_back(laneMask(k, columns - vector * kLanes, lanes[j]));
      loop.rightOffsets.push_back(p.packs ? vector / 2 * p.panelSize() + vector % 2 * kLanes : vector * kLanes);
    }
    if (p.packs) {
      loop.right = panels;
      loop.rightBase = k.index(0);
    } else {
      loop.right = right;
      loop.rightBase = k.add(rightBase, firstColumn);
      loop.rightStep = p.columns;
      loop.rightMasks = masks;
    }
    loop.fetch =
        epilogue.fetch(k, row, columnValues.front(), std::min(vectors * kLanes, columns - firstVector * kLanes));
    SmallVector<Value> accumulators = emitContraction(k, loop, zeroTile(k, p.elementType, rows, lanes));
    epilogue.storeRows(k, accumulators, row, columnValues, masks, p.scratchBytes());
  }

  KernelBuilder &k;
  const Product &p;
  const Epilogue &epilogue;
  Value left, right, panels;
  Value leftBase, rightBase, firstRow, firstColumn; // of the tile
};

struct MatmulEmitter : ContractionEmitter<ir::MatmulOp> {
  KernelPlan planOf(ir::MatmulOp op, const Epilogue &epilogue) const override {
    Product product(op);
    KernelPlan plan;
    plan.tiles = product.tiles();
    plan.scratchBytes = product.scratchBytes() + epilogue.stageBytes();
    if (plan.tiles)
      plan.ranges = epilogue.tileRanges(product.space(), product.resultSteps(), [&](unsigned operand) {
        return operand == 0 ? product.leftSteps() : product.rightSteps();
      });
    return plan;
  }

  void emitOp(KernelBuilder &k, ir::MatmulOp op, Epilogue &epilogue) const override {
    Product product(op);
    if (product.tiles())
      ProductKernel(k, product, epilogue, k.operandBuffer(op.getLhs()), k.operandBuffer(op.getRhs())).emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createMatmulEmitter() { return std::make_unique<MatmulEmitter>(); }
