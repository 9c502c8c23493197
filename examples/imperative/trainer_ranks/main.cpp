// The trainer on several ranks, which share every batch: one option more than on one. The loop written by hand, on the
// same ranks, has the same losses bit by bit. Images are Fashion-MNIST's, or a stand-in where its files are not there.
//   trainer_ranks [FOLDER [threads]]
//   sprig launch -n 2 -- trainer_ranks
#include <cstdio>
#include <cstdlib>
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

constexpr int64_t kEpochs = 5;

// The loop does what the trainer does: it sums losses, and divides them by the samples of all ranks.
static std::vector<float> byHand(const data::Dataset &images, dist::Group &group) {
  manualSeed(42);
  Net net;
  auto optimizer = net.configureOptimizers();
  auto step = compile(
      [&](const Tensor &x, const Tensor &y, int64_t all) {
        Tensor loss;
        {
          dist::BatchShare share(group, all); // dropout drops what one rank would drop
          loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) / double(all);
        }
        optimizer.update(group.allReduce(grad(loss, net.parameters())));
        return group.allReduce(loss.detach());
      },
      {.report = [](const std::string &) {}});
  data::Loader loader(images, {.batch = 64, .shuffle = 42, .workers = 1, .rank = group.rank(), .ranks = group.size()});
  std::vector<Tensor> losses;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
    for (const data::Batch &batch : loader) losses.push_back(step(batch.x(), batch.y(), batch.samplesOfRanks()));
  std::vector<float> numbers;
  for (const Tensor &loss : losses) numbers.push_back(loss.item<float>());
  return numbers;
}

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : ""; // of Fashion-MNIST
  data::Dataset images = data::fashionMnist(folder).slice(0, 1000);
  data::Dataset others = data::fashionMnist(folder, {.train = false}).slice(0, 500);
  dist::run(count > 2 ? std::atoi(arguments[2]) : 2, [&](dist::Group &group) {
    manualSeed(42);
    Net net;
    data::Loader train(images, {.batch = 64, .shuffle = 42, .workers = 1}), test(others, {.batch = 256, .workers = 1});
    Trainer trainer({.maxEpochs = kEpochs,
                     .logEvery = 5, // by the first rank
                     .group = &group,
                     .onStep = [](const StepReport &step) {
                       std::printf("step %lld: loss %.4f\n", static_cast<long long>(step.step), step.loss);
                     }});
    FitResult result = trainer.fit(net, train, test);
    bool isSame = byHand(images, group) == result.losses;
    if (group.rank() == 0) std::printf("%d ranks, by hand: %s losses\n", group.size(), isSame ? "the same" : "other");
  });
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
