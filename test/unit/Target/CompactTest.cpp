// Constants in fewer bytes: what is found of which, and that it expands to the same bits.
#include "lib/Target/Package/Compact.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Kernel/Winograd.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Target/CPU/Layout/WinogradFilter.h"
#include "lib/Target/Package/Compress.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/format/Compression.h"
#include "runtime/format/Types.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;
using rt::format::Arrangement;
using rt::format::ExpansionForm;

namespace {

class Compact : public testing::Test {
protected:
  Compact() { context.loadDialect<ir::NNDialect, kernel::KernelDialect>(); }

  template <typename T> ElementsAttr constant(Type element, ArrayRef<int64_t> shape, const std::vector<T> &values) {
    std::vector<char> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return ir::makeConstant(RankedTensorType::get(shape, element), std::move(bytes));
  }
  Type f32() { return Float32Type::get(&context); }
  Type integer(unsigned width) { return IntegerType::get(&context, width); }

  /// The form that is found, after it was expanded and compared; nothing where none is.
  std::optional<CompactConstant> found(ElementsAttr value) {
    auto compact = compactForm(value);
    if (!compact) return compact;
    ir::ConstantView view(value);
    std::vector<char> source = compact->bytes;
    if (compact->source) source = ir::ConstantView(compact->source).expanded();
    std::vector<uint8_t> made(view.bytes().size());
    EXPECT_EQ(compact->expansion.size, source.size());
    EXPECT_EQ(rt::format::checkExpansion(compact->expansion, made.size()), "");
    EXPECT_TRUE(rt::format::expand(compact->expansion,
                                   {reinterpret_cast<const uint8_t *>(source.data()), source.size()}, made));
    EXPECT_EQ(std::memcmp(made.data(), view.bytes().data(), made.size()), 0);
    EXPECT_LE(source.size(), made.size() / 2);
    return compact;
  }

  MLIRContext context;
  std::mt19937 random{7};
};

// Weights of eight bits with a scale and a zero point for each column, in panels of 32 columns: of 70, the last padded.
TEST_F(Compact, ScalesOfPanelsAreFoundInTheNumbers) {
  std::vector<float> values(size_t(3) * 100 * 32, 0);
  for (int panel = 0; panel < 3; ++panel)
    for (int column = 0; column < 32 && 32 * panel + column < 70; ++column) {
      float scale = 0.001f * float(32 * panel + column + 1) + 1e-5f;
      int zero = int(random() % 21) - 10;
      for (int row = 0; row < 100; ++row)
        values[size_t((panel * 100 + row) * 32 + column)] = float(int(random() % 256) - 128 - zero) * scale + 0.0f;
    }
  auto compact = found(constant(f32(), {3, 100, 32}, values));
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->expansion.form, ExpansionForm::Scaled);
  EXPECT_EQ(compact->expansion.strides, (std::vector<uint64_t>{32, 0, 1}));
  // One bit of one element that no byte gives: these are no such weights.
  uint32_t bits;
  std::memcpy(&bits, &values[321], 4);
  bits ^= 1;
  std::memcpy(&values[321], &bits, 4);
  EXPECT_FALSE(found(constant(f32(), {3, 100, 32}, values)));
}

TEST_F(Compact, OneScaleAndWholeNumbers) {
  std::vector<float> values(64 * 64);
  std::vector<int32_t> wholes(64 * 64);
  for (size_t i = 0; i < values.size(); ++i) {
    wholes[i] = int32_t(random() % 256) - 100;
    values[i] = float(wholes[i]) * 0.0123f + 0.0f;
  }
  auto scaled = found(constant(f32(), {64, 64}, values));
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->expansion.form, ExpansionForm::Scaled);
  EXPECT_EQ(scaled->expansion.strides, (std::vector<uint64_t>{0, 0}));
  auto counted = found(constant(integer(32), {64, 64}, wholes));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->expansion.form, ExpansionForm::Scaled);
  EXPECT_EQ(counted->expansion.dtype, SPRIG_RT_I32);
}

TEST_F(Compact, TablesAreCompressed) {
  std::vector<int64_t> windows;
  for (int64_t row = 0; row < 200; ++row)
    for (int64_t column = 0; column < 300; ++column) windows.push_back(160 * row + column);
  auto indices = found(constant(integer(64), {200, 300}, windows));
  ASSERT_TRUE(indices);
  EXPECT_EQ(indices->expansion.arrangement, Arrangement::Differences);
  EXPECT_LT(indices->bytes.size(), 1000u);

  std::vector<float> waves;
  for (int row = 0; row < 256; ++row)
    for (int column = 0; column < 64; ++column)
      waves.push_back(float(column % 2 ? std::sin(row * column * M_PI / 128) : std::cos(row * column * M_PI / 128)));
  auto transform = found(constant(f32(), {256, 64}, waves));
  ASSERT_TRUE(transform);
  EXPECT_EQ(transform->expansion.form, ExpansionForm::Compressed);

  std::vector<uint8_t> mask(200 * 300, 0);
  for (int row = 0; row < 200; ++row) std::fill_n(mask.begin() + row * 300, row, uint8_t(1));
  auto triangle = found(constant(integer(1), {200, 300}, mask));
  ASSERT_TRUE(triangle);
  EXPECT_LT(triangle->bytes.size(), 3000u);
}

TEST_F(Compact, LearntWeightsStayAsTheyAre) {
  std::vector<float> weights(1 << 14);
  for (float &weight : weights) weight = std::normal_distribution<float>()(random);
  EXPECT_FALSE(found(constant(f32(), {128, 128}, weights)));
  std::vector<uint8_t> bytes(1 << 14);
  for (uint8_t &byte : bytes) byte = uint8_t(random());
  EXPECT_FALSE(found(constant(integer(8), {128, 128}, bytes)));
  EXPECT_FALSE(found(constant(integer(64), {16}, std::vector<int64_t>(16, 3)))) << "too small, or a splat";
}

TEST_F(Compact, AFilterInFrequenciesIsMadeOfTheFilter) {
  std::vector<float> taps(40 * 16 * 9);
  for (float &tap : taps) tap = std::normal_distribution<float>()(random);
  ElementsAttr filter = constant(f32(), {40, 16, 3, 3}, taps);
  auto line = *kernel::WinogradLine::get(4, 3);
  auto compact = found(transformFilter(filter, line, line));
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->expansion.form, ExpansionForm::Filter);
  EXPECT_EQ(compact->source, filter);
}

TEST(Compress, GivesBackAnyBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    unsigned width = 1u << (round % 4), alphabet = 1 + unsigned(random() % 40);
    std::vector<uint8_t> bytes(random() % 3000);
    for (size_t i = 0; i < bytes.size(); ++i) {
      bool repeats = i > 50 && random() % 8;
      bytes[i] = repeats ? bytes[i - 1 - random() % 3 * 16] : uint8_t(random() % alphabet * 37);
    }
    auto stream = compress(bytes, width, bytes.size() * 2 + 64);
    ASSERT_TRUE(stream);
    std::vector<uint8_t> back(bytes.size());
    EXPECT_TRUE(rt::format::decompress(*stream, width, back));
    EXPECT_EQ(back, bytes);
    if (!bytes.empty()) {
      EXPECT_FALSE(compress(bytes, width, 0));
    }
  }
}

} // namespace
