// Bisection against compilers with a known fault: one that mistakes an operation, and one that does so only where the
// operation before it has no output of its own.
#include "lib/Interpreter/Bisect.h"
#include "dialects/NN/NNUnary.h"
#include "test/unit/Interpreter/ModuleFixture.h"

namespace sprig::interp {
namespace {

constexpr llvm::StringLiteral kModel = R"mlir(
nn.param @w = dense<[[0.5, -1.0], [2.0, 0.25]]> : tensor<2x2xf32>
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = nn.get_param @w : tensor<2x2xf32>
  %h = nn.matmul %x, %w : tensor<3x2xf32>, tensor<2x2xf32>
  %a = nn.tanh %h : tensor<3x2xf32>
  %b = nn.exp %a : tensor<3x2xf32>
  %c = nn.sigmoid %b : tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}
)mlir";

class BisectTest : public ModuleFixture {
protected:
  mlir::FailureOr<BisectReport> bisectWith(const CompileAndRun &compile, BisectOptions options = {}) {
    module = parse(kModel);
    auto type = mlir::RankedTensorType::get({3, 2}, mlir::Float32Type::get(&context));
    std::vector<Tensor> inputs = {Tensor::ofFloats(type, {0.5, 1, -1, 2, 0.25, -0.75})};
    return bisect(*module, "main", inputs, compile, options);
  }
  static mlir::FailureOr<llvm::SmallVector<Tensor>> interpret(mlir::ModuleOp module, llvm::StringRef entry,
                                                              llvm::ArrayRef<Tensor> inputs) {
    return run(module.lookupSymbol<mlir::func::FuncOp>(entry), inputs);
  }
  // exp becomes expm1.
  static void mistake(mlir::ModuleOp module, bool (*where)(ir::ExpOp)) {
    module.walk([&](ir::ExpOp op) {
      if (!where(op)) return;
      mlir::OpBuilder builder(op);
      auto wrong = ir::createChecked<ir::Expm1Op>(builder, op.getLoc(), op->getOperands());
      op.getResult().replaceAllUsesWith(wrong->getResult());
    });
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(BisectTest, AgreesWithItself) {
  auto report = bisectWith(interpret);
  ASSERT_TRUE(mlir::succeeded(report));
  EXPECT_EQ(report->operation, nullptr);
  EXPECT_EQ(report->operations, 4);
}

TEST_F(BisectTest, NamesTheOperationWhateverTheChunk) {
  for (int64_t chunk : {1, 2, 64}) {
    BisectOptions options;
    options.chunkOperations = chunk;
    auto report = bisectWith(
        [](mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs) {
          mistake(module, [](ir::ExpOp) { return true; });
          return interpret(module, entry, inputs);
        },
        options);
    ASSERT_TRUE(mlir::succeeded(report));
    ASSERT_TRUE(llvm::isa_and_nonnull<ir::ExpOp>(report->operation));
    EXPECT_FALSE(report->onlyWhenFused);
    EXPECT_NEAR(report->difference.error, 1, 1e-6);
    EXPECT_NEAR(report->difference.want - report->difference.got, 1, 1e-6);
  }
}

TEST_F(BisectTest, NamesWhatIsWrongOnlyWhenFused) {
  auto report = bisectWith([](mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs) {
    mistake(module, [](ir::ExpOp op) { return op.getOperand().hasOneUse(); });
    return interpret(module, entry, inputs);
  });
  ASSERT_TRUE(mlir::succeeded(report));
  ASSERT_TRUE(llvm::isa_and_nonnull<ir::ExpOp>(report->operation));
  EXPECT_TRUE(report->onlyWhenFused);
}

TEST_F(BisectTest, PassesOnFailures) {
  auto report = bisectWith([](mlir::ModuleOp, llvm::StringRef, llvm::ArrayRef<Tensor>) {
    return mlir::FailureOr<llvm::SmallVector<Tensor>>(mlir::failure());
  });
  EXPECT_TRUE(mlir::failed(report));
}

} // namespace
} // namespace sprig::interp
