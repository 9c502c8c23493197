// Every operation of nn has a gradient that the table compares, or says why it has none.
#include "dialects/NN/NNDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "test/unit/Gradients/Harness.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

namespace sprig::gradients {
namespace {

TEST(Gradients, Elementwise) { check(elementwiseRows()); }
TEST(Gradients, Contractions) { check(contractionRows()); }
TEST(Gradients, Reductions) { check(reductionRows()); }
TEST(Gradients, Shapes) { check(shapeRows()); }
TEST(Gradients, Composites) { check(compositeRows()); }
TEST(Gradients, Structure) { check(structureRows()); }

TEST(Gradients, EveryOperationHasARowOrIsMarked) {
  mlir::MLIRContext context;
  context.loadDialect<ir::NNDialect>();
  llvm::StringSet<> inRows;
  for (auto rows : {elementwiseRows, contractionRows, reductionRows, shapeRows, compositeRows, structureRows})
    for (const std::string &name : operationsIn(rows())) inRows.insert(name);
  int count = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn")) {
    ++count;
    std::string text = name.getStringRef().str();
    bool isMarked = name.hasTrait<NoGradient>(), hasRule = name.hasInterface<DifferentiableOpInterface>();
    // The mark comes first: what is marked may still be spelled out as primitives, behind which no gradient is asked
    // for.
    bool differentiates = hasRule || (!isMarked && name.hasInterface<DecomposableOpInterface>());
    if (name.hasTrait<mlir::OpTrait::ZeroResults>()) continue; // terminators, declarations, updates of state
    EXPECT_NE(isMarked, differentiates) << text << " is " << (isMarked ? "marked and differentiable" : "neither");
    if (differentiates) EXPECT_TRUE(inRows.contains(text)) << text << " is in no row";
  }
  EXPECT_GE(count, 110);
}

} // namespace
} // namespace sprig::gradients
