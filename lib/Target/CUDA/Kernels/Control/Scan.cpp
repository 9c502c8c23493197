// nn.scan: all steps in one kernel. A block has some rows, which go through time on their own.
#include "lib/Target/CUDA/Kernels/Control/ScanStep.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/Kernels/ControlPlaces.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static std::optional<ScanForm> scanFormOf(kernel::DispatchOp dispatch) {
  ir::ScanOp scan = controlIn<ir::ScanOp>(dispatch);
  std::string why;
  return scan ? ScanForm::analyze(scan, why) : std::nullopt;
}

namespace {
struct GpuScanEmitter : GpuEmitter {
  StringRef name() const override { return "scan"; }
  bool matches(kernel::DispatchOp dispatch) const override { return scanFormOf(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ScanForm form = *scanFormOf(dispatch);
    return {form.blocks(), form.threads};
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    ScanForm form = *scanFormOf(dispatch);
    ir::ScanOp scan = controlIn<ir::ScanOp>(dispatch);
    // There are few blocks, so that registers are better spent than kept for more of them.
    k.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), k.b.getI32IntegerAttr(1));
    GpuScanStep step(k, scan, form, tile);
    step.loadInitial();
    step.storeLast(loopOverTime(k, scan, [&](Value time, Value parity) { step.emit(time, parity); }));
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuScanEmitter() { return std::make_unique<GpuScanEmitter>(); }

bool sprig::cuda::takesScanOnCuda(ir::ScanOp scan, std::string &why) {
  std::optional<ScanForm> form = ScanForm::analyze(scan, why);
  return form && form->pays(why);
}
