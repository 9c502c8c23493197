#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/Passes.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"

using namespace mlir;

namespace sprig::cuda {
#define GEN_PASS_DEF_EMITPTX
#define GEN_PASS_REGISTRATION
#define GEN_PASS_DECL
#include "lib/Target/CUDA/CodeGen/Passes.h.inc"

namespace {
struct EmitPtx : impl::EmitPtxBase<EmitPtx> {
  using EmitPtxBase::EmitPtxBase;

  void getDependentDialects(DialectRegistry &registry) const override { registerGpuDialects(registry); }
  void runOnOperation() override {
    auto refuse = [&](llvm::Error error) {
      getOperation().emitError(llvm::toString(std::move(error)));
      signalPassFailure();
    };
    auto named = cudaArchByName(arch);
    if (!named) return refuse(named.takeError());
    auto emitter = PtxEmitter::create(*named, level);
    if (!emitter) return refuse(emitter.takeError());
    auto text = emitter->functions(getOperation());
    if (!text) return refuse(text.takeError());
    llvm::outs() << ptxHead(*named) << '\n' << *text;
  }
};
} // namespace

void registerCudaCodeGenPasses() { registerCudaPasses(); }
} // namespace sprig::cuda
