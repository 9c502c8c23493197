// The training loop as a class: a perceptron with dropout on images of digits, its curves, and a sweep of learning
// rates.
//   sweep examples/train_digits/data [curves.svg rates.svg]
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(64, 128)), b = add("b", nn::Linear(128, 10));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  Tensor operator()(Tensor x) const { return b(drop(relu(a(flatten(x, 1))))); }
  Tensor trainingStep(Tensor x, Tensor y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 3e-3}); }
};

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : "examples/train_digits/data";
  auto labelled = [&](const std::string &part) {
    auto images = data::idx(folder + "/" + part + "-images-idx3-ubyte").as(0, DType::f32, /*scaleBytes=*/true);
    auto labels = data::idx(folder + "/" + part + "-labels-idx1-ubyte").as(0, DType::i64);
    return data::zip({images, labels});
  };
  data::Loader train(labelled("train"), {.batch = 64, .shuffle = 7}), test(labelled("t10k"), {.batch = 120});
  manualSeed(7);
  Net net;
  TrainerOptions options{.maxEpochs = 10, .seed = 1};
  options.onEpochEnd = {earlyStopping({.patience = 3})};
  if (count > 2) options.plot = arguments[2];
  Trainer(options).fit(net, train, test);

  TrainerOptions each{.maxEpochs = 3, .seed = 1};
  if (count > 3) each.plot = arguments[3];
  std::vector<double> rates = {1e-4, 1e-3, 1e-2};
  Trainer(each).sweep(net, rates, train, &test);
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
