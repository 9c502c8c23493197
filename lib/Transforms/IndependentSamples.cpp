// The independent-samples pass: which entries compute each sample along the first axis from that sample alone.
#include "dialects/NN/Attributes.h"
#include "lib/Transforms/Passes.h"
#include "dialects/NN/NNState.h"
#include "lib/Transforms/SampleAxes.h"
#include "llvm/ADT/StringMap.h"

namespace sprig {
#define GEN_PASS_DEF_INDEPENDENTSAMPLES
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

// The common size of the first axis of everything that goes in and out; -1 when there is none.
static int64_t samplesOf(func::FuncOp function) {
  int64_t samples = -1;
  FunctionType type = function.getFunctionType();
  for (Type each : llvm::concat<const Type>(type.getInputs(), type.getResults())) {
    auto tensor = dyn_cast<RankedTensorType>(each);
    if (!tensor || !tensor.hasStaticShape() || tensor.getRank() == 0) return -1;
    if (samples >= 0 && tensor.getDimSize(0) != samples) return -1;
    samples = tensor.getDimSize(0);
  }
  return type.getNumInputs() ? samples : -1;
}

static bool isIndependent(func::FuncOp function) {
  int64_t samples = samplesOf(function);
  if (samples < 1 || !function.getBody().hasOneBlock()) return false;
  // State that is set is the work of the whole batch.
  if (!function.getBody().getOps<ir::SetParamOp>().empty()) return false;
  // Nor may a call become two where ranks meet in it.
  auto isOfRanks = [](Operation &op) { return op.getDialect() && op.getDialect()->getNamespace() == "dist"; };
  if (llvm::any_of(function.getBody().front(), isOfRanks)) return false;
  SampleAxes axes(samples);
  for (BlockArgument argument : function.getArguments()) axes.set(argument, 0);
  for (Operation &op : function.getBody().front().without_terminator()) axes.visit(&op);
  return llvm::all_of(function.getBody().front().getTerminator()->getOperands(),
                      [&](Value result) { return axes.get(result) == SampleAxis(0); });
}

namespace {
struct IndependentSamplesPass : sprig::impl::IndependentSamplesBase<IndependentSamplesPass> {
  void runOnOperation() override {
    // A batch of one proves little, as much looks like a sample axis there: entries for several sizes of one model are
    // marked together or not at all.
    llvm::StringMap<bool> proved;
    auto nameOf = [](func::FuncOp function) {
      auto entry = function->getAttrOfType<StringAttr>(ir::kEntryAttr);
      return entry ? entry.getValue() : function.getSymName();
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      auto [at, fresh] = proved.try_emplace(nameOf(function), true);
      at->second &= isIndependent(function);
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (proved.lookup(nameOf(function))) function->setAttr(ir::kIndependentSamplesAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
