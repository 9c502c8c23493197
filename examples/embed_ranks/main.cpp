// Trains a network on several ranks with a package and Sprig's runtime: no compiler, no LLVM, no Python. The package's
// steps are those of several ranks, each of which has a part of every batch; they sum their gradients up:
//   sprig compile examples/train_digits/model.onnx --train examples/train_digits/train.json --samples 1408
//     --infer 1 --mesh data=2 -o digits_ranks.sprig
//   embed_ranks digits_ranks.sprig FOLDER-WITH-IDX-FILES                            # threads
//   sprig launch -n 2 -- embed_ranks digits_ranks.sprig FOLDER-WITH-IDX-FILES       # processes, the same bits
#include "../common/DigitBatches.h"
#include "../common/ExitCode.h"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using sprig::rt::Group;
using sprig::rt::Package;

constexpr int64_t kBatch = 32, kEpochs = 20; // of all ranks together

struct Data {
  example::Digits training, test;
};

// What each rank does, in the same order as the others. Each has a state of its own, which stays the same as theirs.
void trainAs(const Group &group, const Package &package, const Data &data) {
  int64_t own = kBatch / group.ranks();
  int32_t step = example::entryFor(package, "train_step", own);
  sprig::rt::State state(package);
  sprig::rt::Pool pool(1); // threads of this rank alone
  sprig::rt::Context context(package, {.pool = &pool, .state = &state});
  context.join(group);

  std::vector<int64_t> order(size_t(data.training.count()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1); // all ranks draw the same order
  example::Batch batch;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    int64_t steps = data.training.count() / kBatch;
    for (int64_t i = 0; i < steps; ++i) {
      batch.fill(data.training, {order.data() + i * kBatch + group.rank() * own, size_t(own)});
      float loss = 0; // of all ranks' samples
      context.invoke(batch.views(package.inputs(uint32_t(step)).front().shape),
                     std::vector{sprig::rt::TensorView(&loss, {})}, step);
      sum += double(loss);
    }
    if (group.rank() == 0 && (epoch + 1) % 5 == 0)
      std::printf("epoch %lld: loss %.6f\n", (long long)epoch + 1, sum / double(steps));
  }

  // Each infers with the state that it has, and all have found the same.
  auto right = float(example::countRight(context, package, data.test)), most = right;
  group.allReduce({&most, 1}, SPRIG_RT_MAX, "digits right");
  if (right != most) throw std::runtime_error("the ranks have learned different things");
  if (group.rank() == 0)
    std::printf("%lld of %lld digits right on each of %u ranks\n", (long long)right, (long long)data.test.count(),
                group.ranks());
}

// A rank that fails tells the others, who wait for it in their collectives; what it failed with comes first.
void trainOrTell(const Group &group, const Package &package, const Data &data, std::string &why) {
  try {
    trainAs(group, package, data);
  } catch (const std::exception &error) {
    group.fail(SPRIG_RT_INTERNAL, error.what());
    why = error.what();
  }
}

int train(const char *path, const std::string &folder) {
  Data data{example::readDigits(folder, "train"), example::readDigits(folder, "t10k")};
  Package package = Package::load(path);
  if (Group::isRankProcess()) {
    trainAs(Group::join(), package, data);
    return 0;
  }
  uint32_t ranks = 1;
  for (uint32_t entry = 0; entry < package.entryCount(); ++entry) ranks = std::max(ranks, package.ranks(entry).ranks);
  std::vector<Group> groups = Group::threads(ranks);
  std::vector<std::string> failures(ranks);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { trainOrTell(groups[rank], package, data, failures[rank]); });
  for (std::thread &thread : threads) thread.join();
  for (const std::string &why : failures)
    if (!why.empty()) throw std::runtime_error(why);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PACKAGE FOLDER\n", argv[0]);
    return 2;
  }
  return example::exitCodeOf([&] { return train(argv[1], argv[2]); });
}
