#include "lib/Schedule/ThreadCost.h"
#include "lib/Machine/AccessTime.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

// Tiles mostly follow rows, so that a thread meets its own part again: how much of it was another's.
static constexpr double kOthersShare = 1.0 / 8;

double sprig::secondsOfHandOff(double scattered, double streamed, const machine::MachineModel &model) {
  // Once there, and once back.
  return 2 * model.handOff + model.crossCore.seconds(scattered / model.kScatteredShare + streamed);
}

double ThreadCost::secondsOn(int64_t threads, const machine::MachineModel &model) const {
  threads = std::min(threads, tiles);
  if (threads < 2) return seconds;
  double most = double(llvm::divideCeil(tiles, threads)) / double(tiles);
  double shared = model.cachedBytes(sharedBytes) * double(threads - 1) / double(threads);
  double own = model.cachedBytes(ownBytes) * kOthersShare / double(threads);
  return seconds * most + secondsOfHandOff(shared, own, model);
}

// Operands that are constants wherever the kernel is used: they stay in the cache of the processor that reads its part
// of them in every run.
static llvm::DenseMap<StringRef, llvm::BitVector> findConstants(ModuleOp module) {
  llvm::DenseMap<StringRef, llvm::BitVector> constants;
  module.walk([&](exec::DispatchOp dispatch) {
    llvm::BitVector own(dispatch.getBuffers().size());
    for (auto [index, buffer] : llvm::enumerate(dispatch.getBuffers()))
      if (buffer.getDefiningOp<BufferOp>().getKind() == BufferKind::constant) own.set(unsigned(index));
    auto [place, fresh] = constants.try_emplace(dispatch.getKernel(), own);
    if (!fresh) place->second &= own;
  });
  return constants;
}

ThreadCosts::ThreadCosts(ModuleOp module, const machine::MachineModel &model) {
  llvm::DenseMap<StringRef, llvm::BitVector> constants = findConstants(module);
  SymbolTableCollection symbols;
  for (auto kernel : module.getOps<KernelOp>()) {
    if (kernel.isComposite()) continue;
    ThreadCost &cost = costs[kernel];
    cost.tiles = std::max<int64_t>(kernel.getTiles(), 1);
    cost.seconds = model.kernelSeconds(double(kernel.getFlops()), double(kernel.getBytes()));
    SmallVector<Touched> operands = kernel.getTouched(symbols);
    auto count = unsigned(operands.size());
    llvm::BitVector isConstant = constants.lookup(kernel.getSymName()), isCut(count);
    isConstant.resize(count);
    for (TileRangeAttr range : kernel.tileRanges()) isCut.set(unsigned(range.getOperand()));
    isCut.set(kernel.getNumInputs(), count);
    for (auto [index, touched] : llvm::enumerate(operands)) {
      cost.seconds += machine::accessSeconds(model, touched, double(kernel.getBytes()));
      if (!isConstant[unsigned(index)])
        (isCut[unsigned(index)] ? cost.ownBytes : cost.sharedBytes) += double(touched.total());
    }
  }
}
