// Rows of attention, which targets make one kernel of: few and many rows, short and long ones, ends amid tiles,
// operands as they lie and through views, masks.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>
#include <optional>

namespace sprig::optable {
namespace {

struct Sizes {
  int64_t matrices, rows, keys, depth, columns;
};

std::string shape(std::initializer_list<int64_t> sizes, const char *type = "f32") {
  std::string text;
  for (int64_t size : sizes) text += std::to_string(size) + "x";
  return text + type;
}

std::string tensorText(const std::string &type) { return "tensor<" + type + ">"; }

// Of %q and %k, %v as they lie, with what `between` makes %s of %p, which are of %scores.
Row attention(const Sizes &s, std::vector<std::string> others = {}, const std::string &between = {},
              const std::string &key = {}, bool transposed = false) {
  std::string q = shape({s.matrices, s.rows, s.depth}), v = shape({s.matrices, s.keys, s.columns});
  std::string k = transposed ? shape({s.matrices, s.keys, s.depth}) : shape({s.matrices, s.depth, s.keys});
  std::string scores = tensorText(shape({s.matrices, s.rows, s.keys}));
  std::vector<std::string> arguments = {q, k, v};
  arguments.insert(arguments.end(), others.begin(), others.end());
  std::string left = between.empty() ? "%p" : "%s", right = key.empty() ? "%a1" : "%k";
  std::string body = key + "%p = nn.matmul %a0, " + right + (transposed ? " {transpose_rhs}" : "") + " : " +
                     tensorText(q) + ", " + tensorText(k) + "\n" + between + "%w = nn.softmax " + left +
                     " axis = 2 : " + scores + "\n%r = nn.matmul %w, %a2 : " + scores + ", " + tensorText(v);
  std::vector<Pattern> patterns = {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}};
  return {"attention", arguments, body, {64, 4e-5}, patterns};
}

// Rows whose values no kernels of parts may have computed.
void checkFused(std::vector<Row> rows) {
  for (Row &row : rows) row.dispatch = "attention";
  check(std::move(rows));
}

// Rows that fewer threads than a warp share, a warp and a block; chains that are cut.
TEST(OpTable, Attention) {
  std::vector<Row> rows;
  for (const Sizes &s : {Sizes{2, 5, 7, 3, 5},
                         {1, 1, 33, 4, 9},
                         {3, 1, 130, 16, 8},
                         {1, 1, 301, 8, 12},
                         {2, 2, 520, 5, 4},
                         {1, 3, 1300, 4, 3},
                         {2, 17, 64, 8, 16},
                         {1, 33, 40, 20, 33},
                         {1, 65, 70, 17, 70},
                         {1, 8, 16, 1100, 8},
                         {1, 20, 2, 3, 1}}) {
    rows.push_back(attention(s, {}, {}, {}, /*transposed=*/rows.size() % 2 == 1));
  }
  checkFused(rows);
}

// Whose chains are sums of nothing.
TEST(OpTable, AttentionWithoutDepth) { check({attention({1, 5, 9, 0, 6})}); }

// GPUs give a block 2, 4, ... 64 rows of these, the last one fewer.
TEST(OpTable, AttentionOfManyRows) {
  std::vector<Row> rows;
  for (const Sizes &s : {Sizes{1, 255, 300, 4, 5},
                         {1, 510, 35, 4, 8},
                         {1, 1020, 40, 8, 5},
                         {1, 2045, 20, 4, 12},
                         {1, 4090, 20, 4, 5},
                         {1, 8190, 12, 4, 4}})
    rows.push_back(attention(s, {}, {}, {}, /*transposed=*/s.rows % 4 == 2));
  checkFused(rows);
}

TEST(OpTable, AttentionWithMasks) {
  std::vector<Row> rows;
  const Sizes s{2, 19, 37, 8, 12};
  std::string scores = tensorText(shape({2, 19, 37}));
  std::string scale = "%c = nn.constant dense<0.353> : tensor<f32>\n%t = nn.mul %p, %c : " + scores + ", tensor<f32>\n";
  for (const char *mask : {"19x37x", "2x19x37x", "2x1x37x", "19x1x", "37x"}) {
    std::string additive = std::string(mask) + "f32", boolean = std::string(mask) + "i1";
    rows.push_back(
        attention(s, {additive}, scale + "%s = nn.add %t, %a3 : " + scores + ", " + tensorText(additive) + "\n"));
    rows.push_back(attention(s, {boolean},
                             "%c = nn.constant dense<-1.0e9> : tensor<f32>\n%s = nn.select %a3, %p, %c : " +
                                 tensorText(boolean) + ", " + scores + ", tensor<f32>\n"));
  }
  // What is no key at all, as infinity: rows that have one keep others.
  rows.push_back(attention(s, {"37xf32"},
                           "%z = nn.log %a3 : tensor<37xf32>\n%s = nn.add %p, %z : " + scores + ", tensor<37xf32>\n"));
  rows.back().patterns.push_back({Fill::Index, 3});
  // A factor before the product.
  std::string k = tensorText(shape({2, 8, 37}));
  rows.push_back(attention(
      s, {}, {}, "%c = nn.constant dense<0.353> : tensor<f32>\n%k = nn.mul %a1, %c : " + k + ", tensor<f32>\n"));
  // Keys that are infinite, which lie next to the padding too: whatever they meet there is no number.
  const Sizes few{1, 5, 35, 2, 3};
  std::string infinite = tensorText(shape({1, 2, 35}));
  rows.push_back(attention(few, {}, {}, "%k = nn.log %a1 : " + infinite + "\n"));
  rows.back().patterns = {{Fill::Positive}, {Fill::Index, 3}, {Fill::Unit}};
  // Other reductions of a row than those of a softmax.
  rows.push_back({"attention",
                  {"19x8xf32", "8x37xf32", "37x5xf32"},
                  "%p = nn.matmul %a0, %a1 : tensor<19x8xf32>, tensor<8x37xf32>\n"
                  "%m = nn.reduce sum %p axes = [1] {keep_dims} : tensor<19x37xf32>\n"
                  "%s = nn.sub %p, %m : tensor<19x37xf32>, tensor<19x1xf32>\n"
                  "%r = nn.matmul %s, %a2 : tensor<19x37xf32>, tensor<37x5xf32>",
                  {64, 4e-5},
                  {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}}});
  checkFused(rows);
}

// %s of %p, where row i sees the keys [i - lower, i + upper]; without a bound, as far as there are keys.
std::string banded(const Sizes &s, std::optional<int64_t> lower, std::optional<int64_t> upper,
                   const char *low = "0xFF800000") {
  std::string rows = tensorText(shape({s.rows, 1}, "i64")), keys = tensorText(shape({1, s.keys}, "i64"));
  std::string places = tensorText(shape({s.rows, s.keys}, "i1")),
              scores = tensorText(shape({s.matrices, s.rows, s.keys}));
  std::string text = "%i = nn.iota axis = 0 : " + rows + "\n%j = nn.iota axis = 1 : " + keys + "\n";
  auto number = [](const std::string &name, int64_t value) {
    return "%" + name + " = nn.constant dense<" + std::to_string(value) + "> : tensor<i64>\n";
  };
  if (upper)
    text += number("u", *upper) + "%iu = nn.add %i, %u : " + rows +
            ", tensor<i64>\n%mu = nn.compare ge %iu, %j : " + rows + ", " + keys + "\n";
  if (lower)
    text += number("l", *lower) + "%jl = nn.add %j, %l : " + keys +
            ", tensor<i64>\n%ml = nn.compare lt %jl, %i : " + keys + ", " + rows + "\n";
  text += std::string("%low = nn.constant dense<") + low + "> : tensor<f32>\n";
  if (lower)
    text +=
        std::string(upper ? "%t" : "%s") + " = nn.select %ml, %low, %p : " + places + ", tensor<f32>, " + scores + "\n";
  if (upper)
    text += "%s = nn.select %mu, " + std::string(lower ? "%t" : "%p") + ", %low : " + places + ", " + scores +
            ", tensor<f32>\n";
  return text;
}

// Masks that are bands: keys that no row of a step sees are left out. Rows and keys that end amid vectors and panels,
// more keys than rows and fewer, chains that are cut.
TEST(OpTable, AttentionInBands) {
  std::vector<Row> rows;
  auto add = [&](const Sizes &s, std::optional<int64_t> lower, std::optional<int64_t> upper) {
    rows.push_back(attention(s, {}, banded(s, lower, upper)));
  };
  for (const Sizes &s : {Sizes{2, 130, 130, 4, 5}, {1, 200, 200, 8, 33}, {1, 96, 224, 4, 8}, {2, 150, 70, 4, 16}}) {
    add(s, std::nullopt, std::max<int64_t>(s.keys - s.rows, 0));
    if (s.rows <= s.keys) add(s, 0, std::nullopt);
    add(s, 90, 3);
    if (s.rows <= s.keys) add(s, 17, 40);
  }
  add({1, 300, 300, 4, 8}, 5, 0);
  add({1, 7, 1300, 4, 8}, std::nullopt, 200);
  add({1, 70, 1300, 4, 8}, -600, std::nullopt);
  add({1, 70, 1300, 4, 8}, -500, 700);
  // Of rows that see no key the weights are no numbers, or those of all keys.
  add({1, 130, 130, 4, 5}, std::nullopt, -1);
  for (const char *low : {"-1.0e9", "-3.40282347e+38", "-1.0e4"}) {
    rows.push_back(attention({2, 130, 130, 4, 5}, {}, banded({2, 130, 130, 4, 5}, 90, 3, low)));
    rows.push_back(attention({1, 130, 130, 4, 5}, {}, banded({1, 130, 130, 4, 5}, std::nullopt, -1, low)));
  }
  checkFused(rows);
}

// Heads are views of one projection, with a factor behind the view; one projection of keys may serve all heads.
TEST(OpTable, AttentionOfHeads) {
  std::vector<Row> rows;
  for (int64_t keys : {9, 300}) {
    std::string n = std::to_string(keys), all = tensorText("2x" + n + "x48xf32"),
                part = tensorText("2x" + n + "x16xf32");
    std::string split = tensorText("2x" + n + "x2x8xf32"), head = tensorText("2x2x" + n + "x8xf32"),
                turned = tensorText("2x2x8x" + n + "xf32"), scores = tensorText("2x2x" + n + "x" + n + "xf32");
    auto take = [&](const std::string &name, int64_t first, const char *order) {
      return "%" + name + "0 = nn.slice %a0 starts = [0, 0, " + std::to_string(first) + "] sizes = [2, " + n +
             ", 16] steps = [1, 1, 1] : " + all + "\n%" + name + "1 = nn.reshape %" + name + "0 : " + part + " to " +
             split + "\n%" + name + "2 = nn.transpose %" + name + "1 [" + order + "] : " + split + "\n";
    };
    rows.push_back({"attention",
                    {"2x" + n + "x48xf32"},
                    take("q", 0, "0, 2, 1, 3") + take("k", 16, "0, 2, 3, 1") + take("v", 32, "0, 2, 1, 3") +
                        "%c = nn.constant dense<0.353> : tensor<f32>\n%q3 = nn.mul %q2, %c : " + head +
                        ", tensor<f32>\n%p = nn.matmul %q3, %k2 : " + head + ", " + turned +
                        "\n%w = nn.softmax %p axis = 3 : " + scores + "\n%o = nn.matmul %w, %v2 : " + scores + ", " +
                        head + "\n%t = nn.transpose %o [0, 2, 1, 3] : " + head + "\n%r = nn.reshape %t : " + split +
                        " to " + part,
                    {64, 4e-5},
                    {{Fill::Unit}}});
  }
  rows.push_back({"attention",
                  {"2x3x1x8xf32", "2x1x300x8xf32", "2x1x300x8xf32"},
                  "%p = nn.matmul %a0, %a1 {transpose_rhs} : tensor<2x3x1x8xf32>, tensor<2x1x300x8xf32>\n"
                  "%w = nn.softmax %p axis = 3 : tensor<2x3x1x300xf32>\n"
                  "%r = nn.matmul %w, %a2 : tensor<2x3x1x300xf32>, tensor<2x1x300x8xf32>",
                  {64, 4e-5},
                  {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}}});
  checkFused(rows);
}

// Views that something else of the attention reads too: a row's operation, another operand.
TEST(OpTable, AttentionOfSharedViews) {
  const std::vector<Pattern> unit = {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}};
  checkFused({{"attention",
               {"2x4x4xf32", "2x48xf32", "2x4x4xf32"},
               "%s = nn.slice %a1 starts = [0, 16] sizes = [2, 16] steps = [1, 1] : tensor<2x48xf32>\n"
               "%k = nn.reshape %s : tensor<2x16xf32> to tensor<2x4x4xf32>\n"
               "%p = nn.matmul %a0, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>\n"
               "%t = nn.add %p, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>\n"
               "%w = nn.softmax %t axis = 2 : tensor<2x4x4xf32>\n"
               "%r = nn.matmul %w, %a2 : tensor<2x4x4xf32>, tensor<2x4x4xf32>",
               {64, 4e-5},
               unit},
              {"attention",
               {"2x4x3x2xf32", "4x4x4xf32"},
               "%v = nn.transpose %a1 [2, 0, 1] : tensor<4x4x4xf32>\n"
               "%s = nn.reshape %v : tensor<4x4x4xf32> to tensor<2x2x4x4xf32>\n"
               "%k = nn.transpose %s [0, 2, 3, 1] : tensor<2x2x4x4xf32>\n"
               "%p = nn.matmul %a0, %k {transpose_rhs} : tensor<2x4x3x2xf32>, tensor<2x4x4x2xf32>\n"
               "%w = nn.softmax %p axis = 3 : tensor<2x4x3x4xf32>\n"
               "%r = nn.matmul %w, %v : tensor<2x4x3x4xf32>, tensor<4x4x4xf32>",
               {64, 4e-5},
               unit}});
}

// In a branch, where one block of more threads computes all tiles in turn.
TEST(OpTable, AttentionInABranch) {
  check(
      {{"cond",
        {"2x5x7xf32", "2x7x9xf32", "2x9x300xf32", "i1"},
        R"(%r = nn.cond %a3 with (%q = %a0 : tensor<2x5x7xf32>, %k = %a1 : tensor<2x7x9xf32>, %v = %a2 : tensor<2x9x300xf32>) -> tensor<2x5x300xf32> {
  %0 = nn.matmul %q, %k : tensor<2x5x7xf32>, tensor<2x7x9xf32>
  %1 = nn.softmax %0 axis = 2 : tensor<2x5x9xf32>
  %2 = nn.matmul %1, %v : tensor<2x5x9xf32>, tensor<2x9x300xf32>
  %3 = nn.softmax %2 axis = 2 : tensor<2x5x300xf32>
  nn.yield %3 : tensor<2x5x300xf32>
} else {
  %0 = nn.matmul %q, %k : tensor<2x5x7xf32>, tensor<2x7x9xf32>
  %1 = nn.matmul %0, %v : tensor<2x5x9xf32>, tensor<2x9x300xf32>
  nn.yield %1 : tensor<2x5x300xf32>
})",
        {64, 4e-5},
        {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Distinct}}}});
}

} // namespace
} // namespace sprig::optable
