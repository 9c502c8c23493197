// Every row of the table of gradients, its function and its gradient, split at random: so every rule of an operation
// that has a gradient, and those of what gradients are made of, against the whole.
#include "dialects/NN/NNGradient.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/Gradients/Harness.h"
#include "test/unit/Shard/Ranks.h"
#include <gtest/gtest.h>
#include <random>

namespace sprig::shard {
namespace {

namespace dist = ir::dist;

class EveryRowTest : public testing::Test {
protected:
  EveryRowTest() { context.loadDialect<ir::NNDialect, dist::DistDialect, mlir::func::FuncDialect>(); }

  /// The row as a function of its arguments and a cotangent for each output, which gives the outputs and the gradients.
  mlir::OwningOpRef<mlir::ModuleOp> build(const gradients::Row &row, const std::string &mesh) {
    std::string text = "dist.mesh @mesh [\"a\", \"b\"] [" + mesh + "]\nfunc.func @f(";
    for (size_t i = 0; i < row.arguments.size(); ++i)
      text += (i ? ", %a" : "%a") + std::to_string(i) + ": tensor<" + row.arguments[i] + ">";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text + ") {\n" + row.body + "\nreturn\n}\n", &context);
    if (!module) return nullptr;
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    mlir::Block &block = function.getBody().front();
    mlir::Operation *end = block.getTerminator();
    mlir::OpBuilder b(end);
    auto isReal = [](mlir::Value value) {
      return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
    };
    llvm::SmallVector<mlir::Value> results(end->getPrevNode()->getResults()), outputs, targets, cotangents;
    llvm::copy_if(results, std::back_inserter(outputs), isReal);
    llvm::copy_if(block.getArguments(), std::back_inserter(targets), isReal);
    if (!row.isForwardOnly && !targets.empty()) {
      for (mlir::Value output : outputs) cotangents.push_back(block.addArgument(output.getType(), output.getLoc()));
      llvm::append_range(results, ir::GradientOp::create(b, function.getLoc(), mlir::ValueRange(targets).getTypes(),
                                                         outputs, cotangents, targets)
                                      .getResults());
    }
    end->setOperands(results);
    function.setFunctionType(b.getFunctionType(block.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
    mlir::PassManager passes(&context);
    passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
    return mlir::failed(passes.run(*module)) ? nullptr : std::move(module);
  }

  void split(mlir::ModuleOp module, std::mt19937_64 &random) {
    Mesh mesh(*module.getOps<dist::MeshOp>().begin());
    auto function = *module.getOps<mlir::func::FuncOp>().begin();
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      Sharding sharding = Sharding::replicated(type);
      for (unsigned axis : {0u, 1u})
        if (uint64_t place = random() % (sharding.dims.size() + 1); place < sharding.dims.size())
          sharding.dims[place].push_back(axis);
      if (i == 0 || random() % 2) function.setArgAttr(unsigned(i), dist::kShardingAttr, mesh.write(sharding));
    }
  }

  void check(const std::vector<gradients::Row> &rows) {
    std::mt19937_64 random(rows.size());
    for (const gradients::Row &row : rows)
      for (const char *mesh : {"2, 2", "3, 1", "1, 4"}) {
        auto module = build(row, mesh);
        ASSERT_TRUE(module) << row.name;
        auto function = *module->getOps<mlir::func::FuncOp>().begin();
        if (!function.getNumArguments()) continue;
        std::vector<interp::Tensor> inputs;
        for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
          auto pattern = i < row.patterns.size() ? row.patterns[i] : optable::Pattern{};
          inputs.push_back(optable::makeInput(llvm::cast<mlir::RankedTensorType>(type), pattern, i + 1));
        }
        split(*module, random);
        std::string text;
        llvm::raw_string_ostream(text) << *module;
        EXPECT_EQ(compareRanks(context, text, inputs).error, "") << row.name << "\n" << text;
      }
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(EveryRowTest, Elementwise) { check(gradients::elementwiseRows()); }
TEST_F(EveryRowTest, Contractions) { check(gradients::contractionRows()); }
TEST_F(EveryRowTest, Reductions) { check(gradients::reductionRows()); }
TEST_F(EveryRowTest, Shapes) { check(gradients::shapeRows()); }
TEST_F(EveryRowTest, Composites) { check(gradients::compositeRows()); }
TEST_F(EveryRowTest, Structure) { check(gradients::structureRows()); }

} // namespace
} // namespace sprig::shard
