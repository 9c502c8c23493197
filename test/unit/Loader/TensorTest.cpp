// Batches as tensors: what a training loop sees.
#include "sprig/ops.h"
#include "test/unit/Loader/Support.h"

using namespace sprig;

namespace {

data::Dataset rows() {
  std::vector<float> x(100 * 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  std::vector<int64_t> y(100);
  for (size_t i = 0; i < y.size(); ++i) y[i] = int64_t(i);
  return data::TensorDataset{data::Field(x, {100, 3}), data::Field(y)};
}

TEST(LoaderTensors, StructuredBindingsAreTensors) {
  int64_t samples = 0;
  float sum = 0;
  for (auto [x, y] : data::Loader(rows(), {.batch = 16, .shuffle = 7, .workers = 2})) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>);
    EXPECT_EQ(x.shape(), (Shape{y.size(0), 3}));
    for (int64_t i = 0; i < y.size(0); ++i) EXPECT_EQ(x.data<float>()[i * 3], float(3 * y.data<int64_t>()[i]));
    samples += y.numel();
    sum += (x * 2.f).sum().item<float>();
  }
  EXPECT_EQ(samples, 100);
  EXPECT_EQ(sum, 2 * 299 * 300 / 2);
}

TEST(LoaderTensors, MoreFieldsAndFewer) {
  data::Dataset three = rows().map([](data::Sample sample) {
    sample.push_back(0.5f);
    return sample;
  });
  data::Loader loader(three, {.batch = 50, .workers = 1});
  int batches = 0;
  for (auto [x, y, weight] : loader.fields<3>()) {
    EXPECT_EQ(weight.shape(), (Shape{50}));
    EXPECT_EQ(weight.sum().item<float>(), 25);
    ++batches;
  }
  EXPECT_EQ(batches, 2);
  std::string text = data::refusal([&] {
    for (auto [x, y] : loader) ++batches;
  });
  data::expectHas(text, "2 names for a batch of 3 fields");
  data::Loader only(rows().map([](data::Sample sample) { return data::Sample{sample.x()}; }), {.batch = 50});
  for (auto [x] : only.fields<1>()) EXPECT_EQ(x.shape(), (Shape{50, 3}));
}

// No copy on the way, and none of the memory is used again while a tensor has it.
TEST(LoaderTensors, TakeMemoryOverAndKeepIt) {
  data::Loader loader(rows(), {.batch = 10, .workers = 2});
  std::vector<Tensor> kept;
  for (const data::Batch &batch : loader) {
    Tensor x = batch.x();
    EXPECT_EQ(x.bytes(), batch.host(0).bytes());
    kept.push_back(x);
  }
  for (auto [x, y] : loader) x.wait();
  for (size_t b = 0; b < kept.size(); ++b) EXPECT_EQ(kept[b].data<float>()[0], float(b * 30));
}

TEST(LoaderTensors, TensorsAreFieldsToo) {
  Tensor x = Tensor({1.f, 2.f, 3.f, 4.f}).reshape({2, 2}) + 1.f;
  data::TensorDataset set({x, Tensor({7, 8})});
  for (auto [a, b] : data::Loader(set, {.batch = 2, .workers = 0})) {
    EXPECT_EQ(a.toVector<float>(), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_EQ(b.toVector<int32_t>(), (std::vector<int32_t>{7, 8}));
  }
}

// A loop that runs ahead of the computation: batches live until they are used.
TEST(LoaderTensors, StepsMayLagBehind) {
  Tensor total = Tensor(0.f);
  data::Loader loader(rows(), {.batch = 5, .shuffle = 1, .workers = 2});
  for (int epoch = 0; epoch < 20; ++epoch)
    for (auto [x, y] : loader) total = total + x.sum();
  EXPECT_EQ(total.item<float>(), 20 * 299 * 300 / 2);
}

} // namespace
