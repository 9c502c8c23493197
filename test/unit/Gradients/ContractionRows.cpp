// Rows of matrix products, convolutions and their gradients.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

static std::string window(std::string strides, std::string dilations, std::string padding) {
  return "strides = array<i64: " + strides + ">, dilations = array<i64: " + dilations +
         ">, padding = array<i64: " + padding + ">";
}

std::vector<Row> contractionRows() {
  std::vector<Row> rows;
  for (const char *options : {"", " {transpose_lhs}", " {transpose_rhs}", " {transpose_lhs, transpose_rhs}"}) {
    std::string o = options;
    bool tl = o.find("lhs") != std::string::npos, tr = o.find("rhs") != std::string::npos;
    std::string a = tl ? "4x3xf64" : "3x4xf64", b = tr ? "2x4xf64" : "4x2xf64";
    for (auto [left, right] : {std::pair("", ""), {"2x", "2x"}, {"2x", ""}, {"", "3x"}, {"2x1x", "3x"}, {"1x", "2x"}})
      rows.push_back(row("nn.matmul %a0, %a1" + o, {left + a, right + b}));
  }
  rows.push_back(row("nn.linear %a0, %a1, %a2", {"2x3x4xf64", "5x4xf64", "5xf64"}));
  rows.push_back(row("nn.linear %a0, %a1", {"3x4xf64", "5x4xf64"}));
  auto conv = [&](std::string attributes, std::string x, std::string w) {
    rows.push_back(row("nn.conv %a0, %a1 {" + attributes + "}", {x, w}));
  };
  conv(window("1, 1", "1, 1", "1, 1, 1, 1"), "2x2x4x4xf64", "3x2x3x3xf64");
  conv(window("2, 1", "1, 2", "1, 0, 2, 1"), "1x2x5x6xf64", "2x2x3x2xf64");
  conv(window("2, 3", "1, 1", "0, 0, 0, 0"), "1x1x6x6xf64", "2x1x3x2xf64"); // elements that no window reads
  conv(window("3", "2", "2, 0") + ", groups = 2 : i64", "2x4x9xf64", "6x2x2xf64");
  conv(window("1, 1", "1, 1", "1, 1, 1, 1") + ", groups = 3 : i64", "1x3x3x4xf64", "3x1x3x3xf64");
  conv(window("2, 1, 2", "1, 1, 1", "0, 1, 0, 1, 0, 1"), "1x1x3x2x4xf64", "2x1x2x2x2xf64");
  auto transposed = [&](std::string attributes, std::string x, std::string w) {
    rows.push_back(row("nn.conv_transpose %a0, %a1 {" + attributes + "}", {x, w}));
  };
  transposed(window("2, 2", "1, 1", "1, 1, 1, 1") + ", output_padding = array<i64: 1, 0>", "1x2x3x3xf64",
             "2x3x3x3xf64");
  transposed(window("1", "2", "0, 1") + ", output_padding = array<i64: 0>, groups = 2 : i64", "2x4x4xf64", "4x2x3xf64");
  transposed(window("3", "1", "0, 0") + ", output_padding = array<i64: 2>", "1x1x4xf64", "1x2x2xf64");
  auto filter = [&](std::string attributes, std::string x, std::string g) {
    rows.push_back(row("nn.conv_filter_grad %a0, %a1 {" + attributes + "}", {x, g}));
  };
  filter("window = array<i64: 3, 2>, " + window("2, 1", "1, 2", "1, 0, 2, 1"), "1x2x5x6xf64", "1x2x3x5xf64");
  filter("window = array<i64: 2>, " + window("3", "2", "2, 0") + ", groups = 2 : i64", "2x4x9xf64", "2x6x3xf64");
  return rows;
}

} // namespace sprig::gradients
