// nn.concat: rows of each operand copied to their offset in the result. A tile belongs to one operand. Few operands
// have a loop each; many share loops that find them in the kernel's list of buffers (ListedConcat).
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// The part of one operand: `outer` rows of `row` elements, in tiles of either some rows or a piece of one.
struct Part {
  int64_t outer, row, offset; // offset within a row of the result
  int64_t rowTiles, rowsPerTile, chunk;
  int64_t firstTile, tiles;

  static constexpr int64_t kTile = 8192; // elements
};

SmallVector<Part> partsOf(ir::ConcatOp op) {
  SmallVector<Part> parts;
  int64_t offset = 0, tile = 0;
  for (Value operand : op.getOperands()) {
    AxisView view(shapeOf(operand), op.getAxis());
    Part part{view.outer, view.length * view.inner, offset, 1, 1, 1, tile, 0};
    if (part.outer > 0 && part.row > 0) {
      part.chunk = std::min(part.row, Part::kTile);
      part.rowTiles = (part.row + part.chunk - 1) / part.chunk;
      part.rowsPerTile = part.rowTiles > 1 ? 1 : std::max<int64_t>(1, Part::kTile / part.row);
      part.tiles = part.rowTiles * ((part.outer + part.rowsPerTile - 1) / part.rowsPerTile);
    }
    offset += part.row;
    tile += part.tiles;
    parts.push_back(part);
  }
  return parts;
}

/// A concatenation whose operands are read off the list of buffers, so that code does not grow with their number.
/// Neighbours of one size are a run, which is a loop. If there are more than kMostRuns runs, a table holds the sizes.
class ListedConcat {
public:
  ListedConcat(ir::ConcatOp op, KernelBuilder &kernel)
      : k(kernel), parts(partsOf(op)), pointer(LLVM::LLVMPointerType::get(k.b.getContext())),
        elementBytes(storageBytes(elementOf(op.getResult()))) {
    AxisView result(shapeOf(op.getResult()), op.getAxis());
    resultRow = result.length * result.inner;
    outer = result.outer;
    for (Value operand : op.getOperands()) numbers.push_back(cast<BlockArgument>(operand).getArgNumber());
    to = buffer(k.index(k.dispatch->getNumOperands()));
  }

  void emit() {
    SmallVector<Run> runs = findRuns();
    constexpr size_t kMostRuns = 16;
    if (runs.size() > kMostRuns) return emitByTable();
    for (const Run &run : runs) {
      const Part &part = parts[run.first];
      Value firstTile = k.index(part.firstTile), endTile = k.index(part.firstTile + part.tiles * run.count);
      k.loop(k.max(k.tileBegin(), firstTile), k.min(k.tileEnd(), endTile), 1, [&](Value tile) {
        Value local = k.sub(tile, firstTile), which = k.div(local, part.tiles);
        Value from = buffer(k.add(k.mul(which, run.step), numbers[run.first]));
        copyTile(from, k.rem(local, part.tiles), k.index(part.row), k.add(k.mul(which, part.row), part.offset));
      });
    }
  }

private:
  /// Operands of one size whose buffers follow one another in the list, or are one buffer.
  struct Run {
    size_t first;
    int64_t count, step; // of the buffers' numbers
  };

  SmallVector<Run> findRuns() const {
    SmallVector<Run> runs;
    for (size_t i = 0; i < parts.size(); ++i) {
      Run *run = runs.empty() || runs.back().first + runs.back().count < i ? nullptr : &runs.back();
      if (run && parts[i].row == parts[i - 1].row) {
        int64_t step = numbers[i] - numbers[i - 1];
        if (run->count == 1 && (step == 0 || step == 1)) run->step = step;
        if (step == run->step) {
          ++run->count;
          continue;
        }
      }
      if (parts[i].tiles) runs.push_back({i, 1, -1});
    }
    return runs;
  }

  // The table holds four fields for each operand: its first tile, the size of its row, that row's offset in a row of
  // the result, and its buffer. The number of all tiles ends it.
  static constexpr int64_t kFields = 4;

  void emitByTable() {
    SmallVector<int64_t> content;
    for (auto [part, number] : llvm::zip_equal(parts, numbers))
      content.append({part.firstTile, part.row, part.offset, number});
    content.append({parts.back().firstTile + parts.back().tiles, 0, resultRow, 0});
    Value table = makeTable(content);
    auto at = [&](Value part, int64_t field) -> Value {
      Value number = memref::LoadOp::create(k.b, k.loc, table, k.add(k.mul(part, kFields), field));
      return arith::IndexCastOp::create(k.b, k.loc, k.b.getIndexType(), number);
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
    };
    // Halves [begin, end) until the operand that has the first tile is left.
    auto search = scf::WhileOp::create(
        k.b, k.loc, TypeRange{k.b.getIndexType(), k.b.getIndexType()},
        ValueRange{k.index(0), k.index(int64_t(parts.size()))},
        [&](OpBuilder &, Location loc, ValueRange range) {
          Value isMore = compare(arith::CmpIPredicate::sgt, k.sub(range[1], range[0]), k.index(1));
          scf::ConditionOp::create(k.b, loc, isMore, range);
        },
        [&](OpBuilder &, Location loc, ValueRange range) {
          Value middle = k.div(k.add(range[0], range[1]), 2);
          Value isAfter = compare(arith::CmpIPredicate::sgt, at(middle, 0), k.tileBegin());
          Value begin = arith::SelectOp::create(k.b, loc, isAfter, range[0], middle);
          Value end = arith::SelectOp::create(k.b, loc, isAfter, middle, range[1]);
          scf::YieldOp::create(k.b, loc, ValueRange{begin, end});
        });
    scf::WhileOp::create(
        k.b, k.loc, TypeRange{k.b.getIndexType()}, ValueRange{search.getResult(0)},
        [&](OpBuilder &, Location loc, ValueRange part) {
          Value isBelow = compare(arith::CmpIPredicate::slt, at(part[0], 0), k.tileEnd());
          scf::ConditionOp::create(k.b, loc, isBelow, part);
        },
        [&](OpBuilder &, Location loc, ValueRange part) {
          Value next = k.add(part[0], 1), firstTile = at(part[0], 0), row = at(part[0], 1), offset = at(part[0], 2);
          Value from = buffer(at(part[0], 3));
          k.loop(k.max(k.tileBegin(), firstTile), k.min(k.tileEnd(), at(next, 0)), 1,
                 [&](Value tile) { copyTile(from, k.sub(tile, firstTile), row, offset); });
          scf::YieldOp::create(k.b, loc, next);
        });
  }

  Value makeTable(ArrayRef<int64_t> values) {
    auto type = MemRefType::get({int64_t(values.size())}, k.b.getI64Type());
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPoint(k.function);
    std::string name = (k.function.getSymName() + ".parts").str();
    auto content = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), type.getElementType()), values);
    memref::GlobalOp::create(k.b, k.loc, name, k.b.getStringAttr("private"), type, content, /*constant=*/true,
                             /*alignment=*/IntegerAttr());
    k.b.setInsertionPointToStart(&k.function.getBody().front());
    return memref::GetGlobalOp::create(k.b, k.loc, type, name);
  }

  // Tile `tile` of an operand whose rows have `row` elements, as partsOf cuts it.
  void copyTile(Value from, Value tile, Value row, Value offset) {
    auto quotient = [&](Value a, Value divisor) -> Value {
      if (auto known = getConstantIntValue(OpFoldResult(divisor))) return k.div(a, *known);
      return arith::DivUIOp::create(k.b, k.loc, a, divisor);
    };
    auto product = [&](Value a, Value factor) -> Value {
      if (auto known = getConstantIntValue(OpFoldResult(factor))) return k.mul(a, *known);
      return arith::MulIOp::create(k.b, k.loc, a, factor);
    };
    Value chunk = k.min(row, k.index(Part::kTile)),
          rowTiles = quotient(k.add(row, Part::kTile - 1), k.index(Part::kTile));
    Value rowsPerTile = quotient(k.index(Part::kTile), chunk); // 1 where a row has several tiles
    Value firstRow = product(quotient(tile, rowTiles), rowsPerTile);
    Value column = product(k.sub(tile, product(quotient(tile, rowTiles), rowTiles)), chunk);
    Value count = k.min(chunk, k.sub(row, column));
    k.loop(firstRow, k.min(k.add(firstRow, rowsPerTile), k.index(outer)), 1, [&](Value i) {
      Value source = k.add(product(i, row), column), target = k.add(k.add(k.mul(i, resultRow), offset), column);
      LLVM::MemcpyOp::create(k.b, k.loc, address(to, target), address(from, source), bytes(count),
                             /*isVolatile=*/false);
    });
  }

  Value asInteger(Value index) { return arith::IndexCastOp::create(k.b, k.loc, k.b.getI64Type(), index); }
  Value bytes(Value elements) {
    if (auto known = getConstantIntValue(OpFoldResult(elements)))
      return LLVM::ConstantOp::create(k.b, k.loc, k.b.getI64IntegerAttr(*known * elementBytes));
    return asInteger(k.mul(elements, elementBytes));
  }
  Value address(Value base, Value element) {
    return LLVM::GEPOp::create(k.b, k.loc, pointer, k.b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{asInteger(k.mul(element, elementBytes))});
  }
  Value buffer(Value index) {
    Value place =
        LLVM::GEPOp::create(k.b, k.loc, pointer, pointer, k.bufferList(), ArrayRef<LLVM::GEPArg>{asInteger(index)});
    return LLVM::LoadOp::create(k.b, k.loc, pointer, place);
  }

  KernelBuilder &k;
  SmallVector<Part> parts;
  SmallVector<int64_t> numbers; // of their buffers in the list
  Type pointer;
  int64_t elementBytes, resultRow = 0, outer = 0;
  Value to;
};

struct ConcatEmitter : SingleOpEmitter<ir::ConcatOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::ConcatOp op) const override {
    SmallVector<Part> parts = partsOf(op);
    return {parts.empty() ? 0 : parts.back().firstTile + parts.back().tiles};
  }
  // From some parts on LLVM takes long for a loop each: its time grows with their square.
  bool readsBufferList(kernel::DispatchOp dispatch) const override {
    constexpr size_t kMostLoops = 64;
    return singleOp<ir::ConcatOp>(dispatch).getNumOperands() > kMostLoops;
  }
  void emitOp(KernelBuilder &k, ir::ConcatOp op) const override {
    if (k.hasBufferList()) {
      ListedConcat(op, k).emit();
      return;
    }
    AxisView result(shapeOf(op.getResult()), op.getAxis());
    int64_t resultRow = result.length * result.inner;
    Value to = k.flat(k.resultBuffer(0));
    for (auto [operand, part] : llvm::zip_equal(op.getOperands(), partsOf(op))) {
      if (part.tiles == 0) continue;
      Value from = k.flatOperand(operand), first = k.index(part.firstTile);
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
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConcatEmitter() { return std::make_unique<ConcatEmitter>(); }
