// One layer of 10 numbers to 1, twice. With a batch of one: as it is written, compiled and exported. Then trained by
// three workers with a batch of 32 each, whose parameters and optimizer are a server's: workers pull the parameters,
// compute gradients of their own samples and push them. It is the network that one rank makes of the same batches.
//   sprig launch -n 4 -- parameter_server
//   parameter_server [workers]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sprig/sprig.h>

using namespace sprig;

constexpr int64_t kBatch = 32, kBatches = 20, kEpochs = 5;
constexpr double kRate = 0.01;

// Every way to run the layer gives the same bits.
static void runAlone() {
  nn::Linear net(10, 1);
  net.eval();
  Tensor x = randn({1, 10}), y = net(x);
  auto compiled = compile(net);
  PackageBuilder builder;
  builder.add("main", net, {{DType::f32, {1, 10}}});
  Package package = loadBytes(builder.bytes());
  auto same = [&](const Tensor &other) { return std::memcmp(y.bytes(), other.bytes(), sizeof(float)) == 0; };
  std::printf("%lld parameters, batch 1: compiled %s, exported %s\n", static_cast<long long>(net.numParameters()),
              same(compiled(x)) ? "the same bits" : "other bits", same(package(x)) ? "the same bits" : "other bits");
}

// A plane with some noise; samples follow from their numbers alone.
static data::Dataset samples(int workers) {
  return data::Dataset(kBatch * kBatches * workers, [](int64_t i) {
    std::vector<double> x(10);
    double y = 0.5 + 0.1 * std::sin(double(i * 37));
    for (int64_t k = 0; k < 10; ++k) {
      x[size_t(k)] = std::sin(double(i * 31 + k * 17 + i * k % 7));
      y += x[size_t(k)] * double(k - 4) / 5;
    }
    return data::Sample{data::Field(x), data::Field(std::vector<double>{y})};
  });
}

// This rank's part of the mean over all workers' samples, and its gradients.
static Tensor lossOf(const nn::Linear &net, const data::Batch &batch) {
  return mseLoss(net(batch.x()), batch.y(), Reduction::sum) * (1.0 / double(batch.samplesOfRanks()));
}

// Losses, on rank 0: the server. The others are workers.
static std::vector<double> serve(dist::Group &group) {
  const int workers = group.size() - 1;
  nn::Linear net(10, 1);
  auto optimizer = optim::sgd(net, {.lr = kRate}); // the server's, with its state
  std::vector<Tensor> losses;
  auto round = [&](const data::Batch *batch) {
    group.broadcast(net); // pull: the server's parameters
    Tensor loss = zeros({}, DType::f64);
    std::vector<Tensor> gradients = {zerosLike(net.weight), zerosLike(net.bias)};
    if (batch) {
      loss = lossOf(net, *batch);
      gradients = grad(loss, net.parameters());
    }
    for (Tensor &gradient : gradients) gradient = group.reduce(gradient); // push: their sum is the server's
    if (!batch) optimizer.update(gradients);
    losses.push_back(group.reduce(loss.detach()));
  };
  if (group.rank() == 0) {
    for (int64_t i = 0; i < kBatches * kEpochs; ++i) round(nullptr);
  } else {
    data::Loader own(samples(workers),
                     {.batch = kBatch * workers, .shuffle = 7, .rank = group.rank() - 1, .ranks = workers});
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
      for (const data::Batch &batch : own) round(&batch);
  }
  std::vector<double> numbers;
  for (const Tensor &loss : losses) numbers.push_back(loss.item<double>());
  return numbers;
}

static std::vector<double> trainAlone(int workers) {
  nn::Linear net(10, 1);
  auto optimizer = optim::sgd(net, {.lr = kRate});
  data::Loader whole(samples(workers), {.batch = kBatch * workers, .shuffle = 7});
  std::vector<double> losses;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
    for (const data::Batch &batch : whole) {
      Tensor loss = lossOf(net, batch);
      optimizer.update(grad(loss, net.parameters()));
      losses.push_back(loss.item<double>());
    }
  return losses;
}

int main(int count, char **arguments) try {
  dist::run(1 + (count > 1 ? std::atoi(arguments[1]) : 3), [](dist::Group &group) {
    const int workers = group.size() - 1;
    if (workers < 1) throw Error(ErrorKind::usage, "a server needs a worker: 2 ranks or more");
    manualSeed(3);
    if (group.rank() == 0) runAlone();
    nn::setDefaultDType(DType::f64);
    manualSeed(42);
    std::vector<double> losses = serve(group);
    if (group.rank() > 0) return;
    manualSeed(42);
    std::vector<double> alone = trainAlone(workers);
    bool same = losses.size() == alone.size();
    double most = 0;
    for (size_t i = 0; i < alone.size() && i < losses.size(); ++i) {
      double apart = std::abs(losses[i] - alone[i]);
      same &= apart <= 1e-6;
      most = std::max(most, apart);
    }
    std::printf("a server, %d workers, batch %lld each: loss %.4f to %.4f in %zu steps\n", workers,
                static_cast<long long>(kBatch), losses.front(), losses.back(), losses.size());
    std::printf("one rank, %lld parameters: %s (%.1g)\n", static_cast<long long>(nn::Linear(10, 1).numParameters()),
                same ? "the same losses" : "other losses", most);
  });
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
