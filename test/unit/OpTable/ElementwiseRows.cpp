// Rows of elementwise operations: every element type, special values, broadcasts, sizes around the vector width.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

const std::vector<std::string> kFloats = {"f32", "f64", "f16", "bf16"};
const std::vector<std::string> kIntegers = {"i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8"};

std::vector<std::string> numbers() {
  std::vector<std::string> all = kFloats;
  all.insert(all.end(), kIntegers.begin(), kIntegers.end());
  return all;
}

// 67 elements: four vectors and a tail, room for the special values and for others.
std::string vectorOf(const std::string &type) { return "67x" + type; }

constexpr Pattern kSpecial{Fill::Special};

struct Function {
  const char *name;
  double ulps; ///< in f32; half types compute in f32, f64 calls the C library
};

TEST(OpTable, ValuesInRange) {
  for (const std::string &type : kFloats)
    check(
        {row("nn.in_range %a0 {low = 0.0, high = 0x7FF0000000000000 : f64}", {vectorOf(type)}, {0}, {{Fill::Positive}}),
         row("nn.in_range %a0 {low = -1.0, high = 1.0}", {"5x7x" + type}, {0}, {{Fill::Unit}})});
}

TEST(OpTable, UnaryFloats) {
  const Function functions[] = {
      {"abs", 0},  {"neg", 0},        {"sign", 0},    {"floor", 0}, {"ceil", 0},  {"round", 0}, {"sqrt", 0},
      {"relu", 0}, {"reciprocal", 0}, {"rsqrt", 1},   {"exp", 2},   {"log", 2},   {"log1p", 2}, {"expm1", 2},
      {"tanh", 3}, {"erf", 3},        {"sigmoid", 3}, {"sin", 2},   {"cos", 2},   {"tan", 3},   {"asin", 3},
      {"acos", 3}, {"atan", 3},       {"sinh", 3},    {"cosh", 3},  {"asinh", 3}, {"acosh", 3}, {"atanh", 3}};
  for (const std::string &type : kFloats) {
    std::vector<Row> rows;
    for (const Function &function : functions)
      rows.push_back(row(std::string("nn.") + function.name + " %a0", {vectorOf(type)}, {function.ulps}, {kSpecial}));
    check(rows);
  }
}

TEST(OpTable, UnaryIntegers) {
  std::vector<Row> rows;
  for (const std::string &type : kIntegers)
    for (const char *name : {"abs", "neg", "sign", "relu", "not"})
      rows.push_back(row(std::string("nn.") + name + " %a0", {vectorOf(type)}, {}, {kSpecial}));
  rows.push_back(row("nn.not %a0", {vectorOf("i1")}));
  check(rows);
}

TEST(OpTable, Predicates) {
  std::vector<Row> rows;
  for (const std::string &type : kFloats) {
    rows.push_back(row("nn.is_nan %a0", {vectorOf(type)}, {}, {kSpecial}));
    for (const char *flags : {"", " {detect_negative = false}", " {detect_positive = false}",
                              " {detect_negative = false, detect_positive = false}"})
      rows.push_back(row(std::string("nn.is_inf %a0") + flags, {vectorOf(type)}, {}, {kSpecial}));
  }
  check(rows);
}

// The same pattern for both operands, with the second one reversed against the first, so that specials meet all others.
TEST(OpTable, BinaryFloats) {
  for (const std::string &type : kFloats) {
    std::vector<Row> rows;
    std::vector<std::string> grid = {"27x1x" + type, "27x" + type};
    for (const char *name : {"add", "sub", "mul", "div", "max", "min", "rem", "mod"})
      rows.push_back(row(std::string("nn.") + name + " %a0, %a1", grid, {}, {kSpecial, kSpecial}));
    rows.push_back(row("nn.pow %a0, %a1", grid, {type == "f32" ? 2.0 : 1.0}, {kSpecial, kSpecial}));
    for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      rows.push_back(row(std::string("nn.compare ") + predicate + " %a0, %a1", grid, {}, {kSpecial, kSpecial}));
    check(rows);
  }
}

TEST(OpTable, BinaryIntegers) {
  for (const std::string &type : kIntegers) {
    std::vector<Row> rows;
    std::vector<std::string> grid = {"19x1x" + type, "19x" + type};
    for (const char *name : {"add", "sub", "mul", "max", "min", "and", "or", "xor", "shl", "shr", "pow"})
      rows.push_back(row(std::string("nn.") + name + " %a0, %a1", grid, {}, {kSpecial, kSpecial}));
    for (const char *name : {"div", "rem", "mod"})
      rows.push_back(row(std::string("nn.") + name + " %a0, %a1", grid, {}, {kSpecial, {Fill::NonZero}}));
    for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      rows.push_back(row(std::string("nn.compare ") + predicate + " %a0, %a1", grid, {}, {kSpecial, kSpecial}));
    check(rows);
  }
}

TEST(OpTable, Booleans) {
  std::vector<Row> rows;
  for (const char *name : {"and", "or", "xor"})
    rows.push_back(row(std::string("nn.") + name + " %a0, %a1", {"33xi1", "33xi1"}));
  for (const char *predicate : {"eq", "ne", "lt", "ge"})
    rows.push_back(row(std::string("nn.compare ") + predicate + " %a0, %a1", {"33xi1", "33xi1"}));
  for (const std::string &type : numbers())
    rows.push_back(
        row("nn.select %a0, %a1, %a2", {"5x1xi1", "33x" + type, "5x33x" + type}, {}, {{}, kSpecial, kSpecial}));
  rows.push_back(row("nn.select %a0, %a1, %a2", {"33xi1", "33xi1", "i1"}));
  check(rows);
}

// So many elements that a GPU's thread takes several at once; values of several widths beside each other.
TEST(OpTable, ManyElements) {
  std::vector<Row> rows;
  std::string shape = "128x130x";
  for (const char *type : {"i64", "ui64"})
    for (const char *name : {"shl", "shr"})
      rows.push_back(
          row(std::string("nn.") + name + " %a0, %a1", {shape + type, shape + type}, {}, {kSpecial, kSpecial}));
  rows.push_back(row("nn.div %a0, %a1", {shape + "i32", shape + "i32"}, {}, {{Fill::Distinct}, {Fill::Positive}}));
  for (const char *type : {"f32", "f16"}) {
    std::string whole = shape + type;
    rows.push_back(row("nn.select %a0, %a1, %a2", {shape + "i1", whole, std::string("130x") + type}));
    rows.push_back(row("nn.compare lt %a0, %a1", {whole, whole}));
    std::string cast = "nn.cast %a0 : tensor<" + whole + "> to tensor<" + shape + "f64>";
    rows.push_back({cast, {whole}, "%r = " + cast, {}, {{}}});
  }
  check(rows);
}

TEST(OpTable, MixedPowers) {
  std::vector<Row> rows;
  for (const char *types : {"f32 i64", "f32 i32", "f32 f64", "f64 i32", "i32 f32", "i64 i32", "bf16 i32", "f16 f32"}) {
    std::string text = types, left = text.substr(0, text.find(' ')), right = text.substr(text.find(' ') + 1);
    rows.push_back(row("nn.pow %a0, %a1", {"33x" + left, "33x" + right}, {4}, {{Fill::Positive}, {Fill::Unit}}));
  }
  check(rows);
}

TEST(OpTable, Casts) {
  std::vector<std::string> types = numbers();
  types.push_back("i1");
  for (const std::string &from : types) {
    std::vector<Row> rows;
    for (const std::string &to : types) {
      std::string operation = "nn.cast %a0 : tensor<67x" + from + "> to tensor<67x" + to + ">";
      rows.push_back({operation, {vectorOf(from)}, "%r = " + operation, {}, {kSpecial}});
    }
    check(rows);
  }
}

TEST(OpTable, Bitcasts) {
  std::vector<Row> rows;
  for (const char *pair : {"f32 i32", "i32 f32", "f32 ui32", "f64 i64", "i64 f64", "f16 i16", "i16 f16", "bf16 ui16",
                           "ui16 bf16", "f16 bf16", "i8 ui8", "i64 ui64"}) {
    std::string text = pair, from = text.substr(0, text.find(' ')), to = text.substr(text.find(' ') + 1);
    std::string operation = "nn.bitcast %a0 : tensor<35x" + from + "> to tensor<35x" + to + ">";
    rows.push_back({operation, {"35x" + from}, "%r = " + operation, {}, {{Fill::Distinct}}});
  }
  check(rows);
}

// Every size around the vector widths, ranks 0 to 5, and every way to broadcast.
TEST(OpTable, ShapesAndBroadcasts) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "bf16", "i8", "f64"}) {
    std::string t = type;
    for (const char *shape : {"", "1x", "2x", "15x", "16x", "17x", "31x", "32x", "33x", "65x", "0x", "3x0x5x", "3x5x",
                              "7x19x", "2x3x1x5x", "1x1x1x1x1x", "2x2x2x2x17x", "300x701x"})
      rows.push_back(row("nn.add %a0, %a1", {shape + t, shape + t}));
    const std::vector<std::vector<std::string>> pairs = {
        {"", "17x"},      {"17x", ""},       {"1x", "17x"},          {"5x1x", "1x17x"},        {"5x17x", "17x"},
        {"17x", "5x17x"}, {"5x17x", "5x1x"}, {"2x1x3x", "4x1x"},     {"2x3x16x16x", "3x1x1x"}, {"1x0x", "5x1x"},
        {"0x", "1x"},     {"", ""},          {"3x1x33x", "1x4x33x"}, {"2x3x4x5x", "2x1x4x1x"}};
    for (const auto &pair : pairs) rows.push_back(row("nn.sub %a0, %a1", {pair[0] + t, pair[1] + t}));
  }
  check(rows);
}

} // namespace
} // namespace sprig::optable
