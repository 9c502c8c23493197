#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "lib/Target/CUDA/CodeGen/ModuleRewrites.h"
#include "lib/Target/CodeGen/CodeModule.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace llvm;
using namespace sprig;
using namespace sprig::cuda;

// Buffers lie on 64 bytes (sprig/rt/kernel.h).
static constexpr uint64_t kBufferAlignment = 64;
// What the widest access of shared memory wants.
static constexpr uint64_t kSharedAlignment = 16;
static constexpr unsigned kSharedSpace = 3;

static std::string digits(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

std::string sprig::cuda::ptxHead(const CudaArch &arch) {
  return ".version " + digits(arch.ptx) + "\n.target " + arch.name() + "\n.address_size 64\n";
}

PtxEmitter::PtxEmitter(std::unique_ptr<TargetMachine> machine, int level) : machine(std::move(machine)), level(level) {}
PtxEmitter::PtxEmitter(PtxEmitter &&) = default;
PtxEmitter::~PtxEmitter() = default;

Expected<PtxEmitter> PtxEmitter::create(const CudaArch &arch, int level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  // With this system, pointers that kernels take are taken to be of global memory.
  Triple triple("nvptx64-nvidia-cuda");
  std::string why;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, why);
  if (!backend) return createStringError(inconvertibleErrorCode(), "no code generator for PTX: %s", why.c_str());
  TargetOptions options;
  // Only explicit multiply-adds are fused (docs/numerics.md): sums and products say that they round (`add.rn`), so
  // that ptxas does not fuse them either.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  static const CodeGenOptLevel levels[] = {CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
                                           CodeGenOptLevel::Aggressive};
  std::unique_ptr<TargetMachine> machine(
      backend->createTargetMachine(triple, arch.name(), "+ptx" + std::to_string(arch.ptx), options, std::nullopt,
                                   std::nullopt, levels[std::clamp(level, 0, 3)], /*JIT=*/false));
  if (!machine) return createStringError(inconvertibleErrorCode(), "no code generator for '%s'", arch.name().c_str());
  return PtxEmitter(std::move(machine), level);
}

// What kernels are promised, and what they are not to be taken for.
static void setAttributes(Module &module) {
  for (Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration()) continue;
    function.addFnAttr("no-builtins");
    if (function.getCallingConv() != CallingConv::PTX_Kernel) continue;
    AttrBuilder aligned(module.getContext());
    aligned.addAlignmentAttr(Align(kBufferAlignment));
    // The parameters are buffers, status, scratch memory, first tile; nothing is said of the status, nor more of a
    // buffer than is known already (GpuLowering.cpp).
    for (Argument &argument : function.args())
      if (argument.getType()->isPointerTy() && argument.getArgNo() + 3 != function.arg_size() &&
          !argument.getParamAlign())
        argument.addAttrs(aligned);
  }
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kSharedSpace && global.getAlign().valueOrOne() < kSharedAlignment)
      global.setAlignment(Align(kSharedAlignment));
}

// There is nothing on a device that kernels could call.
static Error refuseExternals(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return createStringError("they call '" + function.getName() + "', which no GPU has");
  return Error::success();
}

// LLVM's own head goes: files are made of the functions of several modules.
static Expected<StringRef> withoutHead(StringRef text) {
  StringRef last = ".address_size 64\n";
  size_t at = text.find(last);
  if (at == StringRef::npos) return createStringError("the PTX has no head");
  return text.substr(at + last.size()).ltrim('\n');
}

Expected<std::string> PtxEmitter::functions(mlir::gpu::GPUModuleOp source) {
  auto made = CodeModule::translate(source, *machine);
  if (!made) return made.takeError();
  CodeModule &code = **made;
  setAttributes(code.module());
  if (Error error = code.verify()) return error;
  if (Error error = refuseExternals(code.module())) return error;
  static const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                             OptimizationLevel::O3};
  code.optimise([&](PassBuilder &builder) {
    ModulePassManager passes = builder.buildPerModuleDefaultPipeline(levels[std::clamp(level, 0, 3)]);
    passes.addPass(createModuleToFunctionPassAdaptor(NarrowDivisions()));
    return passes;
  });
  moveFloatBits(code.module());
  auto file = code.write(CodeGenFileType::AssemblyFile);
  if (!file) return file.takeError();
  auto text = withoutHead(*file);
  if (!text) return text.takeError();
  // The code generator may have called functions of its own library for what the target has no instruction for.
  if (size_t at = text->find(".extern .func"); at != StringRef::npos)
    return createStringError("they call a function that no GPU has: " +
                             text->substr(at).take_until([](char c) { return c == ';'; }));
  return text->str();
}
