#define GEN_PASS_DEF_REPORTEMITTERS
#include "lib/Transforms/Passes.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;

namespace {
struct ReportEmitters : sprig::impl::ReportEmittersBase<ReportEmitters> {
  using ReportEmittersBase::ReportEmittersBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getContext()->getRemarkEngine()) return; // nobody listens, and each emitter would be asked
    const Target *device = targetForPass(function, target);
    if (!device) return signalPassFailure();
    function.walk([&](kernel::DispatchOp dispatch) {
      StringRef emitter = device->emitterOf(dispatch);
      if (emitter.empty()) return;
      std::string label = dispatch.getLabel() ? " '" + dispatch.getLabel()->str() + "'" : "";
      remark::passed(dispatch.getLoc(), remark::RemarkOpts::name("emitter").category("fuse"))
          << ("kernel" + label + " by the emitter '" + emitter + "'").str();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
