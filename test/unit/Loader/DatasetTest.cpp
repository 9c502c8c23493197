#include "test/unit/Loader/Support.h"
#include <random>

using namespace sprig;
using namespace sprig::data;

namespace {

struct Squares {
  int64_t size() const { return 10; }
  Sample get(int64_t index) const { return {float(index), index * index}; }
};

TensorDataset table() {
  return {Field(std::vector<uint8_t>{0, 255, 51, 102, 153, 204}, {3, 2}), Field(std::vector<int32_t>{7, 8, 9})};
}

TEST(Dataset, ClassesFunctionsAndArraysAreDataSets) {
  Dataset squares = Squares();
  EXPECT_EQ(squares.size(), 10);
  EXPECT_EQ(squares.get(3).x().item<float>(), 3);
  EXPECT_EQ(squares.get(3).y().item<int64_t>(), 9);

  Dataset shared = std::make_shared<Squares>();
  EXPECT_EQ(shared.get(2).y().item<int64_t>(), 4);

  Dataset pairs(4, [](int64_t i) { return std::pair(std::vector<float>(3, float(i)), i); });
  EXPECT_EQ(sprig::describe(pairs.get(1).x().type()), "3xf32");
  Dataset three(4, [](int64_t i) { return std::tuple(i, 1.5, int8_t(2)); });
  EXPECT_EQ(three.get(1).size(), 3u);
  EXPECT_EQ(three.get(1)[1].item<double>(), 1.5);

  Dataset arrays = table();
  EXPECT_EQ(arrays.size(), 3);
  EXPECT_EQ(numbersOf<uint8_t>(arrays.get(1).x()), (std::vector<uint8_t>{51, 102}));
  EXPECT_EQ(arrays.get(2).y().item<int32_t>(), 9);
}

TEST(Dataset, PartsAndCombinations) {
  Dataset squares = Squares();
  EXPECT_EQ(squares.subset({5, 5, 0}).get(1).y().item<int64_t>(), 25);
  EXPECT_EQ(squares.slice(4, 7).size(), 3);
  EXPECT_EQ(squares.slice(4, 7).get(0).y().item<int64_t>(), 16);
  Dataset both = concat({squares, squares.slice(1, 3)});
  EXPECT_EQ(both.size(), 12);
  EXPECT_EQ(both.get(9).y().item<int64_t>(), 81);
  EXPECT_EQ(both.get(11).y().item<int64_t>(), 4);
  Dataset side = zip({squares.slice(0, 3), table()});
  EXPECT_EQ(side.get(2).size(), 4u);
  EXPECT_EQ(side.get(2)[3].item<int32_t>(), 9);
}

TEST(Dataset, SplitsTakeEverySampleOnce) {
  Dataset squares = Squares();
  auto [train, test] = split(squares, 0.7, 3);
  EXPECT_EQ(train.size(), 7);
  EXPECT_EQ(test.size(), 3);
  std::vector<int> seen(10);
  for (const Dataset &part : {train, test})
    for (int64_t i = 0; i < part.size(); ++i) ++seen[size_t(part.get(i).x().item<float>())];
  EXPECT_EQ(seen, std::vector<int>(10, 1));
  EXPECT_NE(train.get(0).x().item<float>() + 10 * train.get(1).x().item<float>(), 10);
  auto again = split(squares, 0.7, 3).first;
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(train.get(i).x().item<float>(), again.get(i).x().item<float>());
  std::vector<Dataset> inOrder = split(squares, {2, 3});
  EXPECT_EQ(inOrder[1].get(0).x().item<float>(), 2);
  expectHas(refusal([&] { split(squares, {8, 3}); }), "parts of 8 and 3 samples of a data set of 10");
  expectHas(refusal([&] { split(squares, 1.5); }), "expected 0 to 1");
}

TEST(Dataset, MapsSamplesWithTheirOwnRandomNumbers) {
  Dataset doubled = Dataset(Squares()).map([](Sample sample) {
    sample.x().edit<float>()[0] *= 2;
    return sample;
  });
  EXPECT_EQ(doubled.get(3).x().item<float>(), 6);
  Dataset noisy = Dataset(Squares()).map([](Sample sample, Random &random) {
    sample.x() = Field(random.uniform());
    return sample;
  });
  double first = noisy.get(3).x().item<double>();
  EXPECT_EQ(noisy.get(3).x().item<double>(), first);
  EXPECT_NE(noisy.get(4).x().item<double>(), first);
  Random other(1, 0, 3);
  EXPECT_NE(noisy.get(3, other).x().item<double>(), first);
}

TEST(Dataset, ConvertsFieldsAsSamplesDo) {
  Dataset scaled = table().as(0, DType::f32, true).as(1, sprig::DType::i64);
  EXPECT_EQ(numbersOf<float>(scaled.get(0).x()), (std::vector<float>{0, 1}));
  EXPECT_FLOAT_EQ(scaled.get(1).x().item<float>(), 0.2f);
  EXPECT_EQ(scaled.get(1).y().item<int64_t>(), 8);
  // Through a part, a combination and a data set of unknown types.
  Dataset part = zip({concat({table().subset({2, 1}), table()}), concat({table(), table().slice(0, 2)})});
  Dataset shaped = part.as(0, {sprig::DType::f32, {1, 2}}, true);
  EXPECT_EQ(sprig::describe(shaped.get(0).x().type()), "1x2xf32");
  EXPECT_EQ(shaped.get(0).x().item<float>(1), 204 / 255.f);
  EXPECT_EQ(shaped.get(0)[2].item<uint8_t>(), 0);
  Dataset unknown = Dataset(Squares()).as(1, {sprig::DType::f64, {1}});
  EXPECT_EQ(sprig::describe(unknown.get(5).y().type()), "1xf64");
  EXPECT_EQ(unknown.get(5).y().item<double>(), 25);
  // What was converted once is converted from there.
  EXPECT_EQ(table().as(0, sprig::DType::f32).as(0, sprig::DType::f64, true).get(0).x().item<double>(1), 255);

  expectHas(refusal([] { Dataset(Squares()).as(0, sprig::DType::i64).get(1); }, ErrorKind::badInput),
            "is f32, the conversion takes integers (i64)");
  expectHas(refusal([] { table().as(0, {sprig::DType::f32, {3}}); }, ErrorKind::badInput),
            "a sample is 2xu8, field 0 takes 3xf32");
  expectHas(refusal([] { table().as(2, sprig::DType::f32); }), "field 2 (from 0) of samples that have 2");
}

TEST(Dataset, RefusesWhatDoesNotFit) {
  Dataset squares = Squares();
  expectHas(refusal([&] { squares.get(10); }), "sample 10 of a data set of 10");
  expectHas(refusal([&] { squares.get(-1); }), "sample -1");
  expectHas(refusal([&] { squares.subset({1, 10}); }), "subset: sample 10 of a data set of 10");
  expectHas(refusal([&] { squares.slice(5, 11); }), "samples 5 to 11");
  expectHas(refusal([&] { zip({squares, table()}); }), "data set 1 has 3 samples, data set 0 has 10");
  expectHas(refusal([&] { concat({}); }), "concat of no data sets");
  expectHas(refusal([] { TensorDataset({Field(std::vector<float>{1, 2}), Field(std::vector<float>{1, 2, 3})}); },
                    ErrorKind::badInput),
            "array 1: holds 3 samples, array 0 holds 2");
  expectHas(refusal([] { TensorDataset({Field(1.f)}); }), "is a single number");
  expectHas(refusal([] { Field(std::vector<float>{1, 2}, {3}); }), "2 numbers for an array of 3xf32, which takes 3");
  expectHas(refusal([&] { squares.get(0).x().item<int64_t>(); }), "numbers of i64 are asked for, the array is f32");
  expectHas(refusal([&] { squares.get(0)[2]; }), "field 2 (from 0) of a sample that has 2");
  expectHas(refusal([] { Field(std::vector<float>{1, 2}).reshape({3}); }), "2xf32 has 2 elements");
}

TEST(Dataset, EditingAFieldLeavesItsCopiesAlone) {
  Field a(std::vector<float>{1, 2});
  Field b = a;
  b.edit<float>()[0] = 5;
  EXPECT_EQ(a.item<float>(), 1);
  EXPECT_EQ(b.item<float>(), 5);
  const float fixed[] = {3, 4};
  Field view = Field::view(fixed, {sprig::DType::f32, {2}});
  view.edit<float>()[1] = 0;
  EXPECT_EQ(fixed[1], 4);
}

TEST(Random, StreamsDifferAndAreUniform) {
  Random a(1, 2, 3), same(1, 2, 3), epoch(1, 3, 3), sample(1, 2, 4), seed(2, 2, 3);
  uint64_t first = a();
  EXPECT_EQ(same(), first);
  for (Random *other : {&epoch, &sample, &seed}) EXPECT_NE((*other)(), first);
  double sum = 0, squares = 0;
  std::vector<int> counts(6);
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) {
    double normal = a.normal();
    sum += normal;
    squares += normal * normal;
    ++counts[size_t(a.below(6))];
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
  for (int count : counts) EXPECT_NEAR(count, kDraws / 6, 400);
  EXPECT_EQ(a.below(1), 0);
  // A generator of the standard library's distributions.
  EXPECT_LT(std::uniform_int_distribution<int>(0, 9)(a), 10);
}

} // namespace
