// Errors of the f32 functions against double precision, over all exponents, in vectors and in scalars, for each
// instruction set that this machine has.
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace {
constexpr int kCount = 1 << 16;

struct Row {
  const char *op;
  double (*reference)(double);
  double bound; // in ulp
};
constexpr Row kRows[] = {
    {"exp", std::exp, 1.5},     {"log", std::log, 1.5},   {"expm1", std::expm1, 0.6}, {"log1p", std::log1p, 0.6},
    {"tanh", std::tanh, 2},     {"erf", std::erf, 2},     {"sin", std::sin, 2},       {"cos", std::cos, 2},
    {"tan", std::tan, 0.6},     {"asin", std::asin, 0.6}, {"acos", std::acos, 0.6},   {"atan", std::atan, 0.6},
    {"sinh", std::sinh, 0.6},   {"cosh", std::cosh, 0.6}, {"asinh", std::asinh, 0.6}, {"acosh", std::acosh, 0.6},
    {"atanh", std::atanh, 0.6},
};

/// Two functions of a math operation: over vectors of 16 and over scalars. They take buffers of kCount elements.
std::string functionsOf(const std::string &op, int operands) {
  std::string n = std::to_string(kCount), buffer = "memref<" + n + "xf32>";
  auto body = [&](bool vector) {
    std::string type = vector ? "vector<16xf32>" : "f32", name = op + (vector ? "_vector" : "_scalar"), list;
    std::string load = vector ? "vector.load" : "memref.load", store = vector ? "vector.store" : "memref.store";
    std::string suffix = vector ? ", " + type : "", step = vector ? "16" : "1";
    std::string text = "func.func @" + name + "(%x0: " + buffer + ", %x1: " + buffer + ", %y: " + buffer +
                       ") {\n"
                       "  %c0 = arith.constant 0 : index\n  %n = arith.constant " +
                       n +
                       " : index\n"
                       "  %s = arith.constant " +
                       step + " : index\n  scf.for %i = %c0 to %n step %s {\n";
    for (int k = 0; k < operands; ++k) {
      std::string number = std::to_string(k);
      text += "    %v" + number + " = " + load + " %x" + number + "[%i] : " + buffer + suffix + "\n";
      list += (k ? ", %v" : "%v") + number;
    }
    return text + "    %r = math." + op + " " + list + " : " + type + "\n    " + store + " %r, %y[%i] : " + buffer +
           suffix + "\n  }\n  return\n}\n";
  };
  return body(true) + body(false);
}

/// Distance in units of the last place of the nearest f32; infinite for a wrong special value.
double errorInUlp(float got, double want) {
  float nearest = static_cast<float>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got)) {
    bool atEdge = std::abs(want) > 0x1.fffffdp127; // either neighbour will do there
    return nearest == got || (atEdge && std::signbit(got) == std::signbit(want)) ? 0 : INFINITY;
  }
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(want == 0 ? 0x1p-149 : want), -126);
  return std::abs(got - want) / std::ldexp(1.0, exponent - 23);
}

class ExpandMath : public testing::TestWithParam<const char *> {
protected:
  using Function = void (*)(const float *, const float *, float *);

  void SetUp() override {
    auto set = sprig::cpu::instructionSetByName(GetParam());
    ASSERT_TRUE(bool(set)) << llvm::toString(set.takeError());
    if (std::string(GetParam()) == "x86-64-v4" && !__builtin_cpu_supports("avx512f"))
      GTEST_SKIP() << "this processor has no AVX-512 to run the code on";
    std::string text = functionsOf("powf", 2);
    for (const Row &row : kRows) text += functionsOf(row.op, 1);
    context.loadDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect, mlir::vector::VectorDialect>();
    mlir::registerBuiltinDialectTranslation(context);
    mlir::registerLLVMDialectTranslation(context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    ASSERT_TRUE(mlir::succeeded(sprig::cpu::lowerKernelsToLLVM(*module, set->arch)));
    auto object = sprig::cpu::translateKernelModule(*module, set->arch, {}, sprig::cpu::CodeForm::Object);
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    llvm::InitializeNativeTarget();
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    jit->getMainJITDylib().addGenerator(llvm::cantFail(std::move(process)));
    llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object)));
  }

  Function function(const std::string &name) { return llvm::cantFail(jit->lookup(name)).toPtr<Function>(); }

  mlir::MLIRContext context;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

TEST_P(ExpandMath, FunctionsAreAccurate) {
  std::vector<float> x(kCount), vector(kCount), scalar(kCount);
  for (const Row &row : kRows) {
    Function inVectors = function(std::string(row.op) + "_vector"),
             inScalars = function(std::string(row.op) + "_scalar");
    double worst = 0;
    float at = 0;
    int differ = 0;
    for (uint32_t round = 0; round < 16; ++round) {
      // All exponents and signs; the multiplier is odd, so no pattern repeats in the mantissas.
      for (uint32_t i = 0; i < kCount; ++i)
        x[i] = llvm::bit_cast<float>((i * 16 + round) * 4096u + i * 2654435761u % 4096u);
      // Special and typical values.
      const float extra[] = {0.f,  -0.f, 1.f,   -1.f,  INFINITY,  -INFINITY, NAN,       0.5f,    -0.5f,
                             2.f,  88.f, 89.f,  -87.f, -103.f,    -104.f,    1e-45f,    -1e-45f, 1.1754944e-38f,
                             10.f, 9.f,  1e20f, 3e38f, 1048576.f, 1e6f,      2097152.f, 0.625f,  3.95f};
      for (size_t i = 0; i < std::size(extra); ++i) x[i * 37] = extra[i];
      for (int i = 0; i < kCount / 2; ++i) // half of them in [-32, 32]
        if (i % 2) x[i] = (i * 16 + static_cast<int>(round) - kCount * 4) * (32.f / (kCount * 4));
      inVectors(x.data(), nullptr, vector.data());
      inScalars(x.data(), nullptr, scalar.data());
      for (int i = 0; i < kCount; ++i) {
        differ += llvm::bit_cast<uint32_t>(vector[i]) != llvm::bit_cast<uint32_t>(scalar[i]) &&
                  !(std::isnan(vector[i]) && std::isnan(scalar[i]));
        double error = errorInUlp(vector[i], row.reference(x[i]));
        if (error > worst) worst = error, at = x[i];
      }
    }
    printf("%-6s %-9s %.3f ulp at %.9g\n", row.op, GetParam(), worst, at);
    // Without fused multiply-adds products are rounded too.
    double bound = GetParam() == std::string("x86-64-v2") ? row.bound * 1.25 : row.bound;
    EXPECT_LE(worst, bound) << row.op << " at " << at;
    EXPECT_EQ(differ, 0) << row.op << ": vectors and scalars differ";
  }
}

TEST_P(ExpandMath, PowerIsAccurate) {
  std::vector<float> x(kCount), y(kCount), result(kCount);
  Function power = function("powf_vector");
  double worst = 0;
  float atX = 0, atY = 0;
  const float special[] = {0.f,      -0.f,      1.f, -1.f,  2.f,    -2.f,   0.5f,       -0.5f,      3.f,       -3.f,
                           INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e-30f, 16777216.f, 16777217.f, 8388609.f, 0.3f};
  constexpr int kSpecial = std::size(special);
  for (uint32_t round = 0; round < 16; ++round) {
    for (uint32_t i = 0; i < kCount; ++i) {
      uint32_t random = (i + round * kCount) * 2654435761u;
      x[i] = llvm::bit_cast<float>(i % 3 ? random & 0x7fffffff : random);
      y[i] = i % 2 ? static_cast<float>(static_cast<int>(random >> 8) % 41 - 20)
                   : static_cast<float>(static_cast<double>(random * 40503u) / 4294967296.0 * 40 - 20);
    }
    for (int i = 0; i < kSpecial * kSpecial; ++i) x[i] = special[i / kSpecial], y[i] = special[i % kSpecial];
    power(x.data(), y.data(), result.data());
    for (int i = 0; i < kCount; ++i) {
      double error = errorInUlp(result[i], std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
      if (error > worst) worst = error, atX = x[i], atY = y[i];
    }
  }
  printf("pow    %-9s %.3f ulp at %.9g, %.9g\n", GetParam(), worst, atX, atY);
  EXPECT_LE(worst, 0.6) << atX << " to the power of " << atY;
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, ExpandMath, testing::Values("x86-64-v2", "x86-64-v3", "x86-64-v4"));
} // namespace
