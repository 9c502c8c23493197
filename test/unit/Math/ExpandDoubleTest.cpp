// Errors of the f64 functions against those of long double, over all exponents, and their special values; remainders,
// bit for bit.
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

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kCount = 20'000;

class ExpandDouble : public testing::Test {
protected:
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);

  // Compiled once for all tests.
  static void SetUpTestSuite() {
    mlir::MLIRContext context;
    auto set = sprig::cpu::instructionSetByName("x86-64-v3");
    ASSERT_TRUE(bool(set)) << llvm::toString(set.takeError());
    context.loadDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect, mlir::vector::VectorDialect>();
    mlir::registerBuiltinDialectTranslation(context);
    mlir::registerLLVMDialectTranslation(context);
    std::string text = R"(
      func.func @pow(%x: f64, %y: f64) -> f64 { %r = math.powf %x, %y : f64  return %r : f64 }
      func.func @rem(%x: f64, %y: f64) -> f64 { %r = arith.remf %x, %y : f64  return %r : f64 }
      func.func @rem32(%x: f32, %y: f32) -> f32 { %r = arith.remf %x, %y : f32  return %r : f32 }
      func.func @vectors(%x: f64, %y: f64) -> f64 {
        %a = vector.from_elements %y, %x : vector<2xf64>
        %b = vector.from_elements %x, %y : vector<2xf64>
        %r = arith.remf %a, %b : vector<2xf64>
        %s = math.sin %r : vector<2xf64>
        %e = vector.extract %s[1] : f64 from vector<2xf64>
        return %e : f64
      }
    )";
    for (const char *name : {"exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
                             "cosh", "tanh", "asinh", "acosh", "atanh", "erf"})
      text +=
          "func.func @" + std::string(name) + "(%x: f64) -> f64 { %r = math." + name + " %x : f64  return %r : f64 }";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    mlir::RewritePatternSet patterns(&context);
    sprig::populateSprigLibraryMathPatterns(patterns);
    ASSERT_TRUE(mlir::succeeded(mlir::applyPatternsGreedily(*module, std::move(patterns))));
    ASSERT_TRUE(mlir::succeeded(sprig::cpu::lowerKernelsToLLVM(*module, set->arch)));
    auto object = sprig::cpu::translateKernelModule(*module, set->arch, {}, sprig::cpu::CodeForm::Object);
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    llvm::InitializeNativeTarget();
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object)));
    exp = unary("exp");
    log = unary("log");
    pow = llvm::cantFail(jit->lookup("pow")).toPtr<Binary>();
  }
  static void TearDownTestSuite() { jit.reset(); }
  static Unary unary(const char *name) { return llvm::cantFail(jit->lookup(name)).toPtr<Unary>(); }

  /// The largest error of a function on what `draw` gives.
  double worstOf(const char *name, long double (*exact)(long double), llvm::function_ref<double()> draw) {
    Unary function = unary(name);
    double worst = 0;
    for (int i = 0; i < kCount; ++i) {
      double x = draw(), error = errorInUlp(function(x), exact(x));
      if (std::isinf(error))
        ADD_FAILURE() << name << " of " << x << ": " << function(x) << ", expected " << double(exact(x));
      worst = std::max(worst, error);
      if (std::isinf(worst)) break;
    }
    return worst;
  }
  /// Zeros, infinities, NaN, ends of domains and denormals.
  void compareSpecials(const char *name, double (*library)(double)) {
    Unary function = unary(name);
    for (double x : {0., -0., 1., -1., 2., -2., 1e300, -1e300, 1e-310, -1e-310, 5e-324, kInf, -kInf, kNan}) {
      double got = function(x), want = library(x);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got)) << name << " of " << x << ": " << got;
      else
        EXPECT_TRUE(std::signbit(got) == std::signbit(want) && (got == want || errorInUlp(got, want) < 2))
            << name << " of " << x << ": " << got << ", expected " << want;
    }
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

  static inline std::unique_ptr<llvm::orc::LLJIT> jit;
  static inline Unary exp, log;
  static inline Binary pow;
  std::mt19937_64 random{1};
  double anyOf(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }
  double anyBits() { return llvm::bit_cast<double>(random()); }
};

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

TEST_F(ExpandDouble, OtherFunctionsAreWithinAnUlp) {
  struct Case {
    const char *name;
    long double (*exact)(long double);
    double (*library)(double);
    std::vector<std::pair<double, double>> ranges;
  };
  const Case cases[] = {
      {"expm1", std::expm1, std::expm1, {{-40, 709}, {-1, 1}, {-0.01, 0.01}}},
      {"log1p", std::log1p, std::log1p, {{-1, 3}, {-0.01, 0.01}}},
      {"sin", std::sin, std::sin, {{-10, 10}, {-1e6, 1e6}, {-1e9, 1e9}}},
      {"cos", std::cos, std::cos, {{-10, 10}, {-1e6, 1e6}, {-1e9, 1e9}}},
      {"tan", std::tan, std::tan, {{-10, 10}, {-1e6, 1e6}, {-1e9, 1e9}}},
      {"asin", std::asin, std::asin, {{-1, 1}, {0.999, 1}}},
      {"acos", std::acos, std::acos, {{-1, 1}, {0.999, 1}}},
      {"atan", std::atan, std::atan, {{-5, 5}, {0.2, 0.3}, {0.7, 1.5}}},
      {"sinh", std::sinh, std::sinh, {{-710, 710}, {-3, 3}}},
      {"cosh", std::cosh, std::cosh, {{-710, 710}, {-3, 3}}},
      {"tanh", std::tanh, std::tanh, {{-20, 20}, {-1, 1}}},
      {"asinh", std::asinh, std::asinh, {{-10, 10}, {-0.5, 0.5}, {0, 1e10}}},
      {"acosh", std::acosh, std::acosh, {{1, 10}, {1, 1.01}, {1, 1e10}}},
      {"atanh", std::atanh, std::atanh, {{-1, 1}, {-0.1, 0.1}}},
      {"erf", std::erf, std::erf, {{-6, 6}, {-1.2, 1.2}}},
  };
  for (const Case &c : cases) {
    for (auto [low, high] : c.ranges)
      EXPECT_LT(worstOf(c.name, c.exact, [&] { return anyOf(low, high); }), 1) << c.name;
    EXPECT_LT(worstOf(c.name, c.exact, [&] { return anyBits(); }), 1) << c.name;
    // Exponents around those of 1, which bits draw rarely.
    EXPECT_LT(worstOf(c.name, c.exact, [&] { return std::ldexp(anyOf(-1, 1), int(anyOf(-60, 30))); }), 1) << c.name;
    compareSpecials(c.name, c.library);
  }
}

// The double closest to a multiple of pi/2, and other numbers that need many bits of it.
TEST_F(ExpandDouble, AnglesNearMultiplesOfHalfPiKeepTheirBits) {
  auto sin = unary("sin"), cos = unary("cos"), tan = unary("tan");
  for (double x : {0x1.6ac5b262ca1ffp+849, 6381956970095103. * 0x1p797, 1e22, 0x1p1023, 0x1.fffffffffffffp+1023, M_PI,
                   M_PI_2, 0x1p20 - 0.25, 0x1p20, 355., 1048576.5})
    for (double sign : {1., -1.}) {
      auto wide = static_cast<long double>(sign * x);
      EXPECT_LT(errorInUlp(sin(sign * x), std::sin(wide)), 1) << x;
      EXPECT_LT(errorInUlp(cos(sign * x), std::cos(wide)), 1) << x;
      EXPECT_LT(errorInUlp(tan(sign * x), std::tan(wide)), 1) << x;
    }
}

TEST_F(ExpandDouble, RemaindersAreExact) {
  auto rem = llvm::cantFail(jit->lookup("rem")).toPtr<Binary>();
  auto rem32 = llvm::cantFail(jit->lookup("rem32")).toPtr<float (*)(float, float)>();
  auto compare = [&](auto function, auto x, auto y) {
    auto got = function(x, y), want = std::fmod(x, y);
    bool same = std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want);
    EXPECT_TRUE(same) << x << " and " << y << ": " << got << ", expected " << want;
  };
  const double values[] = {0.,    -0.,    0.5,  -0.5,  1,      -1,     3,    -3,    5.5,
                           1e300, -1e300, 1e38, 1e-40, 1e-310, 5e-324, kInf, -kInf, kNan};
  for (double x : values)
    for (double y : values) {
      compare(rem, x, y);
      compare(rem32, float(x), float(y));
    }
  for (int i = 0; i < kCount; ++i) {
    compare(rem, anyBits(), anyBits());
    compare(rem, anyOf(-100, 100), anyOf(-7, 7));
    uint64_t bits = random();
    compare(rem32, llvm::bit_cast<float>(uint32_t(bits)), llvm::bit_cast<float>(uint32_t(bits >> 32)));
    compare(rem32, float(anyOf(-100, 100)), float(anyOf(-7, 7)));
  }
}

TEST_F(ExpandDouble, VectorsAreWhatTheirLanesAre) {
  auto vectors = llvm::cantFail(jit->lookup("vectors")).toPtr<Binary>();
  auto sin = unary("sin");
  for (int i = 0; i < 1000; ++i) {
    double x = anyOf(-1e8, 1e8), y = anyOf(-1e7, 1e7);
    EXPECT_EQ(vectors(x, y), sin(std::fmod(x, y))) << x << ' ' << y;
  }
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
