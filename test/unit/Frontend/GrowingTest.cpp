// Compiled functions whose arguments have a growing axis: few programs, with the values and bits of the length's own;
// what they cannot be.
#include "sprig/functional.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include "test/unit/Frontend/Expect.h"
#include <cstring>

using namespace sprig;

namespace {

/// One layer of attention over [length, 8]: the weighted values of all, and of the last.
std::pair<Tensor, Tensor> attend(const Tensor &x, const Tensor &w) {
  Tensor keys = matmul(x, w), weights = softmax(matmul(x, transpose(keys)) / 3, 1), mixed = matmul(weights, keys);
  return {mixed, mixed[-1] + mean(x, {0})};
}

std::vector<char> bytesOf(const Tensor &tensor) {
  std::vector<float> values = tensor.toVector<float>();
  std::vector<char> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Growing, LengthsUpToPowersOfTwoShareAProgram) {
  manualSeed(3);
  Tensor w = randn({8, 8});
  int runs = 0;
  auto growing = compile(
      [&](const Tensor &x, const Tensor &weight) {
        ++runs;
        return attend(x, weight);
      },
      {.growing = {{.tensor = 0, .axis = 0}}, .longest = 20});
  auto exact = compile(attend, {.report = [](const std::string &) {}, .maxVariants = 32});
  for (int length = 1; length <= 20; ++length) {
    Tensor x = randn({length, 8});
    auto [all, last] = growing(x, w);
    auto [wantAll, wantLast] = exact(x, w);
    ASSERT_EQ(all.shape(), wantAll.shape()) << length;
    EXPECT_EQ(bytesOf(all), bytesOf(wantAll)) << length;
    EXPECT_EQ(bytesOf(last), bytesOf(wantLast)) << length;
  }
  // 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 20.
  EXPECT_EQ(growing.recordings().size(), 6u);
  EXPECT_EQ(growing.recordings()[3], "lengths 5 to 8");
  int before = runs;
  growing(randn({7, 8}), w);
  EXPECT_EQ(runs, before);
}

TEST(Growing, ParametersAreReadAsTheyAre) {
  manualSeed(4);
  nn::GRU layer(3, 5);
  auto run = compile([&](const Tensor &x) { return layer(x).output; }, {.growing = {{0, 0}}, .longest = 8});
  for (int length : {3, 4, 7}) {
    Tensor x = randn({length, 2, 3});
    expectSameBits(run(x), layer(x).output);
  }
  layer.parameters()[0].set(layer.parameters()[0] * 2);
  Tensor x = randn({3, 2, 3});
  expectSameBits(run(x), layer(x).output);
}

// Whatever lies behind the end: infinities, NaN, indices of the longest length.
TEST(Growing, IndicesAndCheckedValuesBehindTheEndAreNobodys) {
  manualSeed(5);
  auto ends = [](const Tensor &x) {
    int64_t length = x.size(0);
    Tensor steps = arange(0, length), back = length - 1 - steps;
    return std::vector<Tensor>{indexSelect(x, 0, floorDivide(arange(0, 2 * length), 2)),
                               x[back],
                               take(x, -1 - steps, 0),
                               matmul(oneHot(steps, length).to(DType::f32), x),
                               gather(x, 0, back.unsqueeze(1) * ones({1, 3}, DType::i64)),
                               maskedFill(x, (steps == length - 1).unsqueeze(1), 0.0),
                               take(x(Slice(1, length)), arange(0, length - 1), 0),
                               bceLoss(sigmoid(x / x), sigmoid(x), {.reduction = Reduction::none}),
                               gaussianNllLoss(x, x * 2, x / x)};
  };
  auto growing = compile(ends, {.growing = {{0, 0}}, .longest = 8});
  auto exact = compile(ends, {.report = [](const std::string &) {}, .maxVariants = 8});
  for (int length : {1, 2, 3, 5, 7, 8}) {
    Tensor x = randn({length, 3});
    std::vector<Tensor> got = growing(x), want = exact(x);
    for (size_t i = 0; i < want.size(); ++i) expectSameBits(got[i], want[i]);
  }
}

TEST(Growing, WhatIsNoProgramForAllLengthsIsRefused) {
  auto refusal = [](auto f, FunctionOptions options, const Tensor &x) {
    options.name = "f";
    auto compiled = compile(std::move(f), options);
    return errorOf([&] { compiled(x); });
  };
  FunctionOptions options{.growing = {{0, 0}}, .longest = 16};
  auto twice = [](const Tensor &x) { return x * 2; };
  EXPECT_THAT(refusal(twice, options, zeros({17})),
              testing::HasSubstr("axis 0 of tensor 0 is 17 long, expected 1 to 16 (FunctionOptions::longest)"));
  EXPECT_THAT(refusal(twice, {.growing = {{0, 1}}}, zeros({5})),
              testing::HasSubstr("axis 1 of tensor 0 grows, and it is 5xf32"));
  EXPECT_THAT(refusal(twice, {.growing = {{1, 0}}}, zeros({5})),
              testing::HasSubstr("axis 0 of tensor 1 grows, and it is given 1 tensors"));
  EXPECT_THAT(refusal([](const Tensor &x) { return x.size(0) == 5 ? x : x * 2; }, options, zeros({6})),
              testing::HasSubstr("cannot grow with 'length'"));
  EXPECT_THAT(refusal([](const Tensor &x) { return x + rand({1}); }, options, zeros({6})),
              testing::HasSubstr("it draws random numbers"));
  EXPECT_THAT(refusal([](const Tensor &x) { return x * double(x.size(0) * x.size(0)); }, options, zeros({6})),
              testing::HasSubstr("its numbers follow from the length in a way that is not known"));
  Parameter state(zeros({1}), "state");
  EXPECT_THAT(refusal([&](const Tensor &x) { return state.set(state + sum(x)), x * 2; }, options, zeros({6})),
              testing::HasSubstr("it sets 'state"));
}

TEST(Growing, AllArgumentsThatGrowAreOfOneLength) {
  auto f =
      compile([](const Tensor &x, const Tensor &y) { return sum(x * y); }, {.name = "f", .growing = {{0, 0}, {1, 0}}});
  expectSameBits(f(ones({5}), ones({5})), Tensor(5.f));
  EXPECT_THAT(errorOf([&] { f(ones({5}), ones({6})); }),
              testing::HasSubstr("axis 0 of tensor 1 is 6 long, and another that grows with it 5"));
}

TEST(Growing, GradientsAreRefused) {
  auto f = compile([](const Tensor &x, const Tensor &w) { return sum(x * w); }, {.name = "f", .growing = {{0, 0}}});
  Parameter w(ones({1}), "w");
  Tensor y = f(ones({5}), w);
  EXPECT_THAT(errorOf([&] { grad(y, {w}); }), testing::HasSubstr("whose arguments have a growing length"));
}

TEST(Growing, AFunctionOfTooManyKindsIsToldOfIt) {
  std::vector<std::string> lines;
  auto f = compile([](const Tensor &x) { return x * 2; },
                   {.name = "f", .report = [&](const std::string &line) { lines.push_back(line); }, .maxVariants = 3});
  for (int round = 0; round < 3; ++round)
    for (int length = 1; length <= 6; ++length) expectSameBits(f(ones({length})), full({length}, 2.f));
  EXPECT_EQ(f.recordings().size(), 3u) << "lengths 4 to 6 run as written";
  EXPECT_EQ(
      std::count_if(lines.begin(), lines.end(),
                    [](const std::string &line) { return line.find("FunctionOptions::growing") != std::string::npos; }),
      1);
  // A kind that was not used for long makes room.
  for (int i = 0; i < 1000; ++i) f(ones({3}));
  expectSameBits(f(ones({5})), full({5}, 2.f));
  EXPECT_EQ(f.recordings().size(), 4u);
  f(ones({5}));
  EXPECT_EQ(f.recordings().size(), 4u);
}

} // namespace
