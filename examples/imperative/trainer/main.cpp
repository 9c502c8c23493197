// The training loop written once: a perceptron with dropout on Fashion-MNIST (or a stand-in, where its files are not
// there), with evaluation, early stopping and curves as SVG.
//   trainer [FOLDER [curves.svg]]
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

/// 535818 parameters.
struct Net : nn::Module {
  nn::Sequential body =
      add("body", nn::Sequential(nn::Flatten(), nn::Linear(784, 512), nn::ReLU(), nn::Dropout(0.2),
                                 nn::Linear(512, 256), nn::ReLU(), nn::Dropout(0.2), nn::Linear(256, 10)));
  Tensor operator()(Tensor x) const { return body(x); }
  Tensor trainingStep(Tensor x, Tensor y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 1e-3}); }
};

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : ""; // of Fashion-MNIST
  manualSeed(42);
  Net net;
  // A tenth of the images: this is an example, not a record.
  data::Loader train(data::fashionMnist(folder).slice(0, 6000), {.batch = 64, .shuffle = 42});
  data::Loader test(data::fashionMnist(folder, {.train = false}).slice(0, 1000), {.batch = 256});
  TrainerOptions options;
  options.maxEpochs = 5;
  options.onEpochEnd = {earlyStopping({.patience = 2})};
  if (count > 2) options.plot = arguments[2];
  Trainer(options).fit(net, train, test);
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
