// nn.pad: rows copied into the middle, what lies around them filled or read from where the mode says. A row is the
// innermost padded dimension with all that lies after it.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct PadEmitter : SingleOpEmitter<ir::PadOp> {
  bool takes(ir::PadOp op) const override {
    return innerPadded(op) >= 0 && shapeOf(op.getOperand())[innerPadded(op)] > 0;
  }
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::PadOp op) const override {
    int64_t dim = innerPadded(op);
    AxisView result(shapeOf(op.getResult()), dim), source(shapeOf(op.getOperand()), dim);
    KernelPlan plan;
    plan.tiles = result.inner == 0 ? 0 : result.outer;
    if (plan.tiles == 0) return plan;
    int64_t row = result.length * result.inner, sourceRow = source.length * source.inner;
    TileRanges ranges(dispatch, {result.outer});
    ranges.operands([&](OpOperand &use) -> SmallVector<TileStep> {
      // Padding before that dimension moves rows.
      auto isPadded = [&](int64_t d) { return op.getLow()[d] || op.getHigh()[d]; };
      if (use.getOperandNumber() != 0 || llvm::any_of(llvm::seq(dim), isPadded)) return {};
      return {{sourceRow, 0, sourceRow}};
    });
    ranges.result(0, {{row, 0, row}});
    plan.ranges = ranges.take();
    return plan;
  }
  void emitOp(KernelBuilder &k, ir::PadOp op) const override { Rows{k, op, innerPadded(op)}.emit(); }

private:
  /// The innermost dimension with padding, or -1.
  static int64_t innerPadded(ir::PadOp op) {
    int64_t dim = static_cast<int64_t>(op.getLow().size()) - 1;
    while (dim >= 0 && op.getLow()[dim] == 0 && op.getHigh()[dim] == 0) --dim;
    return dim;
  }

  struct Rows {
    KernelBuilder &k;
    ir::PadOp op;
    int64_t dim;
    Value from = {}, to = {}, fill = {};
    int64_t inner = 1, low = 0, size = 0, high = 0;

    void emit() {
      ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), results = shapeOf(op.getResult());
      inner = AxisView(results, dim).inner;
      low = op.getLow()[dim];
      size = sizes[dim];
      high = op.getHigh()[dim];
      from = k.flatOperand(op.getOperand());
      to = k.flat(k.resultBuffer(0));
      bool constant = op.getMode() == ir::PadMode::constant;
      if (constant) fill = memref::LoadOp::create(k.b, k.loc, k.flatOperand(op.getValue()), k.index(0));
      k.forTiles([&](Value row) {
        Value target = k.mul(row, results[dim] * inner), source = k.index(0), inside;
        SmallVector<Value> indices = k.delinearize(row, results.take_front(dim));
        for (int64_t d = 0; d < dim; ++d) {
          Value i = k.sub(indices[d], k.index(op.getLow()[d]));
          if (op.getLow()[d] || op.getHigh()[d]) {
            if (constant) {
              Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, i, k.index(sizes[d]));
              inside = inside ? Value(arith::AndIOp::create(k.b, k.loc, inside, here)) : here;
            } else {
              i = place(i, sizes[d]);
            }
          }
          source = k.add(k.mul(source, sizes[d]), i);
        }
        source = k.mul(source, size * inner);
        if (inside)
          k.ifThen(inside, [&] { copy(source, target); }, [&] { fillRow(target, results[dim] * inner); });
        else
          copy(source, target);
      });
    }

    /// The element of the operand that stands at position i of a dimension, which may lie before or after it.
    Value place(Value i, int64_t count) {
      Value last = k.index(count - 1);
      if (op.getMode() == ir::PadMode::edge) return k.min(k.max(i, k.index(0)), last);
      bool wraps = op.getMode() == ir::PadMode::wrap;
      int64_t period = wraps ? count : std::max<int64_t>(1, 2 * (count - 1));
      Value rest = arith::RemSIOp::create(k.b, k.loc, i, k.index(period));
      Value negative = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, rest, k.index(0));
      Value cycle = arith::SelectOp::create(k.b, k.loc, negative, k.add(rest, period), rest);
      if (wraps) return cycle;
      return k.min(cycle, k.sub(k.index(2 * (count - 1)), cycle)); // back and forth
    }

    void copy(Value source, Value target) {
      edge(source, target, 0, low);
      copyRow(k, from, source, to, k.add(target, low * inner), size * inner);
      edge(source, target, low + size, high);
    }

    // `count` positions of the result from `begin` on, outside of the operand.
    void edge(Value source, Value target, int64_t begin, int64_t count) {
      if (count == 0) return;
      Value start = k.add(target, begin * inner);
      if (fill) return fillRow(start, count * inner);
      k.loop(k.index(0), k.index(count), 1, [&](Value i) {
        Value position = place(k.add(i, begin - low), size);
        copyRow(k, from, k.add(source, k.mul(position, inner)), to, k.add(start, k.mul(i, inner)), inner);
      });
    }

    void fillRow(Value start, int64_t length) {
      // A bf16 is repeated as its bits: LLVM would repeat it widened and round it by a call.
      Value fills;
      if (fill.getType().isBF16()) {
        Value bits = k.splat(arith::BitcastOp::create(k.b, k.loc, k.b.getI16Type(), fill));
        fills = arith::BitcastOp::create(k.b, k.loc, VectorType::get({kLanes}, fill.getType()), bits);
      } else {
        fills = k.splat(fill);
      }
      forVectors(k, length, [&](Value offset, Value mask) {
        if (mask)
          vector::MaskedStoreOp::create(k.b, k.loc, to, k.add(start, offset), mask, fills);
        else
          vector::StoreOp::create(k.b, k.loc, fills, to, k.add(start, offset));
      });
    }
  };
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createPadEmitter() { return std::make_unique<PadEmitter>(); }
