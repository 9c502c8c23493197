// Convolutions of stride 1 by Winograd's short convolutions, where that is estimated to be faster; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "lib/Target/CPU/Layout/WinogradCost.h"
#include "lib/Target/CPU/Layout/WinogradFilter.h"
#include "runtime/base/Decimal.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_WINOGRAD
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {

bool allOnes(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 1; });
}

/// Why a convolution cannot take the form at all; null where it can. Says nothing of what it gains.
const char *obstacle(ir::ConvOp op) {
  RankedTensorType input = tensorOf(op.getInput());
  if (!input.getElementType().isF32()) return "its elements are not f32";
  if (!op.getChannelsLast() || input.getRank() != 4) return "it does not have 2 spatial dimensions";
  if (op.getGroups() != 1) return "it has groups";
  if (!allOnes(op.getStrides()) || !allOnes(op.getDilations())) return "it has strides or dilations";
  ElementsAttr filter = readableConstant(op.getFilter());
  if (!filter) return "its filter is no constant";
  if (ir::ConstantView(filter).isSplat()) return "its filter is a splat";
  if (input.getNumElements() == 0 || op.getType().getNumElements() == 0) return "it has no elements";
  return nullptr;
}

int64_t constantBytes(func::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](ir::ConstantOp constant) {
    RankedTensorType type = tensorOf(constant.getResult());
    if (!isa<SplatElementsAttr>(constant.getValue()))
      bytes += type.getNumElements() * storageBytes(type.getElementType());
  });
  return bytes;
}

class Winograd : public impl::WinogradBase<Winograd> {
public:
  using WinogradBase::WinogradBase;

  void runOnOperation() override {
    made.clear(); // one instance of a pass runs on all functions of a module
    int64_t bytes = constantBytes(getOperation());
    SmallVector<ir::ConvOp> convolutions;
    getOperation().walk([&](ir::ConvOp op) { convolutions.push_back(op); });
    llvm::SmallSetVector<Operation *, 8> filters;
    for (ir::ConvOp op : convolutions) {
      Operation *filter = op.getFilter().getDefiningOp();
      if (rewrite(op, bytes)) filters.insert(filter);
    }
    for (Operation *filter : filters)
      if (filter->use_empty()) filter->erase();
  }

private:
  bool rewrite(ir::ConvOp op, int64_t bytes) {
    auto direct = [&](const Twine &why) {
      remark::missed(op.getLoc(), remark::RemarkOpts::name("winograd").category("fuse"))
          << ("nn.conv stays direct: " + why).str();
      return false;
    };
    if (const char *why = obstacle(op)) return direct(why);
    ArrayRef<int64_t> in = tensorOf(op.getInput()).getShape(), out = op.getType().getShape();
    ArrayRef<int64_t> window = tensorOf(op.getFilter()).getShape().drop_front(2);
    // Of a call, whose samples may come in pieces: the choice changes bits.
    int64_t batch = in[0] * kernel::piecesOf(op->getParentOfType<func::FuncOp>());
    ConvShape shape{batch,
                    in[1],
                    in[2],
                    in[3],
                    out[1],
                    out[2],
                    out[3],
                    {window[0], window[1]},
                    {op.getPadding()[0], op.getPadding()[1]},
                    bytes};
    std::string windowText = std::to_string(window[0]) + "x" + std::to_string(window[1]);
    std::optional<WinogradChoice> choice = cheapestWinograd(shape);
    if (allOnes(window) || !choice) return direct("no short convolution serves a window of " + windowText);
    std::string form =
        "F(" + std::to_string(choice->tile[0]) + "x" + std::to_string(choice->tile[1]) + ", " + windowText + ")";
    std::string numbers = llvm::formatv("{0} saves {1} times the products and is estimated at {2} times the speed",
                                        form, decimal::fixed(choice->saving, 1), decimal::fixed(choice->gain, 2));
    if (choice->gain < minGain) return direct(numbers);

    auto vertical = kernel::WinogradLine::get(choice->tile[0], window[0]);
    auto horizontal = kernel::WinogradLine::get(choice->tile[1], window[1]);
    OpBuilder b(op);
    Value panels = transformed(op.getFilter(), *vertical, *horizontal);
    Value result = kernel::ConvWinogradOp::create(b, op.getLoc(), op.getInput(), panels, b.getDenseI64ArrayAttr(window),
                                                  b.getDenseI64ArrayAttr({choice->tile[0], choice->tile[1]}),
                                                  b.getI64IntegerAttr(out[3]), op.getPaddingAttr());
    remark::passed(op.getLoc(), remark::RemarkOpts::name("winograd").category("fuse"))
        << ("nn.conv becomes kernel.conv_winograd: " + numbers);
    op.getResult().replaceAllUsesWith(result);
    op->erase();
    return true;
  }

  /// The filter in frequencies, made once for all its users, right after it.
  Value transformed(Value filter, const kernel::WinogradLine &vertical, const kernel::WinogradLine &horizontal) {
    Value &panels = made[{filter, {vertical.outputs(), horizontal.outputs()}}];
    if (panels) return panels;
    auto constant = filter.getDefiningOp<ir::ConstantOp>();
    OpBuilder b(&getContext());
    b.setInsertionPointAfterValue(filter);
    ElementsAttr value = transformFilter(constant.getValue(), vertical, horizontal);
    return panels = ir::ConstantOp::create(b, constant.getLoc(), cast<RankedTensorType>(value.getType()), value);
  }

  llvm::DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>, Value> made;
};

} // namespace
} // namespace sprig::cpu
