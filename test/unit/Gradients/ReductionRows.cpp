// Rows of reductions, running sums, sorts and pools.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

std::vector<Row> reductionRows() {
  std::vector<Row> rows;
  for (const char *kind : {"sum", "prod", "max", "min"})
    for (const char *axes : {"[0]", "[1]", "[0, 2]", "[0, 1, 2]", "[2] {keep_dims}"})
      rows.push_back(row(std::string("nn.reduce ") + kind + " %a0 axes = " + axes, {"2x3x4xf64"}));
  rows.push_back({"a product with one zero",
                  {"3xf64"},
                  R"(%m = nn.constant dense<[1.0, 0.0, 1.0]> : tensor<3xf64>
                     %0 = nn.mul %a0, %m : tensor<3xf64>, tensor<3xf64>
                     %r = nn.reduce prod %0 axes = [0] : tensor<3xf64>)",
                  {},
                  /*isLinearised=*/false}); // the second derivative divides by elements
  for (const char *axes : {"[1]", "[0, 2] {keep_dims}"})
    rows.push_back(row(std::string("nn.reduce_mean %a0 axes = ") + axes, {"2x3x4xf64"}));
  for (const char *kind : {"sum", "prod"})
    for (const char *options : {"", " {exclusive}", " {reverse}", " {exclusive, reverse}"})
      rows.push_back(
          row(std::string("nn.cumulative ") + kind + " %a0 axis = 1" + options, {"2x4x2xf64"}, {{Fill::NonZero}}));
  rows.push_back({"the largest and the smallest",
                  {"2x6xf64"},
                  R"(%v, %i = nn.top_k %a0 {k = 3 : i64, axis = 1 : i64} : tensor<2x6xf64>
                     %w, %j = nn.top_k %a0 {k = 1 : i64, axis = 0 : i64, largest = false} : tensor<2x6xf64>
                     %s = nn.reduce sum %v axes = [1] {keep_dims} : tensor<2x6xf64>
                     %r = nn.mul %s, %w : tensor<2x1xf64>, tensor<1x6xf64>)"});
  rows.back().body.replace(rows.back().body.find("{keep_dims} : tensor<2x6xf64>"), 29, "{keep_dims} : tensor<2x3xf64>");
  auto pool = [&](std::string attributes, std::string x) {
    for (const char *kind : {"max", "sum"})
      rows.push_back(row(std::string("nn.pool ") + kind + " %a0 {" + attributes + "}", {x}));
  };
  pool("window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, "
       "0, 0, 0>",
       "1x2x5x4xf64");
  pool("window = array<i64: 3, 2>, strides = array<i64: 1, 2>, dilations = array<i64: 1, 2>, padding = array<i64: 1, "
       "1, 2, 0>",
       "2x1x4x5xf64");
  pool("window = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, "
       "channels_last",
       "2x5x2xf64");
  for (size_t i : {1, 2})
    rows[rows.size() - i].isLinearised = rows[rows.size() - i].name.find(" sum ") != std::string::npos;
  for (const char *kind : {"max", "sum"})
    rows.push_back(
        row(std::string("nn.pool_grad ") + kind +
                " %a0, %a1 {window = array<i64: 3, 2>, strides = array<i64: 1, 2>, dilations = array<i64: 1, 2>, "
                "padding = array<i64: 1, 1, 2, 0>}",
            {"2x1x4x5xf64", "2x1x5x2xf64"}));
  for (const char *counted : {"0, 0, 0, 0", "1, 0, 1, 1"})
    rows.push_back(
        row(std::string("nn.avg_pool %a0 {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, dilations = "
                        "array<i64: 1, 1>, padding = array<i64: 1, 0, 1, 1>, counted_padding = array<i64: ") +
                counted + ">}",
            {"1x2x4x3xf64"}));
  return rows;
}

} // namespace sprig::gradients
