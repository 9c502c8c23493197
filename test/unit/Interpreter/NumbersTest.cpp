// Rounding and storage of the element types.
#include "lib/Interpreter/Numbers.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace sprig::interp {
namespace {

struct NumbersTest : testing::Test {
  mlir::MLIRContext context;
  mlir::Type f16 = mlir::Float16Type::get(&context), bf16 = mlir::BFloat16Type::get(&context);
  mlir::Type f32 = mlir::Float32Type::get(&context);
  mlir::Type integer(unsigned width) { return mlir::IntegerType::get(&context, width); }
  mlir::Type natural(unsigned width) { return mlir::IntegerType::get(&context, width, mlir::IntegerType::Unsigned); }
};

// Every half and bfloat survives decoding and encoding; NaN stays NaN.
TEST_F(NumbersTest, EveryHalfSurvives) {
  for (mlir::Type type : {f16, bf16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      uint16_t in = bits, out;
      double value;
      decode(type, reinterpret_cast<const char *>(&in), 1, &value);
      encode(type, &value, 1, reinterpret_cast<char *>(&out));
      if (!std::isnan(value))
        ASSERT_EQ(in, out) << bits;
      else
        ASSERT_GT(out & 0x7fff, type == f16 ? 0x7c00 : 0x7f80) << bits;
    }
}

TEST_F(NumbersTest, RoundsToNearestEvenInOneStep) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTo(2049, f16), 2048);
  EXPECT_EQ(roundTo(2051, f16), 2052);
  // By way of f32 this would become the tie 2049 and then 2048.
  EXPECT_EQ(roundTo(2049 + 1e-9, f16), 2050);
  EXPECT_EQ(roundTo(65519.99, f16), 65504);
  EXPECT_EQ(roundTo(65520, f16), infinity);
  EXPECT_EQ(roundTo(-1e6, f16), -infinity);
  EXPECT_EQ(roundTo(std::ldexp(1, -25), f16), 0);
  EXPECT_EQ(roundTo(std::ldexp(1.5, -25), f16), std::ldexp(1, -24));
  EXPECT_EQ(roundTo(257, bf16), 256);
  EXPECT_EQ(roundTo(259, bf16), 260);
  EXPECT_EQ(roundTo(0.1, f32), double(0.1f));
  EXPECT_TRUE(std::signbit(roundTo(-1e-30, f16)));
  EXPECT_TRUE(std::isnan(roundTo(NAN, bf16)));
}

TEST_F(NumbersTest, IntegersWrapAndSaturate) {
  EXPECT_EQ(wrapTo(200, integer(8)), -56);
  EXPECT_EQ(wrapTo(-1, natural(16)), 65535);
  EXPECT_EQ(wrapTo(3, integer(1)), 1);
  EXPECT_EQ(saturateTo(1e30, integer(32)), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(saturateTo(-1e30, integer(64)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(saturateTo(-129.9, integer(8)), -128);
  EXPECT_EQ(saturateTo(-0.9, natural(8)), 0);
  EXPECT_EQ(uint64_t(saturateTo(1e30, natural(64))), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(uint64_t(saturateTo(1e19, natural(64))), 10000000000000000000u);
  EXPECT_EQ(saturateTo(NAN, integer(32)), 0);
  EXPECT_EQ(toDouble(-1, natural(64)), std::ldexp(1, 64));
}

} // namespace
} // namespace sprig::interp
