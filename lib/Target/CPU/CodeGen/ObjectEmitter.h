// From the LLVM dialect to LLVM IR, assembly and objects.
// For compileKernels and `--emit`. One per thread and target: the code generator is kept from module to module. What it
// makes of a module does not depend on the modules before.
#pragma once
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace sprig::cpu {

class ObjectEmitter {
public:
  static llvm::Expected<ObjectEmitter> create(const CpuArch &target, CodeGenLevel level);
  ObjectEmitter(ObjectEmitter &&);
  ~ObjectEmitter();

  llvm::Expected<std::string> translate(mlir::ModuleOp module, CodeForm form);

private:
  ObjectEmitter(std::unique_ptr<llvm::TargetMachine> machine, const CpuArch &target, CodeGenLevel level);

  std::unique_ptr<llvm::TargetMachine> machine;
  CpuArch target;
  CodeGenLevel level;
};

} // namespace sprig::cpu
