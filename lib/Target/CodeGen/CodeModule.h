// Kernels as a module of LLVM's, from their translation to the code that a target machine makes of them.
// For targets, which bring the machine, attributes and passes of their own. What LLVM finds wrong is an error here,
// where it would end the process otherwise.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class PassBuilder;
class TargetMachine;
} // namespace llvm

namespace sprig {

class CodeModule {
public:
  /// Translates an operation in the dialects that LLVM IR is translated from.
  static llvm::Expected<std::unique_ptr<CodeModule>> translate(mlir::Operation *source, llvm::TargetMachine &machine);

  llvm::Module &module() { return *translated; }

  llvm::Error verify();
  /// Runs the passes that are made. No function is known to them by name, so that none is replaced by another (pow by a
  /// product, a loop by memset).
  void optimise(llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> makePasses);
  /// The machine's code, as text or an object.
  llvm::Expected<std::string> write(llvm::CodeGenFileType type);

private:
  explicit CodeModule(llvm::TargetMachine &machine);

  llvm::TargetMachine &machine;
  std::string errors;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated;
};

} // namespace sprig
