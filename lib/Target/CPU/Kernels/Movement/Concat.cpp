// nn.concat: rows of each operand copied to their place. Tiles belong to one operand each.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;

namespace {
/// The part of one operand: `outer` rows of `row` elements, in tiles of either some rows or a piece of one.
struct Part {
  int64_t outer, row, offset; // offset within a row of the result
  int64_t rowTiles, rowsPerTile, chunk;
  int64_t firstTile, tiles;
};

class ConcatEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "concat"; }
  bool matches(kernel::DispatchOp dispatch) const override { return singleOp<ir::ConcatOp>(dispatch) != nullptr; }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::ConcatOp>(dispatch);
    SmallVector<Part> parts = partsOf(op);
    return {parts.empty() ? 0 : parts.back().firstTile + parts.back().tiles};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto op = singleOp<ir::ConcatOp>(dispatch);
    AxisView result(shapeOf(op.getResult()), op.getAxis());
    int64_t resultRow = result.length * result.inner;
    Value to = k.flat(k.resultBuffer(0));
    for (auto [operand, part] : llvm::zip_equal(op.getOperands(), partsOf(op))) {
      if (part.tiles == 0) continue;
      Value from = flatOperand(k, operand), first = k.index(part.firstTile);
      Value begin = k.max(k.tileBegin(), first), end = k.min(k.tileEnd(), k.index(part.firstTile + part.tiles));
      k.loop(begin, end, 1, [&, part = part](Value tile) {
        Value local = k.sub(tile, first);
        Value piece = k.rem(local, part.rowTiles), column = k.mul(piece, part.chunk);
        Value firstRow = k.mul(k.div(local, part.rowTiles), part.rowsPerTile);
        Value lastRow = k.min(k.add(firstRow, part.rowsPerTile), k.index(part.outer));
        k.loop(firstRow, lastRow, 1, [&](Value row) {
          Value source = k.add(k.mul(row, part.row), column);
          Value target = k.add(k.add(k.mul(row, resultRow), part.offset), column);
          k.ifLast(piece, part.rowTiles, part.row % part.chunk != 0, [&](bool last) {
            copyRow(k, from, source, to, target, last ? part.row - (part.rowTiles - 1) * part.chunk : part.chunk);
          });
        });
      });
    }
    return success();
  }

private:
  static SmallVector<Part> partsOf(ir::ConcatOp op) {
    constexpr int64_t kTile = 8192; // elements
    SmallVector<Part> parts;
    int64_t offset = 0, tile = 0;
    for (Value operand : op.getOperands()) {
      AxisView view(shapeOf(operand), op.getAxis());
      Part part{view.outer, view.length * view.inner, offset, 1, 1, 1, tile, 0};
      if (part.outer > 0 && part.row > 0) {
        part.chunk = std::min(part.row, kTile);
        part.rowTiles = (part.row + part.chunk - 1) / part.chunk;
        part.rowsPerTile = part.rowTiles > 1 ? 1 : std::max<int64_t>(1, kTile / part.row);
        part.tiles = part.rowTiles * ((part.outer + part.rowsPerTile - 1) / part.rowsPerTile);
      }
      offset += part.row;
      tile += part.tiles;
      parts.push_back(part);
    }
    return parts;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createConcatEmitter() { return std::make_unique<ConcatEmitter>(); }
