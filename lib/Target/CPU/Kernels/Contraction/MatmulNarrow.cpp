// kernel.matmul_narrow and kernel.matmul_narrow_dot with an epilogue. The latter: a group's sums of products of bytes
// in integers, their scales by multiply-adds.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// Codes are the unsigned side of dot products, the left one; what zero points take off is the sum of a group's
/// factors times them.
class NarrowDotPanels : public CodedPanels {
public:
  NarrowDotPanels(KernelBuilder &k, kernel::MatmulNarrowDotOp op)
      : CodedPanels(k, {op.getLhs().getType().getShape().back(), 4}), group(op.getGroup()),
        groups(op.getScales().getType().getDimSize(1)), zero(op.getZero()) {
    leftScales = k.flatOperand(op.getLhsScales());
    codes = k.flatOperand(op.getCodes());
    scales = k.flatOperand(op.getScales());
    if (op.getZeros()) zeros = k.flatOperand(op.getZeros());
  }

  /// Sums of a group and of all groups, beside the codes of both halves of words and what scales them.
  int64_t tileRows(int64_t) const override { return k.target.vectorRegisters / 8; }

  SmallVector<Value> contract(Value left, Value leftBase, int64_t rows, const Columns &columns) const override {
    Value firstRow = k.div(leftBase, std::max<int64_t>(places.depth, 1));
    SmallVector<Value> totals = zeroTile(k, k.b.getF32Type(), rows, columns.lanes);
    return k.loop(k.index(0), k.index(groups), 1, totals, [&](Value index, ValueRange carried) {
      Value base = k.add(leftBase, k.mul(index, group));
      SmallVector<Value> sums = sumsOf(left, base, rows, columns, index), results;
      for (auto [j, lanes] : llvm::enumerate(columns.lanes)) {
        Value at = placeOf(columns, unsigned(j), index, groups);
        Value scale = k.loadVector(scales, at, k.b.getF32Type(), Value(), lanes);
        Value points = zeros ? pointsAt(zeros, at, lanes) : Value();
        for (int64_t i = 0; i < rows; ++i) {
          Value *row = &sums[size_t(i) * (columns.lanes.size() + 1)];
          Value off = firstLanes(k, row[columns.lanes.size()], lanes);
          if (points) off = arith::MulIOp::create(k.b, k.loc, points, off);
          Value sum = arith::SubIOp::create(k.b, k.loc, row[j], off);
          auto floats = VectorType::get({lanes}, k.b.getF32Type());
          Value leftScale = k.load(leftScales, k.add(k.mul(k.add(firstRow, i), groups), index), k.b.getF32Type());
          Value factor = arith::MulFOp::create(k.b, k.loc, k.splat(leftScale, lanes), scale);
          row[j] = k.multiplyAdd(arith::SIToFPOp::create(k.b, k.loc, floats, sum), factor,
                                 carried[size_t(i) * columns.lanes.size() + j]);
        }
      }
      for (int64_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns.lanes.size(); ++j)
          results.push_back(sums[size_t(i) * (columns.lanes.size() + 1) + j]);
      return results;
    });
  }

private:
  /// Of each row the sums of a group for the columns, and behind them that of its factors, times a zero point that is
  /// one for all.
  SmallVector<Value> sumsOf(Value left, Value base, int64_t rows, const Columns &columns, Value index) const {
    SmallVector<int64_t> lanes(columns.lanes);
    lanes.push_back(lanes.front()); // no other vector has more
    SmallVector<Value> zeroSums = zeroTile(k, k.b.getI32Type(), rows, lanes);
    const int64_t words = group / places.wordRows(), rest = group % places.wordRows();
    Value firstWord = k.mul(index, words);
    auto step = [&](Value word, int64_t valid, ValueRange carried) {
      SmallVector<std::pair<DotProduct::Side, DotProduct::Side>> sides;
      for (unsigned j = 0; j < columns.lanes.size(); ++j) sides.push_back(codesOf(columns, j, k.add(firstWord, word)));
      DotProduct::Side off = dot().left(k.constant(k.b.getI32Type(), (zeros ? 1 : zero) * 0x01010101, lanes.back()));
      SmallVector<Value> sums(carried);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t part = 0; part * 4 < valid; ++part) {
          Value at = k.add(k.add(base, k.mul(word, places.wordRows())), i * places.depth + part * 4);
          Value factors = dot().word(left, at, std::min<int64_t>(valid - part * 4, 4));
          Value *row = &sums[size_t(i) * lanes.size()];
          for (auto [j, count] : llvm::enumerate(columns.lanes))
            row[j] = dot().accumulate(part ? sides[j].second : sides[j].first, signedSide(factors, count), row[j]);
          row[columns.lanes.size()] =
              dot().accumulate(off, signedSide(factors, lanes.back()), row[columns.lanes.size()]);
        }
      return sums;
    };
    SmallVector<Value> sums = k.loop(k.index(0), k.index(words), 1, zeroSums, [&](Value word, ValueRange carried) {
      return step(word, places.wordRows(), carried);
    });
    return rest ? step(k.index(words), rest, sums) : sums;
  }

  DotProduct dot() const { return DotProduct(k, /*factors=*/4); }
  DotProduct::Side signedSide(Value word, int64_t lanes) const {
    auto bytes = VectorType::get({lanes * 4}, k.b.getI8Type());
    return dot().right(vector::BitCastOp::create(k.b, k.loc, bytes, k.splat(word, lanes)), lanes);
  }
  std::pair<DotProduct::Side, DotProduct::Side> codesOf(const Columns &columns, unsigned vector, Value word) const {
    auto [low, high] = nibblesOf(wordsOf(columns, vector, word));
    return {dot().left(low), dot().left(high)};
  }

  int64_t group, groups, zero;
  Value leftScales, scales, zeros; // 1-d; no zeros: `zero`
};

PackedGemm gemmOf(kernel::MatmulNarrowOp op) { return {.interleave = 1, .bits = int64_t(op.getBits())}; }
PackedGemm gemmOf(kernel::MatmulNarrowDotOp) { return {.interleave = 1, .bits = 4, .mayUnpack = false}; }

template <typename OpT, typename PanelsT> struct NarrowEmitter : ContractionEmitter<OpT> {
  KernelPlan planOf(OpT op, const Epilogue &epilogue) const override { return gemm(op).plan(epilogue); }

  void emitOp(KernelBuilder &kernel, OpT op, Epilogue &epilogue) const override {
    gemm(op).emit(kernel, epilogue, kernel.operandBuffer(op.getLhs()), PanelsT(kernel, op),
                  epilogue.rootType.getElementType());
  }

private:
  static PackedGemm gemm(OpT op) {
    ArrayRef<int64_t> left = op.getLhs().getType().getShape();
    PackedGemm gemm = gemmOf(op);
    gemm.rows = llvm::product_of(left.drop_back());
    gemm.columns = int64_t(op.getColumns()), gemm.depth = left.back();
    return gemm;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createMatmulNarrowEmitter() {
  return std::make_unique<NarrowEmitter<kernel::MatmulNarrowOp, NarrowPanels>>();
}

std::unique_ptr<KernelEmitter> sprig::cpu::createMatmulNarrowDotEmitter() {
  return std::make_unique<NarrowEmitter<kernel::MatmulNarrowDotOp, NarrowDotPanels>>();
}
