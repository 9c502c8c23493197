// Trains a perceptron on images of digits with several ranks: each takes its rows of every batch, gradients are summed
// over all, and each updates its own copy. One rank at the same batch gives the same network but for rounding. Ranks
// are threads of this process, or processes, which have the same bits.
//   data_parallel examples/train_digits/data [threads]
//   sprig launch -n 2 -- data_parallel examples/train_digits/data
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(64, 128)), b = add("b", nn::Linear(128, 10));
  Tensor operator()(Tensor x) const { return b(relu(a(flatten(x, 1)))); }
};

static data::Dataset labelled(const std::string &part) {
  auto images = data::idx(part + "-images-idx3-ubyte").as(0, DType::f32, /*scaleBytes=*/true);
  return data::zip({images, data::idx(part + "-labels-idx1-ubyte").as(0, DType::i64)});
}

// What one rank does: the program of one, but for its share of the data and the all-reduce.
static void train(dist::Group &group, const std::string &folder, Net &net) {
  group.broadcast(net); // all begin with rank 0's weights
  auto optimizer = optim::adam(net.parameters(), {.lr = 3e-3});
  // Each loads its share of every batch.
  data::Loader batches(labelled(folder + "/train"),
                       {.batch = 64, .shuffle = 7, .rank = group.rank(), .ranks = group.size()});
  for (int epoch = 1; epoch <= 10; ++epoch) {
    metrics::Mean mean;
    for (const data::Batch &batch : batches) {
      // A sum over the number of all samples: right for shares of any size.
      Tensor loss = crossEntropy(net(batch.x()), batch.y(), {.reduction = Reduction::sum}) *
                    (1.0 / double(batch.samplesOfRanks()));
      optimizer.update(group.allReduce(grad(loss, net.parameters())));
      mean.add(group.allReduce(loss.detach()));
    }
    if (group.rank() == 0 && epoch % 5 == 0) std::printf("epoch %d: loss %.4f\n", epoch, mean.value());
  }
  group.checkReplicas(net);
}

static double accuracyOf(const Net &net, const std::string &folder) {
  metrics::Accuracy accuracy;
  data::Loader test(labelled(folder + "/t10k"), {.batch = 120});
  for (auto [x, y] : test) accuracy.add(net(x), y);
  return accuracy.value();
}

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : "examples/train_digits/data";
  int most = count > 2 ? std::atoi(arguments[2]) : 2;
  manualSeed(7);
  nn::StateDict start = Net().stateDict();
  auto body = [&](dist::Group &group) {
    Net net;
    if (group.rank() == 0) net.loadStateDict(start);
    train(group, folder, net);
    if (group.rank() == 0)
      std::printf("%d %s: accuracy %.4f\n", group.size(), group.size() == 1 ? "rank" : "ranks",
                  accuracyOf(net, folder));
  };
  if (!dist::isLaunched()) dist::spawn(1, body); // to compare with
  dist::run(most, body);
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
