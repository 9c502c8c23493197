// Errors of the f64 functions against those of long double, over all exponents, and their special values.
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "lib/Target/Math/ExpandMath.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace {

class ExpandDouble : public testing::Test {
protected:
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);

  void SetUp() override {
    auto set = sprig::instructionSetByName("x86-64-v3");
    ASSERT_TRUE(bool(set)) << llvm::toString(set.takeError());
    context.loadDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect, mlir::vector::VectorDialect>();
    mlir::registerBuiltinDialectTranslation(context);
    mlir::registerLLVMDialectTranslation(context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @exp(%x: f64) -> f64 { %r = math.exp %x : f64  return %r : f64 }
      func.func @log(%x: f64) -> f64 { %r = math.log %x : f64  return %r : f64 }
      func.func @pow(%x: f64, %y: f64) -> f64 { %r = math.powf %x, %y : f64  return %r : f64 }
    )",
                                                          &context);
    ASSERT_TRUE(module);
    mlir::RewritePatternSet patterns(&context);
    sprig::populateSprigDoubleMathPatterns(patterns);
    ASSERT_TRUE(mlir::succeeded(mlir::applyPatternsGreedily(*module, std::move(patterns))));
    ASSERT_TRUE(mlir::succeeded(sprig::lowerKernelsToLLVM(*module, set->arch)));
    auto object = sprig::translateKernelModule(*module, set->arch, {}, sprig::CodeForm::Object);
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    llvm::InitializeNativeTarget();
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object)));
    exp = llvm::cantFail(jit->lookup("exp")).toPtr<Unary>();
    log = llvm::cantFail(jit->lookup("log")).toPtr<Unary>();
    pow = llvm::cantFail(jit->lookup("pow")).toPtr<Binary>();
  }

  /// Distance in units of the last place; infinite for a wrong special value.
  static double errorInUlp(double got, long double want) {
    auto nearest = static_cast<double>(want);
    if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) == std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(nearest) || std::isinf(got) || nearest == 0) {
      bool isNear = nearest == 0 && std::abs(got) <= std::numeric_limits<double>::denorm_min();
      return nearest == got || isNear ? 0 : INFINITY;
    }
    int exponent = std::max(std::ilogb(nearest), -1022);
    return double(std::abs(got - want) / std::ldexp(1.0L, exponent - 52));
  }

  mlir::MLIRContext context;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Unary exp = nullptr, log = nullptr;
  Binary pow = nullptr;
  std::mt19937_64 random{1};
  double anyOf(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }
  double anyBits() { return llvm::bit_cast<double>(random()); }
};

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kCount = 100'000;

TEST_F(ExpandDouble, ExponentialsAreWithinAnUlp) {
  double worst = 0;
  for (int i = 0; i < kCount; ++i)
    for (double x : {anyOf(-745, 709.7), anyOf(-1, 1), anyBits()})
      worst = std::max(worst, errorInUlp(exp(x), std::exp(static_cast<long double>(x))));
  EXPECT_LT(worst, 1);
  EXPECT_EQ(exp(kInf), kInf);
  EXPECT_EQ(exp(-kInf), 0);
  EXPECT_EQ(exp(0), 1);
  EXPECT_TRUE(std::isnan(exp(kNan)));
}

TEST_F(ExpandDouble, LogarithmsAreWithinAnUlp) {
  double worst = 0;
  for (int i = 0; i < kCount; ++i)
    for (double x : {anyOf(0, 2), anyOf(0.99, 1.01), std::abs(anyBits()), std::ldexp(anyOf(0, 1), -1050)})
      worst = std::max(worst, errorInUlp(log(x), std::log(static_cast<long double>(x))));
  EXPECT_LT(worst, 1);
  EXPECT_EQ(log(0), -kInf);
  EXPECT_EQ(log(-0.0), -kInf);
  EXPECT_EQ(log(1), 0);
  EXPECT_EQ(log(kInf), kInf);
  EXPECT_TRUE(std::isnan(log(-1)));
  EXPECT_TRUE(std::isnan(log(-kInf)));
  EXPECT_TRUE(std::isnan(log(kNan)));
}

TEST_F(ExpandDouble, PowersAreWithinALittleMore) {
  double worst = 0;
  auto compare = [&](double x, double y) {
    worst = std::max(worst, errorInUlp(pow(x, y), std::pow(static_cast<long double>(x), y)));
  };
  for (int i = 0; i < kCount; ++i) {
    compare(anyOf(0, 3), anyOf(-600, 600));
    compare(std::abs(anyBits()), anyOf(-2, 2));
    compare(-anyOf(0, 10), std::floor(anyOf(-200, 200)));
    // What Adam corrects its means by.
    compare(0.9, std::floor(anyOf(0, 7000)));
    compare(0.999, std::floor(anyOf(0, 800'000)));
  }
  EXPECT_LT(worst, 1.2);
}

TEST_F(ExpandDouble, SpecialPowersAreThoseOfTheLibrary) {
  const double values[] = {0., -0., 0.5, -0.5, 1, -1, 2, -2, 3, -3, 1e300, -1e300, 1e-310, -1e-310, kInf, -kInf, kNan};
  for (double x : values)
    for (double y : values) {
      double got = pow(x, y), want = std::pow(x, y);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got)) << x << ' ' << y << ' ' << got;
      else
        EXPECT_TRUE(got == want ? std::signbit(got) == std::signbit(want) : errorInUlp(got, want) < 4)
            << x << ' ' << y << ": " << got << ", expected " << want;
    }
}

} // namespace
