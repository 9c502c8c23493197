// A process for each rank, which has 32 samples of every batch: the whole step, with the sum of the gradients over the
// ranks, is one compiled program. The first rank then trains alone on whole batches, and compares the losses. Numbers
// are f64: in f32 some activation is sooner or later so near to zero that another order of sums moves it to the other
// side.
//   sprig launch -n 2 -- processes
//   processes [threads]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sprig/sprig.h>

using namespace sprig;

/// 646410 parameters.
struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(1000, 512)), b = add("b", nn::Linear(512, 256)), c = add("c", nn::Linear(256, 10));
  Tensor operator()(Tensor x) const { return c(relu(b(relu(a(x))))); }
};

// 1000 samples of 1000 numbers, which follow from their places alone.
static data::Dataset samples() {
  return data::Dataset(1000, [](int64_t i) {
    std::vector<double> x(1000);
    int64_t label = i * 7 % 10;
    for (int64_t k = 0; k < 1000; ++k)
      x[size_t(k)] = 0.3 * std::sin(double(label * 13 + k)) + 0.7 * std::sin(double(i * 31 + k * 17));
    return data::Sample{data::Field(x), label};
  });
}

// Five epochs of a rank, or of all samples without a group. All ranks draw the same weights.
static std::vector<double> train(int64_t batch, dist::Group *group) {
  manualSeed(42);
  nn::setDefaultDType(DType::f64);
  Net net;
  auto optimizer = optim::adam(net.parameters(), {.lr = 1e-3});
  auto step = compile(
      [&](const Tensor &x, const Tensor &y, int64_t all) {
        Tensor loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) * (1.0 / double(all));
        std::vector<Tensor> gradients = grad(loss, net.parameters());
        optimizer.update(group ? group->allReduce(gradients) : gradients);
        return group ? group->allReduce(loss.detach()) : loss;
      },
      {.report = [](const std::string &) {}}); // the last batch is smaller
  data::LoaderOptions options{.batch = batch, .shuffle = 42, .workers = 1};
  if (group) {
    options.rank = group->rank(); // the sampler: its share of each batch
    options.ranks = group->size();
  }
  std::vector<Tensor> losses;
  data::Loader loader(samples(), options);
  for (int epoch = 0; epoch < 5; ++epoch)
    for (const data::Batch &each : loader) losses.push_back(step(each.x(), each.y(), each.samplesOfRanks()));
  if (group) group->checkReplicas(net);
  std::vector<double> numbers;
  for (const Tensor &loss : losses) numbers.push_back(loss.item<double>());
  return numbers;
}

int main(int count, char **arguments) try {
  dist::run(count > 1 ? std::atoi(arguments[1]) : 2, [](dist::Group &group) {
    const int64_t batch = 32 * group.size();
    std::vector<double> losses = train(batch, &group);
    if (group.rank() > 0) return;
    std::vector<double> alone = train(batch, nullptr);
    bool same = losses.size() == alone.size();
    double most = 0;
    for (size_t i = 0; i < alone.size() && i < losses.size(); ++i) {
      double apart = std::abs(losses[i] - alone[i]);
      same &= apart <= 1e-6;
      most = std::max(most, apart);
    }
    std::printf("%d ranks, batch %lld: loss %.4f to %.4f in %zu steps\n", group.size(), static_cast<long long>(batch),
                losses.front(), losses.back(), losses.size());
    std::printf("one rank, %lld parameters: %s (%.1g)\n", static_cast<long long>(Net().numParameters()),
                same ? "the same losses" : "other losses", most);
  });
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
