// Tensor-core instructions and asynchronous copies: what nvcc makes of a pipelined product, and single instructions
// whose operands are laid out as the PTX manual has it.
#include "test/gpu/unit/Kernels.h"
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace sprig::gpu;

static const Kernels &pipeline() {
  static Kernels kernels(oracleText("pipeline.ptx"), "pipeline.ptx");
  return kernels;
}
// A small integer as f16.
static uint16_t half(int v) {
  if (v == 0) return 0;
  int magnitude = std::abs(v), exponent = 31 - std::countl_zero(unsigned(magnitude));
  return uint16_t((v < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff));
}

// What `product` computes of small integers: exact.
struct ProductCase {
  explicit ProductCase(int k) : k(k), a(64 * k), b(k * 64), c(64 * 64, -1.f), expected(64 * 64) {
    std::mt19937 random{unsigned(k)};
    std::vector<int> x(64 * k), y(k * 64);
    for (int i = 0; i < 64 * k; ++i)
      a[i] = half(x[i] = int(random() % 9) - 4), b[i] = half(y[i] = int(random() % 9) - 4);
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        int sum = 0;
        for (int l = 0; l < k; ++l) sum += x[i * k + l] * y[l * 64 + j];
        expected[i * 64 + j] = float(sum);
      }
    // Copies want aligned arrays.
    storage.resize(64 * k * 2 + 64);
    uint16_t *begin = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) / 2 % 64) % 64;
    deviceA = begin, deviceB = begin + 64 * k;
    std::copy(a.begin(), a.end(), deviceA);
    std::copy(b.begin(), b.end(), deviceB);
  }
  LaunchReport run(const Kernels &kernels, bool isChecked, BlockOrder order = BlockOrder::Forward,
                   bool counts = false) {
    LaunchOptions options = checkedWith(storage, c);
    options.checked = isChecked, options.order = order, options.counters = counts;
    return kernels.run("product", {1}, {128}, options, deviceA, deviceB, c.data(), k);
  }
  int k;
  std::vector<uint16_t> a, b, storage;
  std::vector<float> c, expected;
  uint16_t *deviceA, *deviceB;
};

TEST(Matrix, MultipliesInAPipeline) {
  for (int k : {16, 48, 128})
    for (bool isChecked : {false, true})
      for (BlockOrder order : {BlockOrder::Forward, BlockOrder::Reverse, BlockOrder::Random}) {
        ProductCase product(k);
        LaunchReport report = product.run(pipeline(), isChecked, order);
        EXPECT_EQ(report.text(), "");
        EXPECT_EQ(product.c, product.expected);
      }
}

TEST(Matrix, ReadsSwizzledTilesWithoutConflicts) {
  ProductCase product(64);
  LaunchReport report = product.run(pipeline(), true, BlockOrder::Forward, true);
  EXPECT_EQ(report.text(), "");
  int shared = 0;
  for (const Traffic &traffic : report.traffic) {
    if (!traffic.isShared) continue;
    ++shared;
    EXPECT_EQ(traffic.units, traffic.ideal) << "line " << traffic.line;
  }
  EXPECT_GT(shared, 4);
}

// Each instruction that orders something is needed: without it, or with a wrong constant, the checks or the result show
// it.
TEST(Matrix, NoticesBrokenPipelines) {
  // The kernel alone: the others would be compiled again and again.
  std::string text = oracleText("pipeline.ptx");
  size_t entry = text.find(".visible .entry product"), next = text.find(".visible .entry", entry + 1);
  size_t first = text.find(".visible .entry");
  text = text.substr(0, first) + text.substr(entry, next - entry);
  struct Mutation {
    const char *what, *from, *to;
  };
  const Mutation mutations[] = {{"no barrier", "bar.sync", "// bar.sync"},
                                {"a wait for one group less", "cp.async.wait_group 1", "cp.async.wait_group 2"},
                                {"no wait", "cp.async.wait_group 1", "// cp.async.wait_group"},
                                {"no commit", "cp.async.commit_group", "// cp.async.commit_group"},
                                {"not transposed", ".x2.trans", ".x2"},
                                {"a copy of half", "], 16;", "], 8;"}};
  for (const Mutation &mutation : mutations) {
    int count = 0;
    for (size_t at = 0; count < 2 && (at = text.find(mutation.from, at)) != text.npos; ++at) {
      std::string broken = text;
      broken.replace(at, std::strlen(mutation.from), mutation.to);
      ++count;
      std::string refused;
      ProductCase product(64);
      LaunchReport report;
      try {
        report = product.run(Kernels(broken), true);
      } catch (const std::exception &error) {
        refused = error.what();
      }
      EXPECT_TRUE(!refused.empty() || !report.complaints.empty() || product.c != product.expected)
          << mutation.what << ", place " << count;
      if (std::string(mutation.what) == "no barrier" || std::string(mutation.what).find("wait") != std::string::npos)
        EXPECT_NE(report.text().find("race"), std::string::npos) << mutation.what << ": " << report.text();
    }
    EXPECT_GT(count, 0) << mutation.what;
  }
}

TEST(Matrix, LoadsAndTransposesMatrices) {
  std::vector<uint16_t> x(256);
  std::iota(x.begin(), x.end(), uint16_t(0));
  std::vector<uint32_t> plain(128), transposed(128);
  EXPECT_EQ(
      pipeline()
          .run("loadMatrices", {1}, {32}, checkedWith(x, plain, transposed), x.data(), plain.data(), transposed.data())
          .text(),
      "");
  for (uint32_t matrix = 0; matrix < 4; ++matrix)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t row = lane / 4, column = lane % 4 * 2, base = matrix * 64;
      EXPECT_EQ(plain[matrix * 32 + lane], (base + row * 8 + column) | (base + row * 8 + column + 1) << 16);
      EXPECT_EQ(transposed[matrix * 32 + lane], (base + column * 8 + row) | (base + (column + 1) * 8 + row) << 16);
    }
}

TEST(Matrix, PadsCopiesWithZeros) {
  for (int n : {0, 1, 63, 126, 128}) {
    struct alignas(16) Four {
      int v[4];
    };
    std::vector<Four> x(32);
    std::vector<int> y(128);
    for (int i = 0; i < 128; ++i) x[i / 4].v[i % 4] = i + 1;
    EXPECT_EQ(pipeline().run("copyPadded", {1}, {32}, checkedWith(x, y), x.data(), y.data(), n).text(), "");
    for (int i = 0; i < 128; ++i) EXPECT_EQ(y[127 - i], i < n ? i + 1 : 0);
  }
}

// One instruction: the elements of A (16 x k) and B (k x 8) that word w, part e of a lane holds.
struct Instruction {
  const char *kernel;
  int k, elements;
  std::function<uint32_t(int)> encodeA, encodeB; // an element's bits
  bool isInteger, isHalf;
  int lowest, highest; // of A's elements
};
TEST(Matrix, HasTheManualsLayouts) {
  auto asHalf = [](int v) { return uint32_t(half(v)); };
  auto asBrain = [](int v) { return std::bit_cast<uint32_t>(float(v)) >> 16; };
  auto asTf32 = [](int v) { return std::bit_cast<uint32_t>(float(v)) | 0xfff; }; // the lower bits do not count
  auto asByte = [](int v) { return uint32_t(v) & 0xff; };
  const Instruction instructions[] = {{"mmaTf32", 8, 1, asTf32, asTf32, false, false, -9, 9},
                                      {"mmaF16", 16, 2, asHalf, asHalf, false, false, -9, 9},
                                      {"mmaBF16", 16, 2, asBrain, asBrain, false, false, -9, 9},
                                      {"mmaF16Half", 16, 2, asHalf, asHalf, false, true, -9, 9},
                                      {"mmaS8", 32, 4, asByte, asByte, true, false, -128, 127},
                                      {"mmaU8S8Saturated", 32, 4, asByte, asByte, true, false, 0, 255}};
  for (const Instruction &instruction : instructions) {
    std::mt19937 random(9);
    int k = instruction.k, elements = instruction.elements, bits = 32 / elements;
    auto draw = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
    std::vector<int> a(16 * k), b(k * 8), c(16 * 8);
    for (int &v : a) v = draw(instruction.lowest, instruction.highest);
    for (int &v : b) v = draw(std::max(instruction.lowest, -9), 9);
    for (int &v : c) v = draw(-50, 50);
    if (instruction.isInteger) c[0] = 2147483647 - 3;
    int wordsC = instruction.isHalf ? 2 : 4;
    std::vector<uint32_t> x(32 * 4), y(32 * 2), z(32 * wordsC), d(32 * wordsC);
    auto encodeC = [&](int v) {
      return instruction.isInteger ? uint32_t(v)
             : instruction.isHalf  ? uint32_t(half(v))
                                   : std::bit_cast<uint32_t>(float(v));
    };
    for (int lane = 0; lane < 32; ++lane) {
      int group = lane / 4, inGroup = lane % 4;
      for (int e = 0; e < elements; ++e) {
        for (int w = 0; w < 4; ++w) // rows group and group + 8 in turns, then the second half of the columns
          x[lane * 4 + w] |= instruction.encodeA(a[(group + w % 2 * 8) * k + inGroup * elements + w / 2 * k / 2 + e])
                             << (bits * e);
        for (int w = 0; w < 2; ++w)
          y[lane * 2 + w] |= instruction.encodeB(b[(inGroup * elements + w * k / 2 + e) * 8 + group]) << (bits * e);
      }
      for (int e = 0; e < 4; ++e) {
        uint32_t value = encodeC(c[(group + e / 2 * 8) * 8 + inGroup * 2 + e % 2]);
        if (instruction.isHalf)
          z[lane * 2 + e / 2] |= value << (16 * (e % 2));
        else
          z[lane * 4 + e] = value;
      }
    }
    EXPECT_EQ(pipeline()
                  .run(instruction.kernel, {1}, {32}, checkedWith(x, y, z, d), x.data(), y.data(), z.data(), d.data())
                  .text(),
              "");
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < 4; ++e) {
        int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
        int64_t sum = c[row * 8 + column];
        for (int l = 0; l < k; ++l) sum += int64_t(a[row * k + l]) * b[l * 8 + column];
        if (std::string(instruction.kernel) == "mmaU8S8Saturated") sum = std::min<int64_t>(sum, 2147483647);
        uint32_t got = instruction.isHalf ? d[lane * 2 + e / 2] >> (16 * (e % 2)) & 0xffff : d[lane * 4 + e];
        EXPECT_EQ(got, encodeC(int(uint32_t(sum)))) << instruction.kernel << ", row " << row << ", column " << column;
      }
  }
}
