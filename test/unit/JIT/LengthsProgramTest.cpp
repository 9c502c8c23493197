// Programs for a range of lengths against the program of each length: the same bits, whatever lies behind the end. Most
// cases make infinities and NaN of the zeros there.
#include "sprig/compile.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;
using rt::TensorView;

namespace {
/// A function `body` of `inputs`, in which {E} is an expression of the length T: T, T+1, T-1, 2*T, (T+1)/2.
struct Case {
  std::string name, inputs, results, body;
  int first, last;
  std::vector<std::vector<std::string>> shapes; ///< of the inputs, f32
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

int64_t valueOf(const std::string &expression, int t) {
  static const std::map<std::string, std::function<int64_t(int64_t)>> known = {
      {"T", [](int64_t T) { return T; }},
      {"T+1", [](int64_t T) { return T + 1; }},
      {"T-1", [](int64_t T) { return T - 1; }},
      {"2*T", [](int64_t T) { return 2 * T; }},
      {"(T+1)/2", [](int64_t T) { return (T + 1) / 2; }},
      {"T/2", [](int64_t T) { return T / 2; }}};
  auto found = known.find(expression);
  return found == known.end() ? std::stoll(expression) : found->second(t);
}

std::string at(std::string text, int t) {
  for (size_t open; (open = text.find('{' + std::string("{"))) != std::string::npos;) {
    size_t close = text.find("}}", open);
    text.replace(open, close + 2 - open, std::to_string(valueOf(text.substr(open + 2, close - open - 2), t)));
  }
  return text;
}

std::string function(const Case &c, int t, const std::string &attributes) {
  return "func.func @main_" + std::to_string(t) + "(" + at(c.inputs, t) + ") -> (" + at(c.results, t) + ") " +
         attributes + " {\n" + at(c.body, t) + "\n}\n";
}

std::string ofRange(const Case &c) {
  std::string text;
  for (int t : {c.last, c.last - 1, (c.first + c.last) / 2, c.first}) {
    if (text.find("@main_" + std::to_string(t) + "(") != std::string::npos) continue;
    text += function(c, t,
                     "attributes {nn.lengths = {axis = \"time\", first = " + std::to_string(c.first) +
                         ", last = " + std::to_string(c.last) + ", length = " + std::to_string(t) + ", group = 0}}");
  }
  return text;
}

std::vector<rt::Array> run(Program &program, const Case &c, int t) {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> views;
  for (const auto &shape : c.shapes) {
    std::vector<int64_t> sizes;
    size_t count = 1;
    for (const std::string &size : shape) count *= size_t(sizes.emplace_back(valueOf(size, t)));
    std::vector<float> &data = values.emplace_back(count);
    for (size_t i = 0; i < count; ++i) data[i] = float(int(i * 37 % 41) - 20 + (i % 2 ? 0.25 : 0.5)) / 16;
    views.emplace_back(data.data(), sizes);
  }
  return program(views);
}

// Of 0: -inf, so whatever meets an element that nobody gave shows it.
const std::string kSpoilt = R"(
  %a = nn.abs %x : tensor<{{T}}x6xf32>
  %s = nn.log %a : tensor<{{T}}x6xf32>)";

const Case kCases[] = {
    {"attention",
     "%x: tensor<{{T}}x6xf32>, %m: tensor<6x6xf32>",
     "tensor<{{T}}x6xf32>",
     kSpoilt + R"(
  %k = nn.matmul %s, %m : tensor<{{T}}x6xf32>, tensor<6x6xf32>
  %p = nn.matmul %s, %k {transpose_rhs} : tensor<{{T}}x6xf32>, tensor<{{T}}x6xf32>
  %w = nn.softmax %p axis = 1 : tensor<{{T}}x{{T}}xf32>
  %o = nn.matmul %w, %k : tensor<{{T}}x{{T}}xf32>, tensor<{{T}}x6xf32>
  return %o : tensor<{{T}}x6xf32>)",
     5,
     8,
     {{"T", "6"}, {"6", "6"}}},
    {"sums",
     "%x: tensor<{{T}}x6xf32>",
     "tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>",
     kSpoilt + R"(
  %0 = nn.reduce sum %s axes = [0] : tensor<{{T}}x6xf32>
  %1 = nn.reduce_mean %s axes = [0] : tensor<{{T}}x6xf32>
  %2 = nn.reduce max %s axes = [0] : tensor<{{T}}x6xf32>
  %3 = nn.reduce min %s axes = [0] : tensor<{{T}}x6xf32>
  %4 = nn.reduce prod %s axes = [0] : tensor<{{T}}x6xf32>
  return %0, %1, %2, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)",
     17,
     32,
     {{"T", "6"}}},
    // More than 1024 elements for each result at some lengths alone, and more than 1024 of the next power of two at
    // all.
    {"sums_of_samples",
     "%x: tensor<33x{{T}}x8xf32>, %y: tensor<{{T}}x40x8xf32>",
     "tensor<8xf32>, tensor<f32>, tensor<1x1x8xf32>, tensor<8xf32>, tensor<f32>",
     R"(
  %0 = nn.reduce sum %x axes = [0, 1] : tensor<33x{{T}}x8xf32>
  %1 = nn.reduce sum %x axes = [0, 1, 2] : tensor<33x{{T}}x8xf32>
  %2 = nn.reduce_mean %x axes = [0, 1] {keep_dims} : tensor<33x{{T}}x8xf32>
  %3 = nn.reduce sum %y axes = [0, 1] : tensor<{{T}}x40x8xf32>
  %4 = nn.reduce sum %y axes = [0, 1, 2] : tensor<{{T}}x40x8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<f32>, tensor<1x1x8xf32>, tensor<8xf32>, tensor<f32>)",
     29,
     32,
     {{"33", "T", "8"}, {"T", "40", "8"}}},
    {"rows",
     "%x: tensor<{{T}}x6xf32>",
     "tensor<6xf32>, tensor<6x{{T}}xf32>, tensor<6xi64>, tensor<6x2xf32>",
     kSpoilt + R"(
  %r = nn.transpose %s [1, 0] : tensor<{{T}}x6xf32>
  %0 = nn.reduce sum %r axes = [1] : tensor<6x{{T}}xf32>
  %1 = nn.log_softmax %r axis = 1 : tensor<6x{{T}}xf32>
  %2 = nn.arg_reduce max %r axis = 1 : tensor<6x{{T}}xf32>
  %3, %i = nn.top_k %r {k = 2 : i64, axis = 1 : i64} : tensor<6x{{T}}xf32>
  return %0, %1, %2, %3 : tensor<6xf32>, tensor<6x{{T}}xf32>, tensor<6xi64>, tensor<6x2xf32>)",
     17,
     32,
     {{"T", "6"}}},
    {"norm",
     "%x: tensor<{{T}}x6xf32>, %g: tensor<6xf32>",
     "tensor<6x{{T}}xf32>, tensor<{{T}}x6xf32>",
     kSpoilt + R"(
  %r = nn.reshape %s : tensor<{{T}}x6xf32> to tensor<1x{{T}}x6xf32>
  %c = nn.transpose %r [0, 2, 1] : tensor<1x{{T}}x6xf32>
  %n = nn.group_norm %c, %g, %g {groups = 6 : i64, epsilon = 1.0e-5 : f64} : tensor<1x6x{{T}}xf32>, tensor<6xf32>, tensor<6xf32>
  %0 = nn.reshape %n : tensor<1x6x{{T}}xf32> to tensor<6x{{T}}xf32>
  %1 = nn.layer_norm %s, %g axis = 1 {epsilon = 1.0e-5 : f64} : tensor<{{T}}x6xf32>, tensor<6xf32>
  return %0, %1 : tensor<6x{{T}}xf32>, tensor<{{T}}x6xf32>)",
     3,
     4,
     {{"T", "6"}, {"6"}}},
    {"running",
     "%x: tensor<{{T}}x6xf32>",
     "tensor<{{T}}x6xf32>, tensor<{{T}}x6xf32>",
     kSpoilt + R"(
  %0 = nn.cumulative sum %s axis = 0 : tensor<{{T}}x6xf32>
  %1 = nn.cumulative sum %s axis = 0 {exclusive, reverse} : tensor<{{T}}x6xf32>
  return %0, %1 : tensor<{{T}}x6xf32>, tensor<{{T}}x6xf32>)",
     3,
     4,
     {{"T", "6"}}},
    {"windows",
     "%x: tensor<{{T}}x6xf32>, %f: tensor<4x6x3xf32>",
     "tensor<1x4x{{(T+1)/2}}xf32>, tensor<1x6x{{T/2}}xf32>, tensor<1x6x{{T}}xf32>",
     kSpoilt + R"(
  %r = nn.reshape %s : tensor<{{T}}x6xf32> to tensor<1x{{T}}x6xf32>
  %c = nn.transpose %r [0, 2, 1] : tensor<1x{{T}}x6xf32>
  %0 = nn.conv %c, %f {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x6x{{T}}xf32>, tensor<4x6x3xf32>
  %1 = nn.pool sum %c {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x6x{{T}}xf32>
  %2 = nn.pool max %c {window = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x6x{{T}}xf32>
  return %0, %1, %2 : tensor<1x4x{{(T+1)/2}}xf32>, tensor<1x6x{{T/2}}xf32>, tensor<1x6x{{T}}xf32>)",
     5,
     8,
     {{"T", "6"}, {"4", "6", "3"}}},
    {"layers",
     "%x: tensor<{{T}}x6xf32>, %w: tensor<20x6xf32>, %r: tensor<20x5xf32>, %h: tensor<1x5xf32>",
     "tensor<{{T}}x1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>",
     kSpoilt + R"(
  %i = nn.reshape %s : tensor<{{T}}x6xf32> to tensor<{{T}}x1x6xf32>
  %y, %0, %1 = nn.lstm %i, %w, %r from %h, %h : tensor<{{T}}x1x6xf32>, tensor<20x6xf32>, tensor<20x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>
  %z, %2, %3 = nn.lstm %i, %w, %r from %h, %h {reverse} : tensor<{{T}}x1x6xf32>, tensor<20x6xf32>, tensor<20x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>
  %b = nn.add %y, %z : tensor<{{T}}x1x5xf32>, tensor<{{T}}x1x5xf32>
  return %b, %0, %1, %2 : tensor<{{T}}x1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>)",
     5,
     8,
     {{"T", "6"}, {"20", "6"}, {"20", "5"}, {"1", "5"}}},
    {"loop",
     "%x: tensor<{{T}}x6xf32>, %h: tensor<6xf32>",
     "tensor<6xf32>, tensor<{{T}}x6xf32>, tensor<6xf32>",
     kSpoilt + R"(
  %0, %1 = nn.scan steps = {{T}} over (%t = %s : tensor<{{T}}x6xf32>) carry (%c = %h : tensor<6xf32>) -> (tensor<6xf32>, tensor<{{T}}x6xf32>) {
    %n = nn.add %t, %c : tensor<6xf32>, tensor<6xf32>
    %m = nn.tanh %n : tensor<6xf32>
    nn.yield %m, %m : tensor<6xf32>, tensor<6xf32>
  }
  %2 = nn.scan steps = {{T}} reverse over (%t = %s : tensor<{{T}}x6xf32>) carry (%c = %h : tensor<6xf32>) -> (tensor<6xf32>) {
    %n = nn.add %t, %c : tensor<6xf32>, tensor<6xf32>
    nn.yield %n : tensor<6xf32>
  }
  return %0, %1, %2 : tensor<6xf32>, tensor<{{T}}x6xf32>, tensor<6xf32>)",
     5,
     8,
     {{"T", "6"}, {"6"}}},
    {"places",
     "%x: tensor<{{T}}x6xf32>, %y: tensor<1x6xf32>",
     "tensor<1x6xf32>, tensor<{{T+1}}x6xf32>, tensor<{{T}}x6xf32>, tensor<{{T+1}}x6xf32>, tensor<6xf32>",
     kSpoilt + R"(
  %0 = nn.slice %s starts = [{{T-1}}, 0] sizes = [1, 6] steps = [1, 1] : tensor<{{T}}x6xf32>
  %1 = nn.concat %s, %y axis = 0 : tensor<{{T}}x6xf32>, tensor<1x6xf32>
  %2 = nn.slice %s starts = [{{T-1}}, 0] sizes = [{{T}}, 6] steps = [-1, 1] : tensor<{{T}}x6xf32>
  %v = nn.constant dense<2.0> : tensor<f32>
  %3 = nn.pad constant %s, %v low = [0, 0] high = [1, 0] : tensor<{{T}}x6xf32>, tensor<f32>
  %i = nn.constant dense<-2> : tensor<i64>
  %4 = nn.gather %1, %i axis = 0 : tensor<{{T+1}}x6xf32>, tensor<i64>
  return %0, %1, %2, %3, %4 : tensor<1x6xf32>, tensor<{{T+1}}x6xf32>, tensor<{{T}}x6xf32>, tensor<{{T+1}}x6xf32>, tensor<6xf32>)",
     3,
     4,
     {{"T", "6"}, {"1", "6"}}},
    {"batch",
     "%x: tensor<{{T}}x6xf32>, %h: tensor<1x{{T}}x5xf32>, %w: tensor<5x6xf32>, %r: tensor<5x5xf32>",
     "tensor<{{T}}x5xf32>",
     kSpoilt + R"(
  %i = nn.reshape %s : tensor<{{T}}x6xf32> to tensor<1x{{T}}x6xf32>
  %h0 = nn.reshape %h : tensor<1x{{T}}x5xf32> to tensor<{{T}}x5xf32>
  %y, %0 = nn.rnn %i, %w, %r from %h0 : tensor<1x{{T}}x6xf32>, tensor<5x6xf32>, tensor<5x5xf32>, tensor<{{T}}x5xf32>
  return %0 : tensor<{{T}}x5xf32>)",
     5,
     8,
     {{"T", "6"}, {"1", "T", "5"}, {"5", "6"}, {"5", "5"}}},
    {"long",
     "%x: tensor<{{T}}x6xf32>, %y: tensor<6x{{T}}xf32>",
     "tensor<6x6xf32>",
     kSpoilt + R"(
  %p = nn.matmul %y, %s : tensor<6x{{T}}xf32>, tensor<{{T}}x6xf32>
  return %p : tensor<6x6xf32>)",
     1025,
     1500,
     {{"T", "6"}, {"6", "T"}}},
};
} // namespace

class Lengths : public testing::TestWithParam<Case> {};

TEST_P(Lengths, HaveTheBitsOfTheirOwnPrograms) {
  const Case &c = GetParam();
  CompileOptions strict;
  strict.math = MathMode::strict;
  Program range = compile(Model::text(ofRange(c)), strict);
  for (int t = c.first; t <= c.last; t += std::max(1, (c.last - c.first) / 4)) {
    Program exact = compile(Model::text(function(c, t, "")), strict);
    std::vector<rt::Array> got = run(range, c, t), want = run(exact, c, t);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i].shape(), want[i].shape()) << "result " << i << " at length " << t;
      EXPECT_EQ(std::memcmp(got[i].data(), want[i].data(), want[i].bytes()), 0) << "result " << i << " at length " << t;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Lengths, testing::ValuesIn(kCases), [](const auto &each) { return each.param.name; });

// What a program refuses at its own length it refuses behind the end too, and nothing else.
TEST(LengthsOfIndices, AreCheckedAgainstTheLength) {
  auto text = [](int t) {
    std::string T = std::to_string(t);
    return "func.func @main_" + T + "(%x: tensor<" + T + "xf32>, %i: tensor<2xi64>) -> tensor<2xf32> attributes {" +
           "nn.lengths = {axis = \"time\", first = 3, last = 4, length = " + T + ", group = 0}} {\n" +
           "  %y = nn.gather %x, %i axis = 0 : tensor<" + T + "xf32>, tensor<2xi64>\n  return %y : tensor<2xf32>\n}\n";
  };
  Program program = compile(Model::text(text(4) + text(3)));
  float x[] = {1, 2, 4, 8};
  auto pick = [&](int64_t length, int64_t a, int64_t b) {
    int64_t indices[] = {a, b};
    std::vector<rt::Array> y = program({TensorView(x, {length}), TensorView(indices, {2})});
    return std::pair(y[0].as<float>()[0], y[0].as<float>()[1]);
  };
  EXPECT_EQ(pick(4, 3, -1), std::pair(8.0f, 8.0f));
  EXPECT_EQ(pick(3, 2, -1), std::pair(4.0f, 4.0f));
  EXPECT_EQ(pick(3, -3, 0), std::pair(1.0f, 1.0f));
  EXPECT_THROW(pick(3, 3, 0), rt::Error);
  EXPECT_THROW(pick(3, 0, -4), rt::Error);
  EXPECT_THROW(pick(4, 0, -5), rt::Error);
}
