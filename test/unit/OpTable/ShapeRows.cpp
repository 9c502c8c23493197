// Rows of operations that move elements: they must keep every bit.
#include "test/unit/OpTable/Harness.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

const std::vector<std::string> kTypes = {"f32", "f64", "bf16", "i8", "i64", "i1", "ui16"};

Row to(std::string operation, std::string from, std::string shape, std::string type) {
  std::string text = operation + " : tensor<" + from + type + "> to tensor<" + shape + type + ">";
  return {text, {from + type}, "%r = " + text, {}, {{Fill::Special}}};
}

TEST(OpTable, Views) {
  std::vector<Row> rows;
  for (const std::string &type : kTypes) {
    for (const char *target : {"15x", "5x3x", "1x3x1x5x"}) rows.push_back(to("nn.reshape %a0", "3x5x", target, type));
    rows.push_back(to("nn.reshape %a0", "1x", "", type));
    rows.push_back(to("nn.reshape %a0", "0x4x", "2x0x", type));
    rows.push_back(to("nn.broadcast %a0", "", "33x", type));
    rows.push_back(to("nn.broadcast %a0", "5x1x", "2x5x17x", type));
    rows.push_back(to("nn.broadcast %a0", "1x", "0x", type));
    rows.push_back(row("nn.transpose %a0 [1, 0]", {"17x33x" + type}, {}, {{Fill::Special}}));
    rows.push_back(row("nn.transpose %a0 [1, 0]", {"1x16x" + type}));
    rows.push_back(row("nn.transpose %a0 [0, 2, 3, 1]", {"2x3x5x7x" + type}));
    rows.push_back(row("nn.transpose %a0 [3, 1, 0, 2]", {"2x3x5x17x" + type}));
    rows.push_back(row("nn.transpose %a0 [0, 2, 1]", {"3x65x31x" + type}));
    rows.push_back(row("nn.transpose %a0 [1, 0]", {"0x5x" + type}));
    rows.push_back(row("nn.slice %a0 starts = [1, 2] sizes = [2, 17] steps = [1, 1]", {"4x33x" + type}));
    rows.push_back(row("nn.slice %a0 starts = [3, 32] sizes = [4, 11] steps = [-1, -3]", {"4x33x" + type}));
    rows.push_back(row("nn.slice %a0 starts = [0, 1] sizes = [4, 0] steps = [1, 1]", {"4x33x" + type}));
    rows.push_back(row("nn.slice %a0 starts = [0, 1] sizes = [2, 16] steps = [2, 2]", {"4x33x" + type}));
  }
  check(rows);
}

TEST(OpTable, Joins) {
  std::vector<Row> rows;
  for (const std::string &type : kTypes) {
    rows.push_back(row("nn.concat %a0, %a1 axis = 0", {"3x5x" + type, "2x5x" + type}));
    rows.push_back(row("nn.concat %a0, %a1, %a2 axis = 1", {"3x17x" + type, "3x1x" + type, "3x0x" + type}));
    rows.push_back(row("nn.concat %a0, %a1 axis = 1", {"2x3x4x" + type, "2x5x4x" + type}));
    rows.push_back(row("nn.concat %a0 axis = 0", {"33x" + type}));
    for (const char *mode : {"constant", "edge", "reflect", "wrap"}) {
      std::string name = std::string("nn.pad ") + mode + " %a0, %a1 ";
      rows.push_back(row(name + "low = [2, 3] high = [0, 4]", {"5x17x" + type, type}));
      rows.push_back(row(name + "low = [1] high = [2]", {"4x" + type, type}));
      rows.push_back(row(name + "low = [0, 0, 1, 2] high = [0, 0, 2, 1]", {"2x1x4x3x" + type, "1x" + type}));
    }
    rows.push_back(row("nn.pad constant %a0, %a1 low = [2] high = [3]", {"0x" + type, type}));
  }
  for (const char *type : {"f32", "f64", "bf16", "i32", "i64", "ui8"})
    for (const char *shape : {"33x", "5x17x", "2x3x4x", "0x"})
      for (const char *axis : {"0", "1", "2"}) {
        if (axis[0] - '0' >= int(std::count(shape, shape + strlen(shape), 'x'))) continue;
        std::string text = std::string("nn.iota axis = ") + axis + " : tensor<" + shape + type + ">";
        // The argument keeps the entry from being all constant.
        rows.push_back(
            {text,
             {std::string(shape) + type},
             "%i = " + text + "\n%r = nn.add %a0, %i : tensor<" + shape + type + ">, tensor<" + shape + type + ">",
             {},
             {{Fill::Index, 8}}});
      }
  check(rows);
}

TEST(OpTable, GathersAndScatters) {
  std::vector<Row> rows;
  for (const std::string &type : kTypes)
    for (const char *index : {"i64", "i32"}) {
      std::string i = index;
      rows.push_back(row("nn.gather %a0, %a1 axis = 0", {"7x17x" + type, "5x" + i}, {}, {{}, {Fill::Index, 7}}));
      rows.push_back(row("nn.gather %a0, %a1 axis = 1", {"3x7x5x" + type, "2x3x" + i}, {}, {{}, {Fill::Index, 7}}));
      rows.push_back(row("nn.gather %a0, %a1 axis = 1", {"3x33x" + type, i}, {}, {{}, {Fill::Index, 33}}));
      rows.push_back(row("nn.gather %a0, %a1 axis = 0", {"7x5x" + type, "0x" + i}));
      rows.push_back(
          row("nn.gather_elements %a0, %a1 axis = 1", {"3x7x" + type, "3x17x" + i}, {}, {{}, {Fill::Index, 7}}));
      rows.push_back(
          row("nn.gather_elements %a0, %a1 axis = 0", {"7x3x" + type, "2x3x" + i}, {}, {{}, {Fill::Index, 7}}));
      rows.push_back(row("nn.gather_nd %a0, %a1", {"3x3x5x" + type, "4x2x" + i}, {}, {{}, {Fill::Index, 3}}));
      rows.push_back(row("nn.gather_nd %a0, %a1 {batch_dims = 1 : i64}", {"3x4x5x" + type, "3x2x1x" + i}, {},
                         {{}, {Fill::Index, 4}}));
    }
  for (const char *type : {"f32", "f64", "i64", "i32", "ui8", "bf16"})
    for (const char *kind : {"none", "add", "mul", "max", "min"}) {
      std::string t = type, k = kind;
      // A half type's sums depend on where they are rounded; distinct indices leave one addition each.
      // Sums of values near 3 that cancel keep the roundings of what was cancelled.
      Bound bound{4, t == "bf16" ? 0.25 : t == "f32" ? 16 * 0x1p-24 : 16 * 0x1p-53};
      if (k == "none" || k == "max" || k == "min") bound = {};
      rows.push_back(row("nn.scatter_elements " + k + " %a0, %a1, %a2 axis = 1", {"3x7x" + t, "3x4xi64", "3x4x" + t},
                         bound, {{}, {Fill::Index, 7}, {}}));
      rows.push_back(row("nn.scatter_elements " + k + " %a0, %a1, %a2 axis = 0", {"7x17x" + t, "2x17xi32", "2x17x" + t},
                         bound, {{}, {Fill::Index, 7}, {}}));
      rows.push_back(row("nn.scatter_nd " + k + " %a0, %a1, %a2", {"5x17x" + t, "3x1xi64", "3x17x" + t}, bound,
                         {{}, {Fill::Index, 5}, {}}));
      rows.push_back(row("nn.scatter_nd " + k + " %a0, %a1, %a2", {"4x4x" + t, "6x2xi64", "6x" + t}, bound,
                         {{}, {Fill::Index, 4}, {}}));
    }
  check(rows);
}

} // namespace
} // namespace sprig::optable
