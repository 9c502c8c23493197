#include "lib/Target/CodeGen/CodeModule.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace sprig;

namespace {
// Without a handler, LLVM ends the process at the first error of its code generator.
struct KeepErrors : DiagnosticHandler {
  explicit KeepErrors(std::string &text) : text(text) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error) return true;
    raw_string_ostream stream(text);
    DiagnosticPrinterRawOStream printer(stream);
    if (!text.empty()) stream << "; ";
    info.print(printer);
    return true;
  }
  std::string &text;
};
} // namespace

static TargetLibraryInfoImpl noLibrary(const Module &module) {
  TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  return library;
}

CodeModule::CodeModule(TargetMachine &machine) : machine(machine) {
  context.setDiagnosticHandler(std::make_unique<KeepErrors>(errors));
}

Expected<std::unique_ptr<CodeModule>> CodeModule::translate(mlir::Operation *source, TargetMachine &machine) {
  std::unique_ptr<CodeModule> made(new CodeModule(machine));
  made->translated = mlir::translateModuleToLLVMIR(source, made->context, "sprig", /*disableVerification=*/true);
  if (!made->translated) return createStringError("kernels cannot be translated to LLVM IR");
  made->translated->setTargetTriple(machine.getTargetTriple());
  made->translated->setDataLayout(machine.createDataLayout());
  return made;
}

Error CodeModule::verify() {
  raw_string_ostream complaints(errors);
  if (verifyModule(*translated, &complaints)) return createStringError("kernels are invalid LLVM IR: " + errors);
  return Error::success();
}

void CodeModule::optimise(function_ref<ModulePassManager(PassBuilder &)> makePasses) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  functions.registerPass([&] { return TargetLibraryAnalysis(noLibrary(*translated)); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  makePasses(builder).run(*translated, modules);
}

Expected<std::string> CodeModule::write(CodeGenFileType type) {
  SmallVector<char> output;
  raw_svector_ostream out(output);
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(noLibrary(*translated)));
  if (machine.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true))
    return createStringError("no code generator for this form of output");
  passes.run(*translated);
  if (!errors.empty()) return createStringError(errors);
  return std::string(output.begin(), output.end());
}
