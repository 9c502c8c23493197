// kernel.sum_parts in f32 with what follows it: a thread adds up an element, or four neighbours, in the order of parts.
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct SumForm {
  explicit SumForm(kernel::SumPartsOp op)
      : parts(shapeOf(op.getParts())[0]), count(llvm::product_of(shapeOf(op.getResult()))),
        lanes(count % 4 == 0 && count >= kMany && Epilogue::isFlat(op) ? 4 : 1) {}

  // Where there are few elements, more threads have more loads on their way than wider accesses.
  static constexpr int64_t kMany = 1 << 16;
  int64_t parts, count, lanes;

  GpuPlan plan() const {
    // Smaller blocks are on more multiprocessors.
    constexpr int64_t kThreads = 64;
    return {int64_t(llvm::divideCeil(count / lanes, kThreads)), kThreads};
  }
};

struct SumPartsEmitter : ContractionEmitter {
  StringRef name() const override { return "sum_parts"; }
  bool matches(kernel::DispatchOp dispatch) const override { return bool(sumOf(dispatch)); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override { return SumForm(sumOf(dispatch)).plan(); }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    kernel::SumPartsOp op = sumOf(dispatch);
    SumForm form(op);
    bool isFlat = Epilogue::isFlat(op);
    Epilogue epilogue(k, op, form.lanes, isFlat);
    Value buffer = k.flatOperand(op.getParts());
    k.forThreads(tile, form.count / form.lanes, 1, [&](Value i) {
      Value first = k.mul(i, form.lanes);
      SmallVector<Value> position{first};
      if (!isFlat) position = k.delinearize(first, shapeOf(op.getResult()));
      epilogue.store(sums(k, form, buffer, first), position, first);
    });
    return success();
  }

private:
  static kernel::SumPartsOp sumOf(kernel::DispatchOp dispatch) {
    return dyn_cast_if_present<kernel::SumPartsOp>(contractionOf(dispatch));
  }

  // So many parts are on their way at once.
  static SmallVector<Value> sums(GpuBuilder &k, const SumForm &form, Value buffer, Value first) {
    Type f32 = k.b.getF32Type();
    constexpr int64_t kTogether = 16;
    auto addSome = [&](Value part, int64_t count, Value sum) {
      SmallVector<Value> values;
      for (int64_t j = 0; j < count; ++j) {
        Value at = k.add(k.mul(k.add(part, j), form.count), first);
        values.push_back(form.lanes > 1 ? k.loadVector(buffer, at, f32, {}, form.lanes) : k.load(buffer, at, f32));
      }
      for (Value value : values) sum = arith::AddFOp::create(k.b, k.loc, sum, value);
      return sum;
    };
    int64_t whole = form.parts / kTogether * kTogether;
    Value sum = k.zero(f32, form.lanes > 1 ? form.lanes : 0);
    if (whole)
      sum = k.loop(k.index(0), k.index(whole), kTogether, sum, [&](Value part, ValueRange carried) {
        return SmallVector<Value>{addSome(part, kTogether, carried[0])};
      })[0];
    sum = addSome(k.index(whole), form.parts - whole, sum);
    if (form.lanes == 1) return {sum};
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < form.lanes; ++lane)
      elements.push_back(vector::ExtractOp::create(k.b, k.loc, sum, lane));
    return elements;
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuSumPartsEmitter() { return std::make_unique<SumPartsEmitter>(); }
