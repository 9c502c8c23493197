// nn.conv_filter_grad with what follows it, and its parts, on tensor cores, where factors may be rounded to tf32.
#include "lib/Target/CUDA/Kernels/Contraction/FilterGradPlaces.h"
#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct FilterGradTf32Form : FilterGradForm {
  static std::optional<FilterGradTf32Form> of(Operation *op) {
    std::optional<FilterGradForm> plain = FilterGradForm::of(op);
    if (!plain || !isWorthMma(plain->rows, plain->columns())) return std::nullopt;
    FilterGradTf32Form form(*plain);
    const MmaShape &shape = form.shape;
    double waste = form.computed(shape.rows, shape.columns, shape.depth) / form.products();
    if (form.products() < kLeastProducts || instructionsPerProduct(shape, waste) >= kLoopInstructions)
      return std::nullopt;
    return form;
  }

  explicit FilterGradTf32Form(const FilterGradForm &form)
      : FilterGradForm(form), shape(chooseMmaShape(parts() * groups, rows, columns())) {}

  SmallVector<int64_t> tiles() const { return FilterGradForm::tiles(shape.rows, shape.columns); }

  MmaShape shape;
};

class FilterGradTf32Kernel {
public:
  FilterGradTf32Kernel(GpuBuilder &kernel, Operation *op)
      : k(kernel), n(kernel), op(op), form(*FilterGradTf32Form::of(op)) {}

  void emit(Value tile) {
    SmallVector<Value> at = k.delinearize(tile, form.tiles());
    FilterGradPlaces places(k, op, form, at[0], at[1]);
    Value row = k.mul(at[2], form.shape.rows), column = k.mul(at[3], form.shape.columns);
    MmaProduct product(k, form.shape, form.depth(), cotangent(places, row), windows(places, column));
    if (form.inParts) product.onlyPart(at[0]);
    bool isFlat = Epilogue::isFlat(op);
    Epilogue epilogue(k, op, isFlat && form.columns() % 2 == 0 ? 2 : 1, isFlat);
    product.emit([&](Value row, Value column, ValueRange sums) {
      for (int64_t i = 0; i < 2; i += epilogue.lanes()) {
        Value own = k.add(column, i);
        places.store(epilogue, isFlat, sums.slice(i, epilogue.lanes()), row, own, product.exists(row, own));
      }
    });
  }

private:
  MmaSide cotangent(FilterGradPlaces &places, Value first) {
    auto at = [this, &places](Value row, Value step) -> MmaElement { return {n.index(places.cotangentAt(row, step))}; };
    return {form.rows, first, /*stepsInner=*/true, form.isCotangentWide(), places.cotangentBuffer(), at};
  }

  MmaSide windows(FilterGradPlaces &places, Value first) {
    auto at = [this, &places](Value column, Value step) -> MmaElement {
      auto [offset, isThere] = places.seenAt(column, step);
      return {n.index(offset), isThere};
    };
    return {form.columns(), first, /*stepsInner=*/true, form.isInputWide(), places.inputBuffer(), at};
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const FilterGradTf32Form form;
};

struct FilterGradTf32Emitter : ContractionEmitter {
  StringRef name() const override { return "conv_filter_grad_tf32"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    return dispatch.getTf32() && FilterGradTf32Form::of(filterGradientOf(dispatch));
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    FilterGradTf32Form form = *FilterGradTf32Form::of(filterGradientOf(dispatch));
    return {llvm::product_of(form.tiles()), form.shape.threads()};
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    FilterGradTf32Kernel(k, filterGradientOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuConvFilterGradTf32Emitter() {
  return std::make_unique<FilterGradTf32Emitter>();
}
