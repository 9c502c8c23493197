// Rows of recurrent layers and scans: one kernel for all steps, and the same step by step where nothing is fused,
// judged by the equations in double precision.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// Errors grow along the sequence; every step adds the roundings of its products and functions.

struct Layer {
  std::string name; // nn.lstm
  int64_t gates;
  int64_t steps, batch, features, hidden;
  std::string options; // "bias", "peephole" and "lengths" among them add operands
  std::string attributes;
  std::string type = "f32";
};

std::string typeText(std::initializer_list<int64_t> sizes, const std::string &type) {
  std::string text;
  for (int64_t size : sizes) text += std::to_string(size) + "x";
  return text + type;
}

Row layerRow(const Layer &l) {
  bool lstm = l.gates == 4;
  Row row;
  row.arguments = {typeText({l.steps, l.batch, l.features}, l.type), typeText({l.gates * l.hidden, l.features}, l.type),
                   typeText({l.gates * l.hidden, l.hidden}, l.type), typeText({l.batch, l.hidden}, l.type)};
  row.patterns = {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Unit}};
  std::string operands = "%a0, %a1, %w from %a3";
  std::vector<std::string> types = row.arguments;
  auto add = [&](const std::string &word, const std::string &type, Pattern pattern) {
    operands += word + "%a" + std::to_string(row.arguments.size());
    row.arguments.push_back(type);
    types.push_back(type);
    row.patterns.push_back(pattern);
  };
  if (lstm) add(", ", typeText({l.batch, l.hidden}, l.type), {Fill::Unit});
  auto has = [&](const char *option) { return l.options.find(option) != std::string::npos; };
  if (has("bias")) add(" bias ", typeText({2 * l.gates * l.hidden}, l.type), {Fill::Unit});
  if (has("peephole")) add(" peephole ", typeText({3 * l.hidden}, l.type), {Fill::Unit});
  if (has("lengths")) add(" lengths ", typeText({l.batch}, "i32"), {Fill::Index, l.steps + 2});
  // Weights small enough that a state of many units does not saturate.
  std::string weight = "tensor<" + row.arguments[2] + ">";
  row.body = "%s = nn.constant dense<0.25> : tensor<" + l.type + ">\n%w = nn.mul %a2, %s : " + weight + ", tensor<" +
             l.type + ">\n%r:" + (lstm ? "3" : "2") + " = " + l.name + " " + operands +
             (l.attributes.empty() ? "" : " {" + l.attributes + "}") + " : " + typeList(types);
  row.name = l.name + " " + typeList({row.arguments[0], row.arguments[2]}) + " " + l.options + " " + l.attributes;
  row.bound = roundings(l.type, 24 + 4.0 * double(l.steps + l.hidden + l.features));
  return row;
}

TEST(OpTable, RecurrentSizes) {
  std::vector<Row> rows;
  struct Kind {
    const char *name;
    int64_t gates;
  };
  for (Kind kind : {Kind{"nn.rnn", 1}, {"nn.gru", 3}, {"nn.lstm", 4}}) {
    auto add = [&](int64_t steps, int64_t batch, int64_t features, int64_t hidden, const char *type = "f32") {
      rows.push_back(layerRow({kind.name, kind.gates, steps, batch, features, hidden, "bias", "", type}));
    };
    add(1, 1, 1, 1);
    add(1, 3, 5, 16);
    add(7, 1, 3, 32);
    add(3, 2, 17, 33);
    add(4, 5, 8, 50);
    add(2, 13, 3, 7);
    add(2, 29, 4, 20);
    add(5, 1, 2, 100);
    add(2, 3, 2, 5, "f64");
    add(3, 16, 5, 9, "f64");
    add(2, 3, 2, 19, "f16");
    add(2, 3, 2, 19, "bf16");
  }
  check(rows);
}

TEST(OpTable, RecurrentVariants) {
  std::vector<Row> rows;
  auto add = [&](const char *name, int64_t gates, const char *options, const char *attributes) {
    rows.push_back(layerRow({name, gates, 4, 3, 5, 21, options, attributes}));
  };
  add("nn.rnn", 1, "", "");
  add("nn.rnn", 1, "bias lengths", "reverse");
  for (const char *function : {"sigmoid", "tanh", "relu", "affine", "leaky_relu", "elu", "hard_sigmoid", "scaled_tanh",
                               "softsign", "softplus", "thresholded_relu"})
    add("nn.rnn", 1, "bias",
        ("activations = [\"" + std::string(function) + "\"], alphas = array<f64: 0.375>, betas = array<f64: 0.625>")
            .c_str());
  add("nn.gru", 3, "", "");
  add("nn.gru", 3, "bias", "linear_before_reset");
  add("nn.gru", 3, "bias lengths", "reverse, clip = 0.5 : f64");
  add("nn.gru", 3, "lengths", "linear_before_reset, reverse");
  add("nn.gru", 3, "",
      "activations = [\"hard_sigmoid\", \"relu\"], alphas = array<f64: 0.2, 0.0>, betas = array<f64: 0.5, 0.0>");
  for (const char *blocks : {"1, 0, 2", "2, 1, 0", "1, 2, 0"})
    add("nn.gru", 3, "bias", ("gate_blocks = array<i64: " + std::string(blocks) + ">").c_str());
  add("nn.gru", 3, "bias lengths", "linear_before_reset, gate_blocks = array<i64: 0, 2, 1>");
  add("nn.lstm", 4, "bias peephole lengths", "reverse, gate_blocks = array<i64: 0, 3, 1, 2>");
  add("nn.lstm", 4, "bias", "input_forget, gate_blocks = array<i64: 3, 2, 1, 0>");
  add("nn.lstm", 4, "", "");
  add("nn.lstm", 4, "bias peephole", "");
  add("nn.lstm", 4, "bias peephole lengths", "reverse, clip = 0.75 : f64");
  add("nn.lstm", 4, "lengths", "input_forget");
  add("nn.lstm", 4, "bias", "activations = [\"sigmoid\", \"softsign\", \"elu\"], alphas = array<f64: 0.0, 0.0, 1.5>");
  check(rows);
}

/// A layer beside the same one whose weights lie in the dialect's order: whether all bits are equal.
Row sameBitsRow(const std::string &name, const std::vector<int> &blocks, const std::string &options) {
  const int64_t hidden = 20, features = 5, gates = int64_t(blocks.size());
  Row row = layerRow({name, gates, 4, 3, features, hidden, "bias", options});
  std::string list, body;
  for (int block : blocks) list += (list.empty() ? "" : ", ") + std::to_string(block);
  int next = 0;
  auto ordered = [&](const std::string &value, std::vector<int64_t> typeText, int64_t times) {
    std::string operands, types, rest = typeText.size() > 1 ? ", 0" : "", one = typeText.size() > 1 ? ", 1" : "";
    std::string more = typeText.size() > 1 ? ", " + std::to_string(typeText[1]) : "";
    std::string type = (typeText.size() > 1 ? "x" + std::to_string(typeText[1]) : "") + "xf32>";
    for (int64_t half = 0; half < times; ++half)
      for (int block : blocks) {
        std::string part = "%o" + std::to_string(next++);
        body += part + " = nn.slice " + value + " starts = [" + std::to_string((half * gates + block) * hidden) + rest +
                "] sizes = [" + std::to_string(hidden) + more + "] steps = [1" + one + "] : tensor<" +
                std::to_string(typeText[0]) + type + "\n";
        operands += (operands.empty() ? "" : ", ") + part;
        types += (types.empty() ? "tensor<" : ", tensor<") + std::to_string(hidden) + type;
      }
    std::string result = "%o" + std::to_string(next++);
    body += result + " = nn.concat " + operands + " axis = 0 : " + types + "\n";
    return result;
  };
  std::string states = gates == 4 ? "%a3, %a4" : "%a3", bias = gates == 4 ? "%a5" : "%a4";
  std::string results = gates == 4 ? ":3" : ":2", comma = options.empty() ? "" : ", ", types = typeList(row.arguments);
  std::string weight = ordered("%a1", {gates * hidden, features}, 1),
              recurrence = ordered("%a2", {gates * hidden, hidden}, 1), biases = ordered(bias, {2 * gates * hidden}, 2);
  auto layer = [&](const std::string &result, const std::string &operands, const std::string &attributes) {
    body += result + results + " = " + name + " %a0, " + operands + " {" + attributes + "} : " + types + "\n";
  };
  layer("%s", "%a1, %a2 from " + states + " bias " + bias, options + comma + "gate_blocks = array<i64: " + list + ">");
  layer("%t", weight + ", " + recurrence + " from " + states + " bias " + biases, options);
  row.body = body + "%r = nn.compare eq %s#0, %t#0 : tensor<4x3x20xf32>, tensor<4x3x20xf32>";
  row.name = name + " of other blocks " + list + " " + options;
  return row;
}

TEST(OpTable, GatesElsewhereHaveTheSameBits) {
  check({sameBitsRow("nn.lstm", {0, 3, 1, 2}, ""), sameBitsRow("nn.lstm", {2, 0, 3, 1}, "reverse"),
         sameBitsRow("nn.gru", {1, 0, 2}, "linear_before_reset"), sameBitsRow("nn.gru", {2, 1, 0}, "")});
}

/// A layer of bytes; `bytes` is their type, options as above, and "columns" for scales and zero points of columns and
/// "computed" for weights that are arguments.
Row byteLayerRow(const Layer &l, const std::string &bytes) {
  auto has = [&](const char *option) { return l.options.find(option) != std::string::npos; };
  Row row;
  std::string body, names, types;
  auto operand = [&](const std::string &word, const std::string &name, const std::string &type) {
    names += word + name;
    types += (types.empty() ? "tensor<" : ", tensor<") + type + ">";
  };
  auto argument = [&](const std::string &word, const std::string &type, Pattern pattern) {
    operand(word, "%a" + std::to_string(row.arguments.size()), type);
    row.arguments.push_back(type);
    row.patterns.push_back(pattern);
  };
  const int64_t columns = 4 * l.hidden;
  argument("", typeText({l.steps, l.batch, l.features}, "f32"), {Fill::Unit});
  for (auto [name, depth] : {std::pair("%w", l.features), std::pair("%r", l.hidden)}) {
    if (has("computed")) {
      argument(", ", tensor({depth, columns}, bytes), {});
      continue;
    }
    body += std::string(name) + " = nn.constant " + constantBytes({depth, columns}, bytes, depth) + "\n";
    operand(", ", name, tensor({depth, columns}, bytes));
  }
  // Sums of a few dozen bytes in the range of the activations.
  std::vector<int64_t> spread;
  if (has("columns")) spread.push_back(columns);
  std::string scale = tensor(spread, "f32"), zero = tensor(spread, bytes);
  body += "%f = nn.constant dense<0.0009765625> : tensor<f32>\n%n = nn.iota axis = 0 : tensor<" +
          tensor({columns}, "f32") + ">\n%g = nn.mul %n, %f : tensor<" + tensor({columns}, "f32") +
          ">, tensor<f32>\n%z = nn.constant " +
          (has("columns") ? constantBytes(spread, bytes, 9)
                          : "dense<" + std::string(has("zero") ? "77" : "0") + "> : tensor<" + zero + ">") +
          "\n";
  for (const char *word : {" scales ", ", "}) {
    operand(word, has("columns") ? "%g" : "%f", scale);
    operand(", ", "%z", zero);
  }
  argument(" from ", typeText({l.batch, l.hidden}, "f32"), {Fill::Unit});
  argument(", ", typeText({l.batch, l.hidden}, "f32"), {Fill::Unit});
  if (has("bias")) argument(" bias ", typeText({2 * columns}, "f32"), {Fill::Unit});
  if (has("peephole")) argument(" peephole ", typeText({3 * l.hidden}, "f32"), {Fill::Unit});
  if (has("lengths")) argument(" lengths ", typeText({l.batch}, "i32"), {Fill::Index, l.steps + 2});
  row.body = body + "%q:3 = nn.lstm_integer " + names + (l.attributes.empty() ? "" : " {" + l.attributes + "}") +
             " : " + types;
  row.name = "nn.lstm_integer " + row.arguments[0] + " " + bytes + " " + l.options + " " + l.attributes;
  // What is rounded to bytes is the same, but for roundings in f32.
  row.bound = roundings("f32", 24 + 8.0 * double(l.steps));
  return row;
}

TEST(OpTable, RecurrentBytes) {
  std::vector<Row> rows;
  auto add = [&](int64_t steps, int64_t batch, int64_t features, int64_t hidden, const char *options = "bias",
                 const char *attributes = "", const char *bytes = "i8") {
    rows.push_back(byteLayerRow({"", 4, steps, batch, features, hidden, options, attributes}, bytes));
  };
  add(1, 1, 1, 1);
  add(1, 3, 5, 16);
  add(6, 1, 3, 32);
  add(3, 2, 17, 33);
  add(4, 1, 8, 50, "");
  add(2, 9, 3, 7);
  add(2, 29, 4, 20);
  add(3, 1, 70, 130);
  add(4, 3, 5, 21, "columns bias", "", "ui8");
  add(4, 1, 5, 21, "columns bias", "reverse");
  add(4, 2, 6, 12, "zero", "", "ui8");
  add(4, 1, 6, 12, "zero bias", "input_forget", "i8");
  add(4, 3, 5, 21, "bias peephole lengths", "clip = 0.75 : f64");
  add(4, 3, 5, 21, "bias peephole lengths", "reverse");
  add(5, 1, 5, 21, "lengths", "reverse");
  add(3, 2, 5, 9, "computed bias");
  add(3, 2, 5, 9, "computed columns lengths", "", "ui8");
  add(3, 2, 5, 9, "bias", "activations = [\"sigmoid\", \"softsign\", \"elu\"], alphas = array<f64: 0.0, 0.0, 1.5>");
  check(rows);
}

Row scanRow(std::string name, std::vector<std::string> arguments, std::string body) {
  return {std::move(name), std::move(arguments), std::move(body), roundings("f32", 400), {}};
}

TEST(OpTable, Scans) {
  std::vector<Row> rows;
  rows.push_back(scanRow(
      "states change places", {"6x3x20xf32", "3x20xf32", "3x20xf32"},
      R"(%r:3 = nn.scan steps = 6 over (%x = %a0 : tensor<6x3x20xf32>) carry (%s = %a1 : tensor<3x20xf32>, %t = %a2 : tensor<3x20xf32>) -> (tensor<3x20xf32>, tensor<3x20xf32>, tensor<6x3x20xf32>) {
  %0 = nn.add %s, %x : tensor<3x20xf32>, tensor<3x20xf32>
  nn.yield %t, %0, %x : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>
})"));
  rows.push_back(scanRow(
      "products of products", {"5x3x18xf32", "3x20xf32", "18x20xf32", "20x37xf32", "37x20xf32"},
      R"(%r:2 = nn.scan steps = 5 reverse over (%x = %a0 : tensor<5x3x18xf32>) carry (%s = %a1 : tensor<3x20xf32>) with (%p = %a2 : tensor<18x20xf32>, %q = %a3 : tensor<20x37xf32>, %o = %a4 : tensor<37x20xf32>) -> (tensor<3x20xf32>, tensor<5x3x5xf32>) {
  %0 = nn.matmul %x, %p : tensor<3x18xf32>, tensor<18x20xf32>
  %1 = nn.add %0, %s : tensor<3x20xf32>, tensor<3x20xf32>
  %2 = nn.tanh %1 : tensor<3x20xf32>
  %3 = nn.matmul %2, %q : tensor<3x20xf32>, tensor<20x37xf32>
  %4 = nn.matmul %3, %o : tensor<3x37xf32>, tensor<37x20xf32>
  %5 = nn.sigmoid %4 : tensor<3x20xf32>
  %6 = nn.mul %5, %2 : tensor<3x20xf32>, tensor<3x20xf32>
  %7 = nn.slice %3 starts = [0, 9] sizes = [3, 5] steps = [1, 1] : tensor<3x37xf32>
  nn.yield %6, %7 : tensor<3x20xf32>, tensor<3x5xf32>
})"));
  rows.push_back(scanRow(
      "columns of one and broadcasts", {"4x9x1xf32", "9x1xf32", "17xf32"},
      R"(%r:2 = nn.scan steps = 4 over (%x = %a0 : tensor<4x9x1xf32>) carry (%s = %a1 : tensor<9x1xf32>) with (%w = %a2 : tensor<17xf32>) -> (tensor<9x1xf32>, tensor<4x9x17xf32>) {
  %0 = nn.mul %s, %x : tensor<9x1xf32>, tensor<9x1xf32>
  %1 = nn.tanh %0 : tensor<9x1xf32>
  %2 = nn.mul %1, %w : tensor<9x1xf32>, tensor<17xf32>
  nn.yield %1, %2 : tensor<9x1xf32>, tensor<9x17xf32>
})"));
  // On a GPU: blocks of three rows, the last of fewer.
  rows.push_back(scanRow(
      "more rows than blocks", {"3x260x5xf32", "260x5xf32", "5x5xf32"},
      R"(%r:2 = nn.scan steps = 3 over (%x = %a0 : tensor<3x260x5xf32>) carry (%s = %a1 : tensor<260x5xf32>) with (%p = %a2 : tensor<5x5xf32>) -> (tensor<260x5xf32>, tensor<3x260x5xf32>) {
  %0 = nn.matmul %s, %p : tensor<260x5xf32>, tensor<5x5xf32>
  %1 = nn.add %0, %x : tensor<260x5xf32>, tensor<260x5xf32>
  %2 = nn.tanh %1 : tensor<260x5xf32>
  nn.yield %2, %1 : tensor<260x5xf32>, tensor<260x5xf32>
})"));
  // There a thread has three rows of four columns.
  rows.push_back(scanRow(
      "a wide product", {"5x17xf32", "17x2048xf32"},
      R"(%r:2 = nn.scan steps = 2 carry (%s = %a0 : tensor<5x17xf32>) with (%p = %a1 : tensor<17x2048xf32>) -> (tensor<5x17xf32>, tensor<2x5x100xf32>) {
  %0 = nn.matmul %s, %p : tensor<5x17xf32>, tensor<17x2048xf32>
  %1 = nn.slice %0 starts = [0, 2030] sizes = [5, 17] steps = [1, 1] : tensor<5x2048xf32>
  %2 = nn.tanh %1 : tensor<5x17xf32>
  %3 = nn.slice %0 starts = [0, 701] sizes = [5, 100] steps = [1, 1] : tensor<5x2048xf32>
  nn.yield %2, %3 : tensor<5x17xf32>, tensor<5x100xf32>
})"));
  rows.push_back(scanRow(
      "long chains", {"2x2x1027xf32", "2x6xf32", "1027x6xf32"},
      R"(%r = nn.scan steps = 2 over (%x = %a0 : tensor<2x2x1027xf32>) carry (%s = %a1 : tensor<2x6xf32>) with (%p = %a2 : tensor<1027x6xf32>) -> tensor<2x6xf32> {
  %0 = nn.matmul %x, %p : tensor<2x1027xf32>, tensor<1027x6xf32>
  %1 = nn.add %0, %s : tensor<2x6xf32>, tensor<2x6xf32>
  %2 = nn.tanh %1 : tensor<2x6xf32>
  nn.yield %2 : tensor<2x6xf32>
})"));
  rows.push_back(scanRow(
      "joined parts", {"4x3x21xf32", "3x26xf32", "26x19xf32"},
      R"(%r:2 = nn.scan steps = 4 over (%x = %a0 : tensor<4x3x21xf32>) carry (%s = %a1 : tensor<3x26xf32>) with (%p = %a2 : tensor<26x19xf32>) -> (tensor<3x26xf32>, tensor<4x3x52xf32>) {
  %0 = nn.slice %x starts = [0, 0] sizes = [3, 5] steps = [1, 1] : tensor<3x21xf32>
  %1 = nn.tanh %0 : tensor<3x5xf32>
  %2 = nn.concat %1, %x axis = 1 : tensor<3x5xf32>, tensor<3x21xf32>
  %3 = nn.matmul %2, %p : tensor<3x26xf32>, tensor<26x19xf32>
  %4 = nn.slice %2 starts = [0, 3] sizes = [3, 19] steps = [1, 1] : tensor<3x26xf32>
  %5 = nn.mul %3, %4 : tensor<3x19xf32>, tensor<3x19xf32>
  %6 = nn.slice %s starts = [0, 17] sizes = [3, 7] steps = [1, 1] : tensor<3x26xf32>
  %7 = nn.concat %5, %6 axis = 1 : tensor<3x19xf32>, tensor<3x7xf32>
  %8 = nn.concat %7, %2 axis = 1 : tensor<3x26xf32>, tensor<3x26xf32>
  nn.yield %7, %8 : tensor<3x26xf32>, tensor<3x52xf32>
})"));
  rows.push_back(scanRow(
      "unrolled: rows meet", {"3x4x6xf32", "4x6xf32"},
      R"(%r:2 = nn.scan steps = 3 over (%x = %a0 : tensor<3x4x6xf32>) carry (%s = %a1 : tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<3x4x6xf32>) {
  %0 = nn.reduce max %s axes = [0] {keep_dims} : tensor<4x6xf32>
  %1 = nn.sub %x, %0 : tensor<4x6xf32>, tensor<1x6xf32>
  nn.yield %1, %s : tensor<4x6xf32>, tensor<4x6xf32>
})"));
  // Reductions that are the same in every order: of rows, and of all rows to one number, behind a product and before
  // it.
  rows.push_back(scanRow(
      "reductions", {"3x4x21xf32", "4x21xf32", "21x18xf32"},
      R"(%r:2 = nn.scan steps = 3 over (%x = %a0 : tensor<3x4x21xf32>) carry (%s = %a1 : tensor<4x21xf32>) with (%p = %a2 : tensor<21x18xf32>) -> (tensor<4x21xf32>, tensor<3x4x18xf32>) {
  %0 = nn.reduce max %s axes = [1] {keep_dims} : tensor<4x21xf32>
  %1 = nn.sub %s, %0 : tensor<4x21xf32>, tensor<4x1xf32>
  %2 = nn.reduce min %1 axes = [0, 1] : tensor<4x21xf32>
  %3 = nn.div %1, %2 : tensor<4x21xf32>, tensor<f32>
  %4 = nn.matmul %3, %p : tensor<4x21xf32>, tensor<21x18xf32>
  %5 = nn.reduce max %4 axes = [0, 1] {keep_dims} : tensor<4x18xf32>
  %6 = nn.neg %5 : tensor<1x1xf32>
  %7 = nn.add %3, %6 : tensor<4x21xf32>, tensor<1x1xf32>
  %8 = nn.tanh %7 : tensor<4x21xf32>
  %9 = nn.add %8, %x : tensor<4x21xf32>, tensor<4x21xf32>
  nn.yield %9, %4 : tensor<4x21xf32>, tensor<4x18xf32>
})"));
  check(rows);
}

} // namespace
} // namespace sprig::optable
