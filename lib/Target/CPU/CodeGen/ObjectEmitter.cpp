#include "lib/Target/CPU/CodeGen/ObjectEmitter.h"
#include "lib/Target/CodeGen/CodeModule.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;
using namespace sprig;
using namespace sprig::cpu;

static CodeGenOptLevel codeGenLevel(CodeGenLevel level) {
  switch (level) {
  case CodeGenLevel::None: return CodeGenOptLevel::None;
  case CodeGenLevel::Less: return CodeGenOptLevel::Less;
  case CodeGenLevel::Default: return CodeGenOptLevel::Default;
  case CodeGenLevel::Aggressive: return CodeGenOptLevel::Aggressive;
  }
  return CodeGenOptLevel::Default;
}

static Expected<std::unique_ptr<TargetMachine>> createMachine(const CpuArch &target, CodeGenLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser(); // of the assembly that kernels contain
  });
  Triple triple("x86_64-unknown-linux-gnu");
  std::string why;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, why);
  if (!backend) return createStringError(inconvertibleErrorCode(), "no code generator for x86-64: %s", why.c_str());
  TargetOptions options;
  // Only explicit FMA operations are fused (docs/numerics.md).
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_, CodeModel::Small, codeGenLevel(level), /*JIT=*/false));
  if (!machine) return createStringError(inconvertibleErrorCode(), "no code generator for '%s'", target.cpu.c_str());
  return machine;
}

static void setFunctionAttributes(Module &module, const CpuArch &target) {
  std::string width = std::to_string(target.vectorBytes * 8);
  for (Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration()) continue;
    // LLVM prefers narrower vectors on some processors for the sake of mixed code; kernels are all vectors.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-builtins");
    // Whether vectors that do not fit the registers go to whole lines of the stack is settled before it is known
    // whether there are any; on lines cut in two a convolution took 1.4 times as long, by where the caller's stack
    // happened to end.
    function.addFnAttr("stackrealign");
    // Symbols resolve inside the image or through its stubs: no global offset table.
    function.setDSOLocal(true);
  }
}

// MLIR has vectorised already: the full middle end would cost most of the compile time and find nothing.
static ModulePassManager passesOf(PassBuilder &) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  ModulePassManager manager;
  manager.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  return manager;
}

ObjectEmitter::ObjectEmitter(std::unique_ptr<TargetMachine> machine, const CpuArch &target, CodeGenLevel level)
    : machine(std::move(machine)), target(target), level(level) {}
ObjectEmitter::ObjectEmitter(ObjectEmitter &&) = default;
ObjectEmitter::~ObjectEmitter() = default;

Expected<ObjectEmitter> ObjectEmitter::create(const CpuArch &target, CodeGenLevel level) {
  auto machine = createMachine(target, level);
  if (!machine) return machine.takeError();
  return ObjectEmitter(std::move(*machine), target, level);
}

Expected<std::string> ObjectEmitter::translate(mlir::ModuleOp source, CodeForm form) {
  auto made = CodeModule::translate(source, *machine);
  if (!made) return made.takeError();
  CodeModule &code = **made;
  setFunctionAttributes(code.module(), target);
  if (Error error = code.verify()) return error;
  if (level != CodeGenLevel::None) code.optimise(passesOf);

  if (form == CodeForm::LLVM) {
    std::string ir;
    raw_string_ostream out(ir);
    code.module().print(out, nullptr);
    return ir;
  }
  return code.write(form == CodeForm::Assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile);
}

Expected<std::string> sprig::cpu::translateKernelModule(mlir::ModuleOp source, const CpuArch &target,
                                                        const CodeGenOptions &options, CodeForm form) {
  auto emitter = ObjectEmitter::create(target, options.level);
  if (!emitter) return emitter.takeError();
  return emitter->translate(source, form);
}
