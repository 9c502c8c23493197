// Rows of reductions, pools, scans and sorts.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// Sums of n values of size up to `size`: the order differs from the interpreter's only in roundings.
Bound sumBound(const std::string &type, double n, double size) {
  if (type[0] != 'f' && type[0] != 'b') return {};
  double unit = type == "f64" ? 0x1p-53 : 0x1p-24; // half types accumulate in f32 and round once
  return {1, n * n * size * unit};
}

TEST(OpTable, Reductions) {
  std::vector<Row> rows;
  struct Shape {
    const char *shape, *axes;
    double n;
  } shapes[] = {{"67x", "[0]", 67},        {"5x33x", "[1]", 33},         {"33x17x", "[0]", 33},
                {"3x5x17x", "[0, 2]", 51}, {"2x3x4x5x", "[2, 3]", 20},   {"2x3x4x5x", "[1, 2]", 12},
                {"1x", "[0]", 1},          {"7x1x", "[1]", 1},           {"0x5x", "[0]", 0},
                {"5x0x", "[0]", 0},        {"300x65x", "[0, 1]", 19500}, {"64x1000x", "[1]", 1000},
                {"100x17x", "[0]", 100},   {"1200x21x", "[0]", 1200}};
  for (const char *type : {"f32", "f64", "f16", "bf16", "i32", "i8", "i64", "ui8", "ui32"})
    for (const Shape &s : shapes)
      for (const char *kind : {"sum", "max", "min"}) {
        std::string t = type;
        bool sum = kind[0] == 's';
        if (s.n > 60 && t != "f32" && t != "i8") continue;
        rows.push_back(row(std::string("nn.reduce ") + kind + " %a0 axes = " + s.axes, {s.shape + t},
                           sum ? sumBound(t, s.n, 1) : Bound(), {{sum ? Fill::Unit : Fill::Distinct}}));
      }
  check(rows);
}

TEST(OpTable, ReductionsOfSpecialValues) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "bf16", "i32", "ui8", "i64"})
    for (const char *kind : {"max", "min"})
      for (const char *axes : {"[0]", "[1]"})
        rows.push_back(row(std::string("nn.reduce ") + kind + " %a0 axes = " + axes + " {keep_dims}",
                           {"17x35x" + std::string(type)}, {}, {{Fill::Special}}));
  for (const char *kind : {"max", "min"})
    rows.push_back(row(std::string("nn.reduce ") + kind + " %a0 axes = [1]", {"5x33xi1"}));
  for (const char *type : {"f32", "f64", "i32", "ui16"})
    rows.push_back(row("nn.reduce prod %a0 axes = [1]", {"7x17x" + std::string(type)}, {20}, {{Fill::NonZero}}));
  for (const char *type : {"f32", "f64", "f16", "i32", "ui8"}) {
    rows.push_back(
        row("nn.reduce_mean %a0 axes = [1]", {"5x33x" + std::string(type)}, sumBound(type, 33, 1), {{Fill::Positive}}));
    rows.push_back(row("nn.reduce_mean %a0 axes = [0, 2] {keep_dims}", {"2x5x7x" + std::string(type)},
                       sumBound(type, 14, 3), {{Fill::Positive}}));
  }
  check(rows);
}

TEST(OpTable, ArgReductionsAndSorts) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "bf16", "i32", "i8", "ui8", "i64"})
    for (const char *shape : {"5x33x", "33x5x", "2x17x3x"}) {
      std::string argument = shape + std::string(type);
      for (const char *kind : {"max", "min"})
        for (const char *flags : {"", " {keep_dims}", " {last_index}"})
          for (Fill fill : {Fill::Plain, Fill::Special})
            rows.push_back(
                row(std::string("nn.arg_reduce ") + kind + " %a0 axis = 1" + flags, {argument}, {}, {{fill}}));
      for (const char *k : {"1", "3"})
        for (const char *largest : {"", ", largest = false"})
          for (Fill fill : {Fill::Plain, Fill::Special}) {
            Row r = row(std::string("nn.top_k %a0 {k = ") + k + " : i64, axis = 1 : i64" + largest + "}", {argument},
                        {}, {{fill}});
            r.body = "%v, %i = " + r.name;
            rows.push_back(r);
          }
    }
  check(rows);
}

// Which CUDA copies, or deals to the lanes of a warp.
TEST(OpTable, ArgReductionsOfRows) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "bf16", "i64"})
    for (const char *shape : {"131x10x", "130x32x", "128x1x", "7x100x"})
      for (const char *how : {"max %a0 axis = 1", "min %a0 axis = 1 {last_index}"})
        for (Fill fill : {Fill::Plain, Fill::Special})
          rows.push_back(row(std::string("nn.arg_reduce ") + how, {shape + std::string(type)}, {}, {{fill}}));
  check(rows);
}

TEST(OpTable, Cumulative) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "i32", "i64", "ui8"})
    for (const char *kind : {"sum", "prod"})
      for (const char *flags : {"", " {exclusive}", " {reverse}", " {exclusive, reverse}"})
        for (const char *axis : {"0", "1"})
          rows.push_back(row(std::string("nn.cumulative ") + kind + " %a0 axis = " + axis + flags,
                             {"7x17x" + std::string(type)}, {20, 1e-5},
                             {{kind[0] == 's' ? Fill::Unit : Fill::NonZero}}));
  check(rows);
}

std::string windowAttributes(const std::string &window, const std::string &strides, const std::string &dilations,
                             const std::string &padding, const std::string &more = "") {
  auto array = [](const char *name, const std::string &values) {
    return std::string(name) + " = array<i64: " + values + ">";
  };
  return " {" + array("window", window) + ", " + array("strides", strides) + ", " + array("dilations", dilations) +
         ", " + array("padding", padding) + more + "}";
}

TEST(OpTable, Pools) {
  std::vector<Row> rows;
  const std::vector<std::string> shapes = {"2x3x9x8x", "1x17x5x5x", "1x1x3x3x"};
  const std::vector<std::string> windows = {windowAttributes("2, 2", "2, 2", "1, 1", "0, 0, 0, 0"),
                                            windowAttributes("3, 3", "2, 2", "1, 1", "1, 1, 1, 1"),
                                            windowAttributes("3, 2", "1, 1", "1, 2", "0, 0, 1, 1")};
  for (const char *type : {"f32", "f64", "bf16", "i32", "i8", "ui8"})
    for (const std::string &shape : shapes)
      for (const std::string &window : windows) {
        std::string t = type;
        rows.push_back(row("nn.pool max %a0" + window, {shape + t}, {}, {{Fill::Distinct}}));
        rows.push_back(row("nn.arg_max_pool %a0" + window, {shape + t}, {}, {{Fill::Plain}}));
        std::string columns = window.substr(0, window.size() - 1) + ", column_major}";
        rows.push_back(row("nn.arg_max_pool %a0" + columns, {shape + t}, {}, {{Fill::Plain}}));
        if (t == "i8" || t == "ui8") continue;
        rows.push_back(row("nn.pool sum %a0" + window, {shape + t}, sumBound(t, 9, 1), {{Fill::Unit}}));
        std::string last = window.substr(0, window.size() - 1) + ", channels_last}";
        rows.push_back(row("nn.pool max %a0" + last, {"2x7x9x17x" + t}, {}, {{Fill::Special}}));
        rows.push_back(row("nn.pool sum %a0" + last, {"2x7x9x17x" + t}, sumBound(t, 9, 1), {{Fill::Unit}}));
      }
  rows.push_back(
      row("nn.pool max %a0" + windowAttributes("3", "2", "1", "1, 1"), {"2x3x17xf32"}, {}, {{Fill::Special}}));
  rows.push_back(row("nn.pool max %a0" + windowAttributes("2, 2, 2", "1, 1, 1", "1, 1, 1", "0, 0, 0, 0, 0, 0"),
                     {"1x2x3x4x5xf32"}, {}, {{Fill::Distinct}}));
  for (const char *type : {"f32", "f64"})
    for (const char *counted : {"0, 0, 0, 0", "1, 1, 1, 1"})
      rows.push_back(
          row("nn.avg_pool %a0" + windowAttributes("3, 3", "2, 2", "1, 1", "1, 1, 1, 1",
                                                   std::string(", counted_padding = array<i64: ") + counted + ">"),
              {"2x3x7x8x" + std::string(type)}, {2, 1e-6}, {{Fill::Positive}}));
  check(rows);
}

TEST(OpTable, PoolGradients) {
  std::vector<Row> rows;
  struct Case {
    const char *operand, *cotangent;
    std::string window;
  } cases[] = {
      {"2x3x8x9x", "2x3x4x4x", windowAttributes("2, 2", "2, 2", "1, 1", "0, 0, 0, 0")},
      {"1x17x5x5x", "1x17x3x3x", windowAttributes("3, 3", "2, 2", "1, 1", "1, 1, 1, 1")},
      {"1x2x9x8x", "1x2x7x8x", windowAttributes("3, 2", "1, 1", "1, 2", "0, 0, 0, 2")},
      {"1x1x7x7x", "1x1x2x2x", windowAttributes("2, 2", "4, 4", "1, 1", "0, 0, 0, 0")},
      {"2x33x4x4x", "2x33x1x1x", windowAttributes("4, 4", "4, 4", "1, 1", "0, 0, 0, 0")},
      {"2x17x6x4x", "2x17x3x2x", windowAttributes("2, 2", "2, 2", "1, 1", "0, 0, 0, 0")},
      {"1x3x5x5x", "1x3x3x3x", windowAttributes("2, 2", "2, 2", "1, 1", "0, 0, 1, 1")}, // the last ones go beyond
      {"2x3x17x", "2x3x9x", windowAttributes("3", "2", "1", "1, 1")},
      {"1x2x3x4x5x", "1x2x2x3x4x", windowAttributes("2, 2, 2", "1, 1, 1", "1, 1, 1", "0, 0, 0, 0, 0, 0")},
  };
  auto last = [](const char *shape) { // 2x3x8x9x as 2x8x9x3x
    llvm::SmallVector<llvm::StringRef> sizes;
    llvm::StringRef(shape).drop_back().split(sizes, 'x');
    std::string result = sizes[0].str() + "x";
    for (size_t d = 2; d < sizes.size(); ++d) result += sizes[d].str() + "x";
    return result + sizes[1].str() + "x";
  };
  for (const char *type : {"f32", "f64", "bf16"})
    for (const Case &c : cases) {
      std::string t = type, lastAttributes = c.window.substr(0, c.window.size() - 1) + ", channels_last}";
      for (Fill fill : {Fill::Plain, Fill::Special}) {
        rows.push_back(row("nn.pool_grad max %a0, %a1" + c.window, {c.operand + t, c.cotangent + t}, sumBound(t, 9, 1),
                           {{fill}, {Fill::Unit}}));
        rows.push_back(row("nn.pool_grad max %a0, %a1" + lastAttributes, {last(c.operand) + t, last(c.cotangent) + t},
                           sumBound(t, 9, 1), {{fill}, {Fill::Unit}}));
      }
      rows.push_back(row("nn.pool_grad sum %a0, %a1" + c.window, {c.operand + t, c.cotangent + t}, sumBound(t, 9, 1),
                         {{Fill::Unit}, {Fill::Unit}}));
      rows.push_back(row("nn.pool_grad sum %a0, %a1" + lastAttributes, {last(c.operand) + t, last(c.cotangent) + t},
                         sumBound(t, 9, 1), {{Fill::Unit}, {Fill::Unit}}));
    }
  check(rows);
}

} // namespace
} // namespace sprig::optable
