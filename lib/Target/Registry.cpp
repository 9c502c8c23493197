#include "lib/Target/Registry.h"
#include "lib/Target/CPU/CpuTarget.h"
#include "lib/Target/CUDA/CudaTarget.h"
#include "lib/Target/Mixed/MixedTarget.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sprig;

static SmallVector<const Target *> &list() {
  static SmallVector<const Target *> list = [] {
    const Target *cpu = cpu::createCpuTarget().release(), *cuda = cuda::createCudaTarget().release();
    return SmallVector<const Target *>{cpu, cuda, createMixedTarget(*cpu, *cuda).release()};
  }();
  return list;
}

ArrayRef<const Target *> sprig::targets() { return list(); }

llvm::Expected<const Target *> sprig::targetByKind(StringRef kind) {
  SmallVector<StringRef> kinds;
  for (const Target *target : targets()) {
    if (target->kind() == kind) return target;
    kinds.push_back(target->kind());
  }
  return llvm::createStringError("there is no target '" + kind + "'; the targets are " + llvm::join(kinds, ", "));
}

const Target *sprig::targetForPass(Operation *at, StringRef kind) {
  auto target = targetByKind(kind);
  if (target) return *target;
  at->emitError(llvm::toString(target.takeError()));
  return nullptr;
}

std::optional<machine::MachineModel> sprig::machineForPass(Operation *at, StringRef kind,
                                                           ArrayRef<std::string> architectures) {
  const Target *target = targetForPass(at, kind);
  if (!target) return std::nullopt;
  CompileOptions options;
  if (!architectures.empty()) options.architectures.assign(architectures.begin(), architectures.end());
  return target->machine(options);
}

void sprig::addTarget(std::unique_ptr<Target> target) {
  assert(llvm::none_of(targets(), [&](const Target *other) { return other->kind() == target->kind(); }) &&
         "two targets of one kind");
  list().push_back(target.release());
}
