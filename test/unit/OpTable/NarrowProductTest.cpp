// Products of f32 with weights of four and eight bits, which kernels read as they are, against the interpreter: exactly
// where numbers are small multiples of powers of two.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

int64_t codeAt(int64_t i) { return i % 11 == 0 ? 0 : i % 7 == 0 ? 15 : (i * 73 + i / 16) % 16; }

/// Codes of four bits in bytes, both ends among them.
std::string constantCodes(int64_t count, const std::string &shape) {
  static const char *digits = "0123456789ABCDEF";
  std::string text = "dense<\"0x";
  for (int64_t i = 0; i < count; ++i) text += {'0', digits[codeAt(i)]};
  return text + "\"> : tensor<" + shape + ">";
}

/// The same, two in each byte and taken out of them: %q. Such stay what they are, where other small constants become
/// floats.
std::string packedCodes(const std::vector<int64_t> &shape) {
  static const char *digits = "0123456789ABCDEF";
  std::vector<int64_t> half(shape), pairs(shape);
  half.back() /= 2;
  pairs.back() /= 2;
  pairs.push_back(2);
  std::vector<int64_t> one(pairs);
  one.back() = 1;
  int64_t count = 1;
  for (int64_t size : half) count *= size;
  std::string text = "%q0 = nn.constant dense<\"0x";
  for (int64_t i = 0; i < count; ++i) text += {digits[codeAt(2 * i + 1)], digits[codeAt(2 * i)]};
  auto t = [](const std::vector<int64_t> &sizes) { return "tensor<" + tensor(sizes, "ui8") + ">"; };
  return text + "\"> : " + t(half) + "\n%q1 = nn.reshape %q0 : " + t(half) + " to " + t(one) +
         "\n%q2 = nn.constant dense<[0, 4]> : tensor<2xui8>\n%q3 = nn.shr %q1, %q2 : " + t(one) +
         ", tensor<2xui8>\n%q4 = nn.constant dense<15> : tensor<ui8>\n%q5 = nn.and %q3, %q4 : " + t(pairs) +
         ", tensor<ui8>\n%q = nn.reshape %q5 : " + t(pairs) + " to " + t(shape);
}

std::string constantScales(int64_t count, const std::string &shape) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(i % 3 == 0 ? "0.5" : i % 3 == 1 ? "0.25" : "-1.0");
  return "dense<[" + text + "]> : tensor<" + std::to_string(count) + "xf32>\n%s = nn.reshape %f : tensor<" +
         std::to_string(count) + "xf32> to tensor<" + shape + ">";
}

struct NarrowProduct {
  int64_t m, n, k, group;
  std::string type = "ui8"; // of codes: of four bits, or i8 of eight
  bool hasZeros = true;
};

// As MatMulNBits has them: rows of a column side by side, blocks of them filled up.
Row narrowProduct(const NarrowProduct &c) {
  bool isNarrow = c.type == "ui8";
  const std::string &type = c.type;
  int64_t blocks = (c.k + c.group - 1) / c.group;
  std::string codes = tensor({c.n, blocks, c.group}, type), per = tensor({c.n, blocks, 1}, "f32");
  std::string zero = c.hasZeros ? tensor({c.n, blocks, 1}, type) : type, flat = tensor({c.n, blocks * c.group}, "f32");
  std::string body = isNarrow ? packedCodes({c.n, blocks, c.group})
                              : "%q = nn.constant " + constantBytes({c.n, blocks, c.group}, type);
  body += "\n%f = nn.constant " + constantScales(c.n * blocks, per) + "\n%z = nn.constant ";
  if (!c.hasZeros)
    body += "dense<3> : tensor<" + type + ">";
  else
    body += isNarrow ? constantCodes(c.n * blocks, zero) : constantBytes({c.n, blocks, 1}, type, /*seed=*/9);
  body += "\n%d = nn.dequantize %q, %s, %z : tensor<" + codes + ">, tensor<" + per + ">, tensor<" + zero +
          ">\n%w = nn.reshape %d : tensor<" + tensor({c.n, blocks, c.group}, "f32") + "> to tensor<" + flat +
          ">\n%v = nn.slice %w starts = [0, 0] sizes = [" + std::to_string(c.n) + ", " + std::to_string(c.k) +
          "] steps = [1, 1] : tensor<" + flat + ">\n%x = nn.cast %a0 : tensor<" + tensor({c.m, c.k}, "i8") +
          "> to tensor<" + tensor({c.m, c.k}, "f32") + ">\n%p = nn.matmul %x, %v {transpose_rhs} : tensor<" +
          tensor({c.m, c.k}, "f32") + ">, tensor<" + tensor({c.n, c.k}, "f32") + ">\n%r = nn.add %p, %a1 : tensor<" +
          tensor({c.m, c.n}, "f32") + ">, tensor<" + tensor({c.n}, "f32") + ">";
  std::string name = tensor({c.m, c.k, c.n}, c.type) + " in groups of " + std::to_string(c.group);
  return {name, {tensor({c.m, c.k}, "i8"), tensor({c.n}, "f32")}, body, {0.5}, {}, "matmul_narrow_add"};
}

TEST(OpTable, NarrowProducts) {
  std::vector<Row> rows;
  for (int64_t n : {1, 8, 9, 16, 17, 33, 64, 65, 130})
    for (int64_t k : {1, 7, 8, 19, 32, 45}) rows.push_back(narrowProduct({1, n, k, 16}));
  for (int64_t m : {1, 2, 3, 4, 5, 15, 31, 65}) rows.push_back(narrowProduct({m, 40, 75, 32}));
  for (bool hasZeros : {false, true})
    for (int64_t m : {1, 3, 6}) {
      rows.push_back(narrowProduct({m, 49, 100, 32, "ui8", hasZeros}));
      rows.push_back(narrowProduct({m, 269, 1020, 32, "i8", hasZeros})); // small ones become floats
    }
  // Groups that are no powers of two, single ones, and ones longer than the parts of a sum that is cut.
  for (int64_t group : {8, 24, 40, 1040, 2080})
    for (int64_t m : {1, 7}) rows.push_back(narrowProduct({m, 20, 1033, group}));
  for (int64_t k : {1024, 1025, 1536, 1543, 2049})
    for (int64_t m : {1, 2, 9}) rows.push_back(narrowProduct({m, 20, k, 16}));
  check(rows);
}

/// Codes of four bits times bytes, both with scales of the same groups, of which the last may be filled up.
Row dotProduct(int64_t m, int64_t n, int64_t k, int64_t group, bool hasZeros) {
  auto t = [](const std::vector<int64_t> &shape, const std::string &type) {
    return "tensor<" + tensor(shape, type) + ">";
  };
  auto cut = [&](const std::string &from, const std::string &name, int64_t rows, int64_t groups,
                 const std::string &to) {
    std::string wide = t({rows, groups * group}, "f32"), count = std::to_string(rows) + ", " + std::to_string(k);
    return "\n%" + name + " = nn.reshape %" + from + " : " + t({rows, groups, group}, "f32") + " to " + wide + "\n%" +
           to + " = nn.slice %" + name + " starts = [0, 0] sizes = [" + count + "] steps = [1, 1] : " + wide;
  };
  int64_t groups = (k + group - 1) / group;
  std::string codes = tensor({n, groups, group}, "ui8"), per = tensor({n, groups, 1}, "f32");
  std::string zero = hasZeros ? tensor({n, groups, 1}, "ui8") : "ui8", bytes = t({m, groups, group}, "i8");
  std::string perRow = t({m, groups, 1}, "f32");
  std::string body =
      packedCodes({n, groups, group}) + "\n%f = nn.constant " + constantScales(n * groups, per) +
      "\n%z = nn.constant " + (hasZeros ? constantCodes(n * groups, zero) : "dense<3> : tensor<ui8>") +
      "\n%d = nn.dequantize %q, %s, %z : tensor<" + codes + ">, tensor<" + per + ">, tensor<" + zero + ">" +
      cut("d", "dr", n, groups, "w") +
      "\n%o = nn.constant dense<0> : tensor<i8>\n%g = nn.constant dense<0.125> : tensor<f32>\n%t = nn.cast %a1 : " +
      t({m, groups, 1}, "i8") + " to " + perRow + "\n%u = nn.mul %t, %g : " + perRow +
      ", tensor<f32>\n%e = nn.dequantize %a0, %u, %o : " + bytes + ", " + perRow + ", tensor<i8>" +
      cut("e", "er", m, groups, "x") + "\n%r = nn.matmul %x, %w {transpose_rhs} : " + t({m, k}, "f32") + ", " +
      t({n, k}, "f32");
  std::string name = tensor({m, k, n}, "i8 times i4") + " in groups of " + std::to_string(group);
  return {name, {tensor({m, groups, group}, "i8"), tensor({m, groups, 1}, "i8")}, body, {}, {}, "matmul_narrow_dot"};
}

// Numbers are small enough for every sum to be exact.
TEST(OpTable, NarrowProductsOfBytes) {
  std::vector<Row> rows;
  for (int64_t n : {1, 8, 9, 17, 33, 64, 130})
    for (int64_t k : {16, 48, 64}) rows.push_back(dotProduct(1, n, k, 16, true));
  for (int64_t m : {1, 2, 3, 4, 5, 9, 17, 65}) rows.push_back(dotProduct(m, 40, 96, 32, m % 2 == 0));
  for (int64_t k : {6, 8, 20, 256}) rows.push_back(dotProduct(3, 20, k, k, true));
  for (int64_t k : {1, 15, 17, 40, 95})
    for (bool hasZeros : {false, true}) rows.push_back(dotProduct(3, 20, k, 16, hasZeros));
  for (int64_t k : {1024, 1536, 2048}) rows.push_back(dotProduct(2, 36, k, 64, true));
  check(rows);
}

} // namespace
} // namespace sprig::optable
