// Attention in one kernel (dialects/NN/AttentionPattern.h): a block has some rows of one matrix of the batch. Their
// queries lie in shared memory, and keys come in slices; the scores of all keys stay there, become weights in place and
// are multiplied with the values, which come in slices too. The chains and reductions are those of separate kernels.
#include "lib/Target/CUDA/Kernels/Contraction/AttentionPlan.h"
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowPasses.h"
#include "lib/Target/Kernels/FuseAttention.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
/// Of what lies between both products: a row's scores are in shared memory.
class ScoreEvaluator : public GpuEvaluator {
public:
  ScoreEvaluator(GpuBuilder &kernel, Value scores) : GpuEvaluator(kernel), scores(scores) {}
  Value buffer, begin; // of the thread's row

protected:
  Value stored(Value value, ArrayRef<Coordinate> position) override {
    if (value != scores) return {};
    return k.load(buffer, k.add(begin, position.back().base), elementOf(scores));
  }

private:
  Value scores;
};

class AttentionKernel {
public:
  AttentionKernel(GpuBuilder &kernel, const AttentionPlan &plan)
      : k(kernel), p(plan), f32(kernel.b.getF32Type()), evaluator(kernel, ir::MatmulOp(p.attention.scores).getResult()),
        passes(kernel, p.rowGroup, evaluator, p.threadsOfRow()) {}

  void emit(Value tile) {
    SmallVector<int64_t> space(p.batch);
    space.push_back(p.blocksOfMatrix());
    SmallVector<Value> at = k.delinearize(tile, space);
    matrix.assign(at.begin(), at.end() - 1);
    firstRow = k.mul(at.back(), p.blockRows);
    auto shared = [&](int64_t begin, int64_t end) { return k.dynamicSharedBuffer((end - begin) / 4, f32, begin); };
    scores = shared(0, p.queryBegin);
    queries = shared(p.queryBegin, p.sliceBegin);
    slices = shared(p.sliceBegin, p.sharedBytes);
    // Who reads what the step before has written waits for a slice to be there, and so for all of the block.
    copyQueries();
    k.loop(k.index(0), k.index(llvm::alignTo(p.keys, p.scoreTile.columns)), p.scoreTile.columns,
           [&](Value first) { computeScores(first); });
    weigh();
    k.loop(k.index(0), k.index(llvm::alignTo(p.columns, p.valueTile.columns)), p.valueTile.columns,
           [&](Value first) { multiplyValues(first); });
  }

private:
  static bool isMultiple(ArrayRef<int64_t> strides, int64_t of) {
    return llvm::all_of(strides, [&](int64_t stride) { return stride % of == 0; });
  }
  // Whether four neighbours can be read at once where the inner dimension has stride and size, and the outer one this
  // stride.
  static bool isWide(const MatrixView &operand, int64_t stride, int64_t size, int64_t outer) {
    return stride == 1 && size % kQuad == 0 && outer % kQuad == 0 && operand.view.offset % kQuad == 0 &&
           isMultiple(operand.batchStrides, kQuad) && elementOf(operand.view.root).isF32();
  }
  Value read(const MatrixView &operand, Value at, bool wide) {
    Type type = elementOf(operand.view.root);
    Value buffer = k.flatOperand(operand.view.root);
    return operand.applyChain(k, wide ? k.loadVector(buffer, at, type, {}, kQuad) : k.load(buffer, at, type));
  }
  Value isBelow(Value index, int64_t bound) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, k.index(bound));
  }
  Value rowInMatrix(Value row) {
    Value all = k.add(firstRow, row);
    return p.rows % p.blockRows ? k.min(all, k.index(p.rows - 1)) : all;
  }

  // The block's rows of the left side, -0 behind them. Rows beyond the matrix are its last one.
  void copyQueries() {
    const MatrixView &query = p.query;
    bool wide = isWide(query, query.columnStride, p.depth, query.rowStride);
    bool stepsInner = query.columnStride == 1 || query.rowStride != 1;
    int64_t width = wide ? kQuad : 1, steps = llvm::alignTo(p.depth, p.scoreTile.depth);
    Value begin = query.begin(k, matrix);
    k.loop(k.thread(), k.index(p.blockRows * steps / width), k.threads, [&](Value i) {
      Value row = stepsInner ? k.div(i, steps / width) : k.rem(i, p.blockRows);
      Value step = stepsInner ? k.mul(k.rem(i, steps / width), width) : k.div(i, p.blockRows);
      Value there = k.min(step, k.index(p.depth - width));
      Value from = k.add(k.mul(rowInMatrix(row), query.rowStride), k.mul(there, query.columnStride));
      Value element = read(query, k.add(begin, from), wide);
      if (steps != p.depth) {
        Value none = k.constant(f32, -0.0);
        element =
            arith::SelectOp::create(k.b, k.loc, isBelow(step, p.depth), element, wide ? k.splat(none, kQuad) : none);
      }
      k.store(element, queries, k.add(k.mul(row, p.queryStride), step), f32);
    });
  }

  // A right side, whose rows are steps.
  TileSide side(const MatrixView &operand, int64_t steps, int64_t places, Value first) {
    bool stepsInner = operand.rowStride == 1 && operand.columnStride != 1;
    bool wide = stepsInner ? isWide(operand, operand.rowStride, steps, operand.columnStride)
                           : isWide(operand, operand.columnStride, places, operand.rowStride);
    TileSide side{places, first, stepsInner ? TileSide::Steps : TileSide::Places, wide, nullptr};
    Value begin = operand.begin(k, matrix);
    side.read = [=, this, &operand](Value place, Value step) {
      Value at = k.add(begin, k.add(k.mul(place, operand.columnStride), k.mul(step, operand.rowStride)));
      return read(operand, at, wide);
    };
    side.memory = slices;
    return side;
  }
  // A left side, whose rows are all there.
  TileSide rowsOf(Value memory, int64_t stride, int64_t places, Value first) {
    TileSide side{places, first, TileSide::Steps, true, nullptr};
    side.memory = memory;
    side.wholeStride = stride;
    return side;
  }
  Value together(ValueRange values) {
    if (values.size() == 1) return values[0];
    return vector::FromElementsOp::create(k.b, k.loc, VectorType::get({int64_t(values.size())}, f32), values);
  }

  // Of some columns; -0 where there are no keys any more.
  void computeScores(Value first) {
    TileProduct product(k, p.scoreTile, p.depth, rowsOf(queries, p.queryStride, p.blockRows, k.index(0)),
                        side(p.key, p.depth, p.keys, first));
    product.emit([&](ValueRange sums) {
      int64_t neighbours = product.neighbours();
      for (int64_t i = 0; i < p.scoreTile.threadRows; ++i)
        for (int64_t j = 0; j < p.scoreTile.threadColumns; j += neighbours) {
          Value column = product.column(j);
          SmallVector<Value> few(sums.slice(i * p.scoreTile.threadColumns + j, neighbours));
          if (p.keys % p.scoreTile.columns)
            for (int64_t e = 0; e < neighbours; ++e)
              few[e] =
                  arith::SelectOp::create(k.b, k.loc, isBelow(k.add(column, e), p.keys), few[e], k.constant(f32, -0.0));
          k.store(together(few), scores, k.add(k.mul(product.row(i), p.scoreStride), column), f32);
        }
    });
    k.barrier();
  }

  // Scores become weights, by threads that share a row.
  void weigh() {
    int64_t threads = p.threadsOfRow(), atOnce = k.threads / threads;
    k.loop(k.index(0), k.index(p.blockRows), atOnce, [&](Value begin) {
      Value row = k.add(begin, k.div(k.thread(), threads));
      if (p.blockRows % atOnce == 0) return weighRow(row, Value());
      Value exists = isBelow(row, p.blockRows);
      // A warp has all of its threads in a row, or comes along with others.
      if (threads == kWarp) return k.ifThen(exists, [&] { weighRow(row, Value()); });
      weighRow(k.min(row, k.index(p.blockRows - 1)), exists);
    });
  }

  // `exists`: null, or whether the row is the thread's own; others come along.
  void weighRow(Value row, Value exists) {
    Evaluator::Scope scope(evaluator);
    evaluator.buffer = scores;
    evaluator.begin = k.mul(row, p.scoreStride);
    SmallVector<Value> kept(matrix);
    kept.push_back(rowInMatrix(row));
    passes.enter(kept, k.rem(k.thread(), p.threadsOfRow()));
    passes.reduce();
    SmallVector<std::function<void()>> stores;
    Value weights = p.attention.weights();
    passes.forElements([&](Value valid) {
      Value weight = evaluator.at(weights, passes.position), at = k.add(evaluator.begin, passes.position.back().base);
      Value mine = valid && exists ? Value(arith::AndIOp::create(k.b, k.loc, valid, exists)) : valid ? valid : exists;
      auto store = [=, this] {
        auto one = [&] { k.store(weight, scores, at, f32); };
        mine ? k.ifThen(mine, one) : one();
      };
      exists ? stores.push_back(store) : store();
    });
    // Those who come along have read what is written now.
    if (exists) k.barrier();
    for (auto &store : stores) store();
    // The next row's threads meet in the same memory.
    if (p.threadsOfRow() > kWarp && p.blockRows > 1) k.barrier();
  }

  void multiplyValues(Value first) {
    TileProduct product(k, p.valueTile, p.keys, rowsOf(scores, p.scoreStride, p.rows, firstRow),
                        side(p.value, p.keys, p.columns, first));
    Value target = k.flat(k.resultBuffer(0)), base = k.index(0);
    for (auto [index, stride] : llvm::zip_equal(matrix, ArrayRef(p.resultStrides).drop_back(2)))
      base = k.add(base, k.mul(index, stride));
    product.emit([&](ValueRange sums) {
      int64_t neighbours = product.neighbours();
      if (p.columns % neighbours || !isMultiple(ArrayRef(p.resultStrides).drop_back(1), neighbours)) neighbours = 1;
      for (int64_t i = 0; i < p.valueTile.threadRows; ++i)
        for (int64_t j = 0; j < p.valueTile.threadColumns; j += neighbours) {
          Value row = product.row(i), column = product.column(j), exists = product.exists(row, column);
          Value few = together(sums.slice(i * p.valueTile.threadColumns + j, neighbours));
          auto store = [&] {
            Value at = k.add(k.add(base, k.mul(row, p.resultStrides.end()[-2])), column);
            k.store(few, target, at, f32);
          };
          exists ? k.ifThen(exists, store) : store();
        }
    });
    if (p.columns > p.valueTile.columns) k.barrier();
  }

  GpuBuilder &k;
  const AttentionPlan &p;
  const Type f32;
  ScoreEvaluator evaluator;
  RowPasses passes;
  SmallVector<Value> matrix; // of the batch, of the block
  Value firstRow, scores, queries, slices;
};

std::optional<AttentionPlan> planOf(kernel::DispatchOp dispatch) {
  std::optional<AttentionForm> form = AttentionForm::in(dispatch);
  std::string why;
  return form ? AttentionPlan::analyze(std::move(*form), why) : std::nullopt;
}

struct AttentionEmitter : GpuEmitter {
  StringRef name() const override { return "attention"; }
  bool matches(kernel::DispatchOp dispatch) const override { return planOf(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    return {planOf(dispatch)->blocks(), AttentionPlan::kThreads};
  }
  bool fitsAsPart(kernel::DispatchOp dispatch) const override { return planOf(dispatch)->fitsAsPart(); }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    AttentionPlan plan = *planOf(dispatch);
    AttentionKernel(k, plan).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuAttentionEmitter() { return std::make_unique<AttentionEmitter>(); }

void sprig::cuda::fuseAttentionForCuda(Block &block, Precision precision,
                                       llvm::function_ref<bool(Operation *)> isHere) {
  fuseAttention(block, isHere, [&](const ir::Attention &attention, std::string &why) {
    auto isOnTensorCores = [](ir::MatmulOp op) { return MatmulForm(op).isWorthTensorCores(); };
    if (precision == Precision::tf32 && (isOnTensorCores(attention.scores) || isOnTensorCores(attention.output))) {
      why = "tensor cores compute its products";
      return false;
    }
    auto plan = AttentionPlan::analyze(AttentionForm(attention), why);
    return plan && plan->pays(why);
  });
}
