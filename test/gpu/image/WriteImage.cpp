// LLVM IR to a shared object for this host.
#include "test/gpu/image/ImageBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <stdexcept>

using namespace llvm;

static std::unique_ptr<TargetMachine> createMachine() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  Triple triple("x86_64-unknown-linux-gnu");
  std::string why;
  const Target *backend = TargetRegistry::lookupTarget(triple, why);
  if (!backend) throw std::runtime_error("no code generator for x86-64: " + why);
  TargetOptions options;
  // Only PTX's own fma is fused: mul and add round twice.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  // v3 for fma and the conversions of f16, which would be calls into libraries else.
  return std::unique_ptr<TargetMachine>(backend->createTargetMachine(
      triple, "x86-64-v3", "", options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default, /*JIT=*/false));
}

static void optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  // Memory of other threads is read and written between any two hooks: no loop becomes a call that the image cannot
  // make.
  TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(module, modules);
}

static void link(const std::string &object, const std::string &path) {
  std::string error;
  StringRef arguments[] = {SPRIG_LINKER, "-shared", "-z", "defs", "-o", path, object};
  if (sys::ExecuteAndWait(SPRIG_LINKER, arguments, std::nullopt, {}, 0, 0, &error) != 0)
    throw std::runtime_error("'" SPRIG_LINKER "' does not link '" + path + "'" + (error.empty() ? "" : ": " + error));
}

void sprig::gpu::writeImage(Module &module, const std::string &path) {
  std::unique_ptr<TargetMachine> machine = createMachine();
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  optimise(module, *machine);

  // Beside the result, so that the rename at the end is one step: another process may be making the same image.
  SmallString<128> object, image;
  if (std::error_code code = sys::fs::createUniqueFile(path + "-%%%%%%.o", object))
    throw std::runtime_error("cannot write '" + path + "': " + code.message());
  sys::fs::createUniqueFile(path + "-%%%%%%", image);
  {
    std::error_code code;
    raw_fd_ostream out(object, code);
    legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::ObjectFile))
      throw std::runtime_error("no objects can be made");
    passes.run(module);
  }
  std::string failure;
  try {
    link(std::string(object), std::string(image));
    if (std::error_code code = sys::fs::rename(image, path)) failure = "cannot write '" + path + "': " + code.message();
  } catch (const std::runtime_error &error) {
    failure = error.what();
  }
  sys::fs::remove(object);
  sys::fs::remove(image);
  if (!failure.empty()) throw std::runtime_error(failure);
}
