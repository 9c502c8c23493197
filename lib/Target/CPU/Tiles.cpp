#include "lib/Target/CPU/CpuTarget.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Machine/Cpu.h"
#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "sprig/error.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// The element type of a dispatch that has register tiles to choose; null for any other.
static Type packedElement(kernel::DispatchOp dispatch) {
  for (Operation &op : dispatch.getBody().front())
    if (isa<kernel::MatmulPackedOp, kernel::ConvPackedOp>(op)) return getElementTypeOrSelf(op.getResult(0).getType());
  return {};
}

// In the order in which they are tried; the compiler's own first.
static SmallVector<Attribute> candidates(MLIRContext *context, const CpuArch &arch, Type elementType) {
  context->getOrLoadDialect<kernel::KernelDialect>();
  SmallVector<Attribute> tiles{Attribute()};
  int64_t wide = std::max<int64_t>(1, 64 / arch.vectorBytes * storageBytes(elementType) / 4);
  for (int64_t vectors : {2, 1, 4, 8})
    for (int64_t rows : {14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1}) {
      int64_t registers = (rows + 1) * vectors * wide + 1;
      // More than there are would spill; far fewer leave the multiply-adds waiting for one another.
      if (registers <= arch.vectorRegisters && registers * 4 >= arch.vectorRegisters)
        tiles.push_back(kernel::RegisterTileAttr::get(context, rows, vectors));
    }
  return tiles;
}

TileChoices sprig::cpu::registerTileChoices(kernel::DispatchOp dispatch, const CompileOptions &options) {
  Type elementType = packedElement(dispatch);
  if (!elementType) return {};
  if (!llvm::is_contained(options.architectures, "native"))
    badUse("tuning times code on this machine: it goes with the instruction set native, not " +
           llvm::join(options.architectures, ","));
  static const std::string model = machine::readCpu().model;
  auto set = instructionSetByName("native");
  if (!set) unsupported(llvm::toString(set.takeError()));
  std::string machine = model + "\n" + set->level + " " + llvm::join(set->features, ",") + "\n" +
                        std::to_string(options.threads) + "\n" + codeFingerprint().str() + "\n";
  return {contentHash(machine + identityOf(dispatch)), candidates(dispatch.getContext(), set->arch, elementType)};
}
