#include "lib/Frontend/Bridge/Derive.h"
#include "dialects/NN/Attributes.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Transforms/Marks.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace sprig::frontend::bridge {

void runPasses(PassManager &passes, Operation *op) {
  DiagnosticText diagnostics(op->getContext());
  if (succeeded(passes.run(op))) return;
  std::string text = diagnostics.take();
  unsupported(text.empty() ? "a pass of the compiler failed" : withoutOpNames(text));
}

void derive(func::FuncOp function, Derivation derivation) {
  MLIRContext *context = function.getContext();
  PassManager passes(context, func::FuncOp::getOperationName());
  passes.enableVerifier(false);
  if (derivation == Derivation::differentiate) {
    function->setAttr(kKeepMarksAttr, UnitAttr::get(context)); // a gradient may be asked of the gradient
    passes.addPass(createDifferentiate());
  }
  if (derivation == Derivation::decompose) passes.addPass(createDecompose());
  passes.addPass(createFoldConstants({.exact = true}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  runPasses(passes, function);
  // Names of sums are for ranks.
  if (!function->hasAttr(ir::kPassesAttr))
    function.walk([](Operation *op) { op->removeDiscardableAttr(ir::kSumAttr); });
}

} // namespace sprig::frontend::bridge
