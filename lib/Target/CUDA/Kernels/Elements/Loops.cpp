// Elementwise operations, and what computes each result element on its own (products, windows, gathers, pads), with
// what reads or follows them: a thread an element, or 128 bits of neighbours where every operand has them side by side.
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/Elements/GpuEvaluator.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/Kernels/LoopSpace.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
/// How the threads of a dispatch share its elements.
struct LoopForm {
  /// Fails for a dispatch that is not made of operations that the evaluator knows.
  static std::optional<LoopForm> analyze(kernel::DispatchOp dispatch);

  SmallVector<Value> yielded;
  SmallVector<int64_t> shape;
  int64_t count = 1;     // elements of the shape
  int64_t lanes = 1;     // neighbours that a thread computes at once
  int64_t perThread = 1; // times it does
  Positions positions = Positions::dimensions;

  GpuPlan plan() const {
    GpuPlan plan;
    plan.tiles = llvm::divideCeil(count / lanes, plan.threads * perThread);
    return plan;
  }
};
} // namespace

static bool isConstant(Value value) { return value.getDefiningOp<ir::ConstantOp>() != nullptr; }

std::optional<LoopForm> LoopForm::analyze(kernel::DispatchOp dispatch) {
  Block &body = dispatch->getRegion(0).front();
  LoopForm form;
  form.yielded.assign(body.getTerminator()->operand_begin(), body.getTerminator()->operand_end());
  if (form.yielded.empty()) return std::nullopt;
  form.shape.assign(shapeOf(form.yielded[0]).begin(), shapeOf(form.yielded[0]).end());
  for (int64_t size : form.shape) form.count *= size;
  LoopSpace space;
  space.shape = form.shape;
  // Neighbours in the result are neighbours in every operand that has the innermost dimension.
  bool isPointwise = true, areWhole = true;
  int64_t bytes = 1;
  SmallVector<Value> values(form.yielded);
  for (Operation &op : body.without_terminator()) {
    if (isa<ir::ReduceOp>(op) || !space.takes(&op, [](Operation *) { return true; })) return std::nullopt;
    if (ir::splatOf(&op)) continue;
    isPointwise &= isa<ElementwiseOpInterface, ir::BroadcastOp>(op);
    values.append(op.operand_begin(), op.operand_end());
    llvm::append_range(values, op.getResults());
  }
  for (Value value : form.yielded)
    if (!space.mayYield(value)) return std::nullopt;
  if (!isPointwise) return form;
  for (Value value : values) {
    if (isConstant(value)) continue;
    areWhole &= shapeOf(value) == ArrayRef(form.shape) || cast<RankedTensorType>(value.getType()).getNumElements() == 1;
    bytes = std::max(bytes, storageBytes(elementOf(value)));
  }
  if (areWhole) form.positions = Positions::elements;
  constexpr int64_t kVectorBytes = 16;
  int64_t inner = areWhole ? form.count : form.shape.back(), lanes = kVectorBytes / bytes;
  // Where there are few elements, more threads do more than wider accesses.
  constexpr int64_t kMany = 1 << 14;
  if (inner % lanes == 0 && form.count >= kMany)
    form.lanes = lanes;
  else if (form.count >= kMany)
    form.perThread = 4;
  return form;
}

namespace {
struct LoopEmitter : GpuEmitter {
  StringRef name() const override { return "loops"; }
  bool matches(kernel::DispatchOp dispatch) const override { return LoopForm::analyze(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override { return LoopForm::analyze(dispatch)->plan(); }

  // A thread reads what it needs of an element before it writes it, and nobody else reads it.
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    BlockArgument argument = dispatch->getRegion(0).getArgument(operand);
    ArrayRef<int64_t> shape = shapeOf(argument);
    return llvm::all_of(dispatch->getRegion(0).front().without_terminator(),
                        [&](Operation &op) {
                          return isa<ElementwiseOpInterface>(op) || ir::splatOf(&op) ||
                                 !llvm::is_contained(op.getOperands(), Value(argument));
                        }) &&
           isReadInPlace(argument, shape);
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    LoopForm form = *LoopForm::analyze(dispatch);
    GpuEvaluator evaluator(k, form.lanes, form.positions);
    k.forThreads(tile, form.count / form.lanes, form.perThread, [&](Value i) {
      Evaluator::Scope scope(evaluator);
      Value first = k.mul(i, form.lanes);
      Position position;
      if (form.positions == Positions::elements)
        position.push_back({first, 0});
      else
        for (Value index : k.delinearize(first, form.shape)) position.push_back({index, 0});
      if (form.lanes > 1) position.back().step = 1;
      SmallVector<Value> values;
      for (Value value : form.yielded) values.push_back(evaluator.vectorAt(value, position));
      for (auto [r, value] : llvm::enumerate(form.yielded))
        k.store(values[r], k.flat(k.resultBuffer(r)), first, elementOf(value));
    });
    return success();
  }

private:
  // Every way from the operand to a result is elementwise: no view or window moves it to another element.
  static bool isReadInPlace(Value value, ArrayRef<int64_t> shape) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<kernel::YieldOp>(user)) return true;
      return isa<ElementwiseOpInterface>(user) && shapeOf(user->getResult(0)) == shape &&
             isReadInPlace(user->getResult(0), shape);
    });
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuLoopEmitter() { return std::make_unique<LoopEmitter>(); }
