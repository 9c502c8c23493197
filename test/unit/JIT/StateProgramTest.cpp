// Inputs that outputs of the call before are: as state of the program against giving them by hand, the same bits.
#include "sprig/compile.h"
#include "sprig/error.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;
using rt::TensorView;

namespace {
using Values = std::vector<float>;

Values numbers(size_t count, int seed) {
  Values values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float((int(i) * 37 + seed * 11) % 41 - 20) / 16;
  return values;
}

Values valuesOf(const rt::Array &array) { return Values(array.as<float>(), array.as<float>() + array.elements()); }

bool haveEqualBits(const Values &a, const Values &b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(float));
}

/// One step of attention with `past` rows of keys, as a decoder is exported.
std::string decoderStep(int past, const std::string &lengths = "") {
  std::string p = std::to_string(past), all = std::to_string(past + 1);
  return "func.func @main_" + p + "(%x: tensor<1x6xf32> {nn.name = \"x\"}, %past: tensor<" + p +
         "x6xf32> {nn.name = \"past.0\"}, %mask: tensor<" + all +
         "xf32> {nn.name = \"mask\"}) -> (tensor<1x6xf32> {nn.name = \"y\"}, tensor<" + all +
         "x6xf32> {nn.name = \"present.0\"}) attributes {nn.entry = \"main\"" + lengths + "} {\n" +
         "  %k = nn.concat %past, %x axis = 0 : tensor<" + p + "x6xf32>, tensor<1x6xf32>\n" +
         "  %s = nn.matmul %x, %k {transpose_rhs} : tensor<1x6xf32>, tensor<" + all + "x6xf32>\n" +
         "  %m = nn.add %s, %mask : tensor<1x" + all + "xf32>, tensor<" + all + "xf32>\n" +
         "  %w = nn.softmax %m axis = 1 : tensor<1x" + all + "xf32>\n" + "  %y = nn.matmul %w, %k : tensor<1x" + all +
         "xf32>, tensor<" + all + "x6xf32>\n" + "  return %y, %k : tensor<1x6xf32>, tensor<" + all + "x6xf32>\n}\n";
}

/// Its programs for 0 to 8 rows, of which those from 3 on take ranges.
std::string decoder() {
  std::string text = decoderStep(0) + decoderStep(1) + decoderStep(2);
  int group = 0;
  for (auto [first, last] : {std::pair(3, 4), std::pair(5, 8)}) {
    for (int past = last; past >= first; --past)
      text += decoderStep(past, ", nn.lengths = {axis = \"past\", first = " + std::to_string(first) +
                                    ", last = " + std::to_string(last) + ", length = " + std::to_string(past) +
                                    ", group = " + std::to_string(group) + "}");
    ++group;
  }
  return text;
}

TEST(StateProgram, KeysAndValuesStayInThePackage) {
  Program program = compile(Model::text(decoder()), {.states = {{"past.*", "present.*"}}, .math = MathMode::strict});
  Values past;
  for (int step = 0; step <= 8; ++step) {
    Values x = numbers(6, step), mask(size_t(step) + 1, 0.0f);
    Program exact = compile(Model::text(decoderStep(step)), {.math = MathMode::strict});
    std::vector<rt::Array> expected =
        exact({TensorView(x.data(), {1, 6}), TensorView(past.data(), {step, 6}), TensorView(mask.data(), {step + 1})});
    std::vector<rt::Array> found = program({TensorView(x.data(), {1, 6}), TensorView(mask.data(), {step + 1})});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(haveEqualBits(valuesOf(found[0]), valuesOf(expected[0]))) << "step " << step;
    past = valuesOf(expected[1]);
  }
}

// Two contexts are two sequences; a fresh one begins at zeros.
TEST(StateProgram, EachContextHasItsOwn) {
  std::string text = R"(
func.func @main(%x: tensor<3xf32> {nn.name = "x"}, %h: tensor<3xf32> {nn.name = "h"})
    -> (tensor<3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "h_next"}) {
  %0 = nn.add %h, %x : tensor<3xf32>, tensor<3xf32>
  %1 = nn.mul %0, %0 : tensor<3xf32>, tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<3xf32>
})";
  Program first = compile(Model::text(text), {.states = {{"h", "h_next"}}});
  rt::Context second(first.package());
  Values x = {1, 2, 3};
  TensorView view(x.data(), {3});
  for (int call = 1; call <= 3; ++call)
    EXPECT_EQ(valuesOf(first({view})[0]), (Values{float(call * call), float(4 * call * call), float(9 * call * call)}));
  EXPECT_EQ(valuesOf(second.run(std::span(&view, 1))[0]), (Values{1, 4, 9}));
}

std::string refusalOf(const std::string &text, std::vector<std::pair<std::string, std::string>> states) {
  try {
    compileToPackage(Model::text(text), {.states = std::move(states)});
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(StateProgram, RefusesByName) {
  std::string step = decoderStep(2);
  EXPECT_EQ(refusalOf(step, {{"h", "y"}}), "state h=y: the model has no input 'h'");
  EXPECT_EQ(refusalOf(step, {{"past.*", "next.*"}}),
            "state past.*=next.*: the model has no output 'next.0', which input 'past.0' would be of the call before");
  EXPECT_EQ(refusalOf(step, {{"past.*", "present.0"}}),
            "state past.*=present.0: expected one '*' in both names, or none");
  EXPECT_EQ(
      refusalOf(step, {{"past.0", "present.0"}}),
      "state past.0=present.0: input 'past.0' is 2x6xf32, output 'present.0' 3x6xf32; what grows from call to call "
      "takes a range of lengths, as --dim past=0..127 (ranges)");
  EXPECT_EQ(refusalOf(step, {{"mask", "y"}}),
            "state mask=y: input 'mask' is 3xf32, output 'y' 1x6xf32: expected tensors of one type");
  EXPECT_EQ(refusalOf(step, {{"x", "y"}, {"*", "*"}}), "state *=*: input 'x' is a state already");
  EXPECT_EQ(refusalOf(step, {{"x", "y"}, {"past.0", "y"}}), "state past.0=y: output 'y' is a state already");
  EXPECT_EQ(refusalOf("nn.param @x = dense<1.0> : tensor<1xf32>\n" + step, {{"x", "y"}}),
            "state x=y: the model has a parameter or an entry that is called 'x'");
  // Where nothing but the state tells the length.
  std::string untold =
      "func.func @a(%x: tensor<1xf32>, %h: tensor<1xf32>) -> tensor<2xf32> {\n"
      "  %0 = nn.concat %h, %x axis = 0 : tensor<1xf32>, tensor<1xf32>\n  return %0 : tensor<2xf32>\n}\n"
      "func.func @b(%x: tensor<1xf32>, %h: tensor<2xf32>) -> tensor<3xf32> {\n"
      "  %0 = nn.concat %h, %x axis = 0 : tensor<2xf32>, tensor<1xf32>\n  return %0 : tensor<3xf32>\n}\n";
  EXPECT_EQ(refusalOf(untold, {{"input1", "output0"}}),
            "state input1=output0: no input but the states is of another size with 'input1', so that nothing tells how "
            "much of it is there");
  // Entries have one state.
  std::string batches = "func.func @a(%h: tensor<1x3xf32>) -> tensor<1x3xf32> {\n  return %h : tensor<1x3xf32>\n}\n"
                        "func.func @b(%h: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  return %h : tensor<2x3xf32>\n}\n";
  EXPECT_EQ(refusalOf(batches, {{"input0", "output0"}}),
            "state input0=output0: input 'input0' is 2x3xf32, output 'output0' 2x3xf32 in one entry, and 1x3xf32 in "
            "another, which have one state");
  std::string ranks = "func.func @a(%h: tensor<3xf32>) -> tensor<3xf32> {\n  return %h : tensor<3xf32>\n}\n"
                      "func.func @b(%h: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  return %h : tensor<2x3xf32>\n}\n";
  EXPECT_NE(refusalOf(ranks, {{"input0", "output0"}}).find("which have one state"), std::string::npos);
  std::string shrinks =
      "func.func @a(%h: tensor<3xf32>) -> tensor<2xf32> {\n"
      "  %0 = nn.slice %h starts = [1] sizes = [2] steps = [1] : tensor<3xf32>\n  return %0 : tensor<2xf32>\n}\n";
  EXPECT_NE(refusalOf(shrinks, {{"input0", "output0"}}).find(": expected one dimension that grows"), std::string::npos);
}
} // namespace
