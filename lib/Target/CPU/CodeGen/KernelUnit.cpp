#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "lib/Target/OperationNames.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

StringRef sprig::cpu::codeFingerprint() {
  // Made by the build (cmake/SprigFingerprint.cmake).
  static const std::string text = std::string(
#include "lib/Target/CPU/CodeGen/Fingerprint.inc"
                                      ) +
                                  " LLVM " LLVM_VERSION_STRING;
  return text;
}

// An argument of a composite kernel, a piece of one, or memory of the thread.
static std::string describeOperand(Value buffer) {
  if (auto scratch = buffer.getDefiningOp<exec::ScratchOp>()) return "at " + std::to_string(scratch.getOffset());
  std::string argument = std::to_string(*exec::CallOp::argumentOf(buffer));
  if (!buffer.getDefiningOp<exec::PieceOp>()) return argument;
  return argument + " by " + std::to_string(exec::byteSize(buffer.getType()));
}

KernelUnits sprig::cpu::findKernelUnits(ModuleOp program) {
  KernelUnits result;
  llvm::StringMap<size_t> byStem;
  auto unitFor = [&](exec::KernelOp kernel, StringRef text) -> KernelUnit & {
    std::string stem = contentHash(text);
    auto [place, fresh] = byStem.try_emplace(stem, result.units.size());
    if (fresh) result.units.push_back({kernel, stem});
    result.unitOf[kernel] = place->second;
    return result.units[place->second];
  };
  llvm::StringMap<exec::KernelOp> leaves;
  for (auto kernel : program.getOps<exec::KernelOp>()) {
    if (kernel.isComposite()) continue;
    unitFor(kernel, describeForCode(kernel));
    leaves[kernel.getSymName()] = kernel;
  }
  for (auto kernel : program.getOps<exec::KernelOp>()) {
    if (!kernel.isComposite()) continue;
    std::string text = "composite of " + std::to_string(kernel.getTiles());
    for (auto call : kernel.getBody().getOps<exec::CallOp>()) {
      exec::KernelOp leaf = leaves.lookup(call.getKernel());
      KernelUnit &unit = result.units[result.unitOf.lookup(leaf)];
      unit.called = true;
      text += " " + unit.stem + " tiles " + std::to_string(leaf.getTiles()) + " ops " +
              std::to_string(kernelOpNames(leaf).size()) + " in " + std::to_string(call.firstTile()) + " to " +
              std::to_string(call.endTile()) + (call.getEach() ? " each:" : ":");
      for (Value buffer : call.getBuffers()) text += " " + describeOperand(buffer);
    }
    unitFor(kernel, text);
  }
  for (exec::KernelOp kernel : exec::launchedKernels(program))
    result.units[result.unitOf.lookup(kernel)].launched = true;
  return result;
}
