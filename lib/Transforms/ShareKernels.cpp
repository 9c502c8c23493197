// Layers of one form differ in the numbers of their elementwise operations: here these become operands, so that one
// kernel serves all layers.
#define GEN_PASS_DEF_SHAREKERNELS
#include "lib/Transforms/Passes.h"
#include "dialects/Kernel/EqualDispatch.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;

/// Whether it costs an operation nothing to read an operand. Where it is known, powers and divisions may be something
/// cheaper (ScalarBody.cpp): of the same bits, but not of the same speed.
static bool readsAsWell(OpOperand &use, DenseElementsAttr number) {
  Operation *user = use.getOwner();
  if (isa<ir::AddOp, ir::SubOp, ir::MulOp, ir::MaxOp, ir::MinOp, ir::CompareOp, ir::SelectOp>(user)) return true;
  if (!isa<ir::DivOp>(user) || !isa<FloatType>(number.getElementType())) return false;
  return use.getOperandNumber() == 0 || number.getSplatValue<APFloat>().getExactLog2Abs() == INT_MIN;
}

/// A number that a kernel could read as well: one element, for elementwise operations of the dispatch itself.
static bool isNumber(ir::ConstantOp constant) {
  DenseElementsAttr number = ir::splatOf(constant.getResult());
  return number && cast<RankedTensorType>(constant.getType()).getNumElements() == 1 &&
         llvm::all_of(constant->getUses(), [&](OpOperand &use) {
           return use.getOwner()->getBlock() == constant->getBlock() && readsAsWell(use, number);
         });
}

static SmallVector<ir::ConstantOp> numbersOf(kernel::DispatchOp dispatch) {
  SmallVector<ir::ConstantOp> numbers;
  for (auto constant : dispatch.getBody().front().getOps<ir::ConstantOp>())
    if (isNumber(constant)) numbers.push_back(constant);
  return numbers;
}

namespace {
/// Dispatches of one form: equal but for their numbers.
struct Layers {
  SmallVector<kernel::DispatchOp> dispatches;
  SmallVector<SmallVector<ir::ConstantOp>> numbers; // of each

  /// Which of the numbers are not the same in all of them.
  SmallVector<unsigned> different() {
    SmallVector<unsigned> found;
    for (unsigned i = 0; i < numbers.front().size(); ++i)
      if (llvm::any_of(numbers, [&](auto own) { return own[i].getValue() != numbers.front()[i].getValue(); }))
        found.push_back(i);
    return found;
  }
};

struct ShareKernels : sprig::impl::ShareKernelsBase<ShareKernels> {
  using ShareKernelsBase::ShareKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    const Target *device = targetForPass(function, target);
    if (!device) return signalPassFailure();

    llvm::DenseMap<Operation *, unsigned, kernel::EqualDispatch> forms;
    SmallVector<Layers> layers;
    for (auto dispatch : function.getBody().front().getOps<kernel::DispatchOp>()) {
      SmallVector<ir::ConstantOp> numbers = numbersOf(dispatch);
      if (numbers.empty()) continue;
      kernel::DispatchOp form = withoutNumbers(dispatch);
      auto [place, isNew] = forms.try_emplace(form, layers.size());
      if (isNew)
        layers.emplace_back();
      else
        form.erase();
      layers[place->second].dispatches.push_back(dispatch);
      layers[place->second].numbers.push_back(std::move(numbers));
    }
    for (auto &[form, index] : forms) form->erase();
    for (Layers &group : layers) share(group, *device);
  }

private:
  /// A copy that stands nowhere, with zeros for numbers.
  static kernel::DispatchOp withoutNumbers(kernel::DispatchOp dispatch) {
    kernel::DispatchOp form = dispatch.clone();
    for (ir::ConstantOp number : numbersOf(form))
      number.setValueAttr(ir::makeSplat(cast<RankedTensorType>(number.getType()), 0));
    return form;
  }

  static void share(Layers &group, const Target &device) {
    SmallVector<unsigned> different = group.different();
    if (different.empty()) return;
    kernel::DispatchOp first = group.dispatches.front();
    if (!isPlannedAlike(first, group.numbers.front(), different, device)) {
      remark::missed(first.getLoc(), remark::RemarkOpts::name("numbers").category("fuse"))
          << "kernels that differ in numbers stay apart: one that does not know them would be another";
      return;
    }
    remark::passed(first.getLoc(), remark::RemarkOpts::name("numbers").category("fuse"))
        << (std::to_string(group.dispatches.size()) + " dispatches share a kernel that reads " +
            std::to_string(different.size()) + " of its numbers");
    for (auto [dispatch, numbers] : llvm::zip_equal(group.dispatches, group.numbers))
      takeOut(dispatch, numbers, different);
  }

  static bool isPlannedAlike(kernel::DispatchOp dispatch, ArrayRef<ir::ConstantOp> numbers,
                             ArrayRef<unsigned> different, const Target &device) {
    // What cannot be planned stays as it is, and is nobody's error.
    ScopedDiagnosticHandler quiet(dispatch.getContext(), [](Diagnostic &) { return success(); });
    FailureOr<KernelPlan> known = device.plan(dispatch);
    if (failed(known)) return false;
    OpBuilder b(dispatch);
    auto trial = cast<kernel::DispatchOp>(b.clone(*dispatch));
    SmallVector<Operation *> added = takeOut(trial, numbersOf(trial), different);
    FailureOr<KernelPlan> read = device.plan(trial);
    bool isAlike = succeeded(read) && read->tiles == known->tiles && read->scratchBytes == known->scratchBytes;
    trial.erase();
    for (Operation *constant : added) constant->erase();
    return isAlike;
  }

  /// Makes operands of the chosen numbers, in their order; gives the constants that now stand before the dispatch.
  static SmallVector<Operation *> takeOut(kernel::DispatchOp dispatch, ArrayRef<ir::ConstantOp> numbers,
                                          ArrayRef<unsigned> chosen) {
    Block &body = dispatch.getBody().front();
    SmallVector<Operation *> taken;
    SmallVector<Value> operands(dispatch->getOperands());
    for (unsigned i : chosen) {
      ir::ConstantOp number = numbers[i];
      number->moveBefore(dispatch);
      BlockArgument argument = body.addArgument(number.getType(), number.getLoc());
      number.getResult().replaceAllUsesWith(argument);
      operands.push_back(number.getResult());
      taken.push_back(number);
    }
    dispatch->setOperands(operands);
    return taken;
  }
};
} // namespace
