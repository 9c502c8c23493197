// Loops by hand in a dist::BatchShare: what looks at all samples, or draws for them, is that of one rank with all.
#include "test/unit/Frontend/RankSteps.h"
#include "sprig/function.h"
#include "sprig/nn/quantize.h"
#include <functional>
#include <gmock/gmock.h>

using namespace sprig;
using testing::AllOf;
using testing::HasSubstr;

namespace {

using Values = std::vector<std::vector<double>>;
using Body = std::function<std::vector<Tensor>(const Tensor &)>;

Tensor rows(int64_t begin, int64_t end) {
  std::vector<float> numbers;
  for (int64_t i = 12 * begin; i < 12 * end; ++i) numbers.push_back(std::sin(float(i * i % 101)));
  return Tensor(numbers, {end - begin, 3, 4});
}

/// What a body gives, on one rank (`group` null) or put together from the ranks' rows.
Values resultsOf(const std::function<Body()> &make, int64_t samples, dist::Group *group, bool compiled) {
  manualSeed(3);
  Body body = make();
  auto f = compile([&](const Tensor &x) {
    std::optional<dist::BatchShare> share;
    if (group) share.emplace(*group, samples);
    return body(x);
  });
  f.enable(compiled);
  auto [begin, end] = group ? group->rowsOf(samples) : std::pair<int64_t, int64_t>(0, samples);
  Values numbers;
  for (int call = 0; call < 2; ++call)
    for (const Tensor &each : f(rows(begin, end))) {
      Tensor own = each.to(DType::f64);
      numbers.push_back((group ? group->allGather(own, samples) : own).toVector<double>());
    }
  return numbers;
}

/// Calls the function with what several ranks give and what one does, also of a batch that one of them has nothing of.
void compare(const std::function<Body()> &make, const std::function<void(const Values &, const Values &)> &expect) {
  struct Case {
    int ranks;
    int64_t samples;
    bool compiled;
  };
  for (auto [ranks, samples, compiled] : {Case{2, 7, false}, {3, 2, false}, {3, 7, true}}) {
    SCOPED_TRACE(std::to_string(samples) + " samples, " + std::to_string(ranks) + " ranks");
    Values one = resultsOf(make, samples, nullptr, false);
    dist::spawn(ranks, [&, ranks = ranks, samples = samples, compiled = compiled](dist::Group &group) {
      Values found = resultsOf(make, samples, &group, compiled);
      if (group.rank() == ranks - 1) expect(found, one);
    });
  }
}

} // namespace

TEST(DistShare, DrawsAreThoseOfOneRank) {
  auto make = []() -> Body {
    return [](const Tensor &x) {
      int64_t n = x.size(0);
      return std::vector<Tensor>{
          randn({n, 5}),  rand({n}, DType::f64), randint(-3, int64_t(1) << 40, {n, 2}),
          randnLike(x),   bernoulli(sigmoid(x)), multinomial(softmax(x, 2).reshape({n, 12}), 3),
          categorical(x), dropout(x, 0.4),       x + randn({4})}; // without samples: the same on all ranks
    };
  };
  compare(make, [](const Values &found, const Values &one) { EXPECT_EQ(found, one); });
}

TEST(DistShare, StatisticsAndTheirGradientsAreOfAllSamples) {
  auto make = []() -> Body {
    nn::BatchNorm1d batch(3);
    nn::BatchNorm1d average(3, {.momentum = std::nullopt});
    nn::InstanceNorm1d instance(3, {.trackRunningStats = true});
    nn::FakeQuantize quantizer;
    return [=](const Tensor &given) {
      Tensor x = given;
      x = x.detach().requireGrad();
      Tensor y = quantizer(instance(average(batch(x))));
      std::vector<Tensor> results{y, grad(sum(y * y * x), x)};
      for (const nn::Module &layer : std::initializer_list<nn::Module>{batch, average, instance, quantizer})
        for (const nn::NamedTensor &each : layer.stateDict()) // each rank's rows: the state, once a sample
          results.push_back(broadcastTo(each.value.to(DType::f32).reshape({1, -1}), {x.size(0), each.value.numel()}));
      return results;
    };
  };
  compare(make, [](const Values &found, const Values &one) {
    ASSERT_EQ(found.size(), one.size());
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_THAT(found[i], testing::Pointwise(testing::DoubleNear(2e-5), one[i])) << i;
  });
}

TEST(DistShare, RefusesByName) {
  auto errorOf = [](const std::function<void(dist::Group &)> &f) -> std::string {
    try {
      dist::spawn(2, [&](dist::Group &group) {
        dist::BatchShare share(group, 7);
        f(group);
      });
    } catch (const Error &error) {
      return error.what();
    }
    return "nothing was refused";
  };
  auto ownRows = [](dist::Group &group) { return group.rank() ? 3 : 4; };
  EXPECT_THAT(errorOf([&](dist::Group &group) { randperm(ownRows(group)); }),
              HasSubstr("randperm: draws for all samples of a batch together, of which rank "));
  EXPECT_THAT(errorOf([](dist::Group &) { nn::BatchNorm1d(3)(ones({5, 3})); }),
              HasSubstr("looks at the samples of 5x3xf32 as rank "));
  EXPECT_THAT(errorOf([&](dist::Group &group) { nn::BatchNorm1d(3)(ones({ownRows(group), 3, 0})); }),
              HasSubstr("has one value or none for each channel of 7x3x0xf32"));
  // A scalar has no samples.
  EXPECT_THAT(errorOf([](dist::Group &) { nn::FakeQuantize()(zeros({})); }),
              AllOf(HasSubstr("DistShareTest.cpp:"), HasSubstr("FakeQuantize: looks at the samples of f32")));
}
