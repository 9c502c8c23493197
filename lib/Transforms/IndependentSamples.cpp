// The independent-samples pass: which entries compute each sample along the first axis from that sample alone.
#define GEN_PASS_DEF_INDEPENDENTSAMPLES
#include "lib/Transforms/Passes.h"
#include "dialects/NN/Attributes.h"
#include "lib/Transforms/SampleAxes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace sprig;

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
      at->second &= hasIndependentSamples(function);
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(ir::kIndependentSamplesAttr) || proved.lookup(nameOf(function))) continue;
      Operation *mixes = nullptr;
      hasIndependentSamples(function, &mixes);
      InFlightDiagnostic error = function.emitOpError("has '")
                                 << ir::kIndependentSamplesAttr << "', which cannot be proved";
      if (mixes) error.attachNote(mixes->getLoc()) << "'" << mixes->getName() << "' may mix samples";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (proved.lookup(nameOf(function))) function->setAttr(ir::kIndependentSamplesAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
