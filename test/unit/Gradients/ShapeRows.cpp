// Rows of operations that move elements.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

std::vector<Row> shapeRows() {
  std::vector<Row> rows;
  auto add = [&](std::string name, std::vector<std::string> arguments, std::string body) {
    rows.push_back({std::move(name), std::move(arguments), std::move(body), {}});
  };
  add("reshape", {"2x6xf64"}, "%r = nn.reshape %a0 : tensor<2x6xf64> to tensor<3x4xf64>");
  add("broadcast", {"3x1xf64"}, "%r = nn.broadcast %a0 : tensor<3x1xf64> to tensor<2x3x4xf64>");
  add("broadcast of a scalar", {"f64"}, "%r = nn.broadcast %a0 : tensor<f64> to tensor<2x3xf64>");
  rows.push_back(row("nn.transpose %a0 [2, 0, 1]", {"2x3x4xf64"}));
  for (const char *slice :
       {"starts = [1, 7] sizes = [2, 4] steps = [1, -2]", "starts = [0, 0] sizes = [4, 8] steps = [1, 1]",
        "starts = [3, 1] sizes = [2, 3] steps = [-3, 3]", "starts = [2, 5] sizes = [1, 1] steps = [1, 1]",
        "starts = [3, 7] sizes = [4, 8] steps = [-1, -1]"})
    rows.push_back(row(std::string("nn.slice %a0 ") + slice, {"4x8xf64"}));
  rows.push_back(row("nn.concat %a0, %a1, %a0 axis = 1", {"2x3xf64", "2x1xf64"}));
  rows.back().body = "%r = nn.concat %a0, %a1, %a0 axis = 1 : tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x3xf64>";
  rows.push_back(row("nn.pad constant %a0, %a1 low = [0, 1] high = [2, 3]", {"2x3xf64", "f64"}));
  for (const char *mode : {"edge", "reflect", "wrap"})
    add(std::string("pad ") + mode, {"3x4xf64"},
        std::string("%v = nn.constant dense<0.0> : tensor<f64>\n%r = nn.pad ") + mode +
            " %a0, %v low = [2, 0] high = [1, 3] : tensor<3x4xf64>, tensor<f64>");
  add("gather of rows, one twice, one from the end", {"5x3xf64"},
      R"(%i = nn.constant dense<[[1, -1], [1, 3]]> : tensor<2x2xi64>
         %r = nn.gather %a0, %i axis = 0 : tensor<5x3xf64>, tensor<2x2xi64>)");
  add("gather along a middle dimension", {"2x4x3xf64"},
      R"(%i = nn.constant dense<[3, 0, -4]> : tensor<3xi32>
         %r = nn.gather %a0, %i axis = 1 : tensor<2x4x3xf64>, tensor<3xi32>)");
  add("gather of one", {"2x4x3xf64"},
      R"(%i = nn.constant dense<2> : tensor<i64>
         %r = nn.gather %a0, %i axis = 2 : tensor<2x4x3xf64>, tensor<i64>)");
  add("gather_elements", {"3x4xf64"},
      R"(%i = nn.constant dense<[[0, 1, -1, 0], [0, 2, 2, 1]]> : tensor<2x4xi64>
         %r = nn.gather_elements %a0, %i axis = 0 : tensor<3x4xf64>, tensor<2x4xi64>)");
  add("gather_nd", {"3x4x2xf64"},
      R"(%i = nn.constant dense<[[0, 1], [2, -1], [0, 1]]> : tensor<3x2xi64>
         %r = nn.gather_nd %a0, %i : tensor<3x4x2xf64>, tensor<3x2xi64>)");
  add("gather_nd in batches", {"2x3x4xf64"},
      R"(%i = nn.constant dense<[[[1], [1]], [[0], [-1]]]> : tensor<2x2x1xi64>
         %r = nn.gather_nd %a0, %i {batch_dims = 1 : i64} : tensor<2x3x4xf64>, tensor<2x2x1xi64>)");
  for (const char *kind : {"none", "add"}) {
    add(std::string("scatter_elements ") + kind, {"3x4xf64", "2x4xf64"},
        std::string(
            "%i = nn.constant dense<[[0, 1, -1, 0], [1, 2, 0, 1]]> : tensor<2x4xi64>\n%r = nn.scatter_elements ") +
            kind + " %a0, %i, %a1 axis = 0 : tensor<3x4xf64>, tensor<2x4xi64>, tensor<2x4xf64>");
    add(std::string("scatter_nd ") + kind, {"4x3xf64", "2x3xf64"},
        std::string("%i = nn.constant dense<[[2], [-4]]> : tensor<2x1xi64>\n%r = nn.scatter_nd ") + kind +
            " %a0, %i, %a1 : tensor<4x3xf64>, tensor<2x1xi64>, tensor<2x3xf64>");
  }
  add("scatter_nd of elements, one twice", {"4x3xf64", "3xf64"},
      R"(%i = nn.constant dense<[[2, 0], [1, 1], [2, 0]]> : tensor<3x2xi64>
         %r = nn.scatter_nd add %a0, %i, %a1 : tensor<4x3xf64>, tensor<3x2xi64>, tensor<3xf64>)");
  return rows;
}

} // namespace sprig::gradients
