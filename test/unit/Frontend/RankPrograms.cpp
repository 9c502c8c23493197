// What ranks compute, as text with all digits: test/Cli/launch-programs.test compares threads with processes.
//   rank-programs group|trainer|together|differs N
//   rank-programs other-data KIND: trains on two ranks, whose data differ where KIND is arrays or function, and on data
//   that differ each time they are asked for where it is random
//   rank-programs split FILE: what a model of digits gives, of two ranks or of one
//   rank-programs exported|replica|shares FILE N: writes a model (N is 1), and trains it on N ranks as
//   test/Cli/train-trainer.test says
//   rank-programs loop FOLDER N: trains on N ranks with all that a checkpoint has, and goes on where FOLDER has one;
//   what a signal ends exits as a shell expects (test/E2E/train_kill.py) rank-programs package FILE: a training step of
//   two ranks, by batches of four of eight samples, whose losses it prints
#include "sprig/sprig.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

using namespace sprig;

namespace {

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(6, 8)), b = add("b", nn::Linear(8, 3));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  Tensor operator()(const Tensor &x) const { return b(drop(tanh(a(x)))); }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 0.01}); }
};

// With a layer whose gradient has more numbers than its factors.
struct WideNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(6, 160)), b = add("b", nn::Linear(160, 160)), c = add("c", nn::Linear(160, 3));
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy(c(tanh(b(tanh(a(x))))), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 0.01}); }
};

data::Dataset points(int64_t count) {
  return data::Dataset(count, [](int64_t i) {
    std::vector<float> x(6);
    for (int64_t k = 0; k < 6; ++k) x[size_t(k)] = float((i * 31 + k * 17) % 23) / 23 + float(i % 3);
    return data::Sample{data::Field(x), i % 3};
  });
}

void print(const char *what, const Tensor &x) {
  std::printf("%s", what);
  for (double each : x.to(DType::f64).toVector<double>()) std::printf(" %.17g", each);
  std::printf("\n");
}

// Collectives of all kinds, gradients, a compiled function, and a part: of what only the first rank prints.
void ofGroup(dist::Group &group) {
  manualSeed(uint64_t(11 + group.rank()));
  Tensor own = randn({5000}), x = randn({4}).requireGrad();
  dist::Group part = group.split(group.rank() % 2, -group.rank());
  auto step = compile([&](const Tensor &y) { return group.allReduce(y * y, dist::Reduce::mean); });
  Tensor pending = group.allReduceAsync(own);
  Tensor squares = step(own), gradient = grad(sum(group.allReduce(x * x) * double(group.rank() + 1)), x);
  Tensor inPart = part.allReduce(own.slice(0, 0, 3)), all = group.allGather(gradient.reshape({1, 4}));
  synchronize();
  if (group.rank()) return;
  print("sums", pending.slice(0, 0, 5));
  print("squares", squares.slice(0, 0, 5));
  print("gradients", all.reshape({-1}));
  print("part", inPart);
}

// What only the second rank has is in the last sample.
data::Dataset ownPoints(const std::string &kind, int rank) {
  if (kind == "random")
    return data::Dataset(8, [draw = std::make_shared<std::atomic<int>>()](int64_t i) {
      std::vector<float> x(6, float(++*draw % 7));
      return data::Sample{data::Field(x), i % 3};
    });
  if (kind == "function")
    return data::Dataset(8, [rank](int64_t i) {
      std::vector<float> x(6, float(i == 7 ? rank : 1));
      return data::Sample{data::Field(x), i % 3};
    });
  std::vector<float> x(48, 1);
  x.back() = kind == "arrays" ? float(rank) : 1;
  return data::TensorDataset{data::Field(x, {8, 6}), data::Field(std::vector<int64_t>(8, 1))};
}

/// Wide enough that there is something to choose.
struct ExportedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(3, 200)), b = add("b", nn::Linear(200, 200)), c = add("c", nn::Linear(200, 2));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(200));
  Tensor operator()(const Tensor &x) const { return c(tanh(norm(b(relu(a(x)))))); }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 0.05}); }
};

void trainExported(const char *path, int ranks, NormStatistics norms, std::vector<int64_t> shares = {}) {
  manualSeed(3);
  ExportedNet net;
  if (ranks == 1) {
    net.eval();
    exportOnnx(path, net, {{DType::f32, {-1, 3}}});
  }
  data::Dataset points(14, [](int64_t i) {
    std::vector<float> x;
    for (int64_t k = 0; k < 3; ++k) x.push_back(float((i * 7 + k * 3) % 5) / 2);
    return data::Sample{data::Field(x), i % 2};
  });
  data::Loader train(points, {.batch = 5, .workers = 0});
  FitResult result =
      Trainer({.maxEpochs = 3, .ranks = ranks, .shares = std::move(shares), .batchNorms = norms, .print = false})
          .fit(net, train);
  for (float loss : result.losses) std::printf("%.9g\n", double(loss));
}

void trainPackage(dist::Group &group, const char *path) {
  Package package = load(path);
  package.join(group);
  for (int64_t step = 0; step < 6; ++step) {
    std::vector<float> x;
    std::vector<int64_t> classes;
    auto [begin, end] = group.rowsOf(4);
    for (int64_t i = step % 2 * 4 + begin; i < step % 2 * 4 + end; ++i) {
      for (int64_t k = 0; k < 3; ++k) x.push_back(float((i * 7 + k * 3) % 5) / 2);
      classes.push_back(i % 2);
    }
    Tensor loss = package.call("train_step", {{Tensor(x, {end - begin, 3}), Tensor(classes)}})[0];
    if (group.rank() == 0) std::printf("%.9g\n", double(loss.item<float>()));
  }
}

// A model of digits that is split by its batch of four, or not: each rank calls its own program with its rows.
void callSplit(dist::Group *group, const char *path) {
  Package package = load(path);
  if (group) package.join(*group);
  auto [begin, end] = group ? group->rowsOf(4) : std::pair(int64_t(0), int64_t(4));
  std::vector<float> image;
  for (int64_t i = begin * 64; i < end * 64; ++i) image.push_back(float(i * 7 % 17) / 16);
  Tensor own = package.call("main", {{Tensor(image, {end - begin, 1, 8, 8})}})[0];
  Tensor all = group ? group->allGather(own) : own;
  if (group && group->rank()) return;
  for (float each : all.toVector<float>()) std::printf("%.5f\n", double(each));
}

} // namespace

struct Measured : Net {
  Scores trainingStep(const Tensor &x, const Tensor &y) const {
    Tensor logits = (*this)(x);
    return {.loss = crossEntropy(logits, y), .metrics = {{"size", mean(square(logits))}}};
  }
};

int trainLoop(const std::string &folder, int ranks) {
  manualSeed(3);
  Measured net;
  data::Loader train(points(600), {.batch = 7, .shuffle = 5, .workers = 1}),
      test(points(40), {.batch = 16, .workers = 0});
  TrainerOptions options{.maxEpochs = 14, .ranks = ranks, .print = false};
  options.plateau = optim::PlateauOptions{.factor = 0.5, .patience = 0, .threshold = 0.1};
  options.ema = 0.9;
  options.earlyStop = EarlyStoppingOptions{.patience = 4};
  options.restoreBest = true;
  options.monitor = "eval_size";
  options.checkpoint = folder + "/checkpoints";
  options.checkpointEvery = 11;
  options.checkpointsKept = 2;
  options.resume = true;
  options.metrics = folder + "/metrics.jsonl";
  FitResult result = Trainer(options).fit(net, train, test);
  if (result.signal) return 128 + result.signal;
  net.save(folder + "/out.safetensors");
  return 0;
}

int main(int count, char **arguments) try {
  if (count != 3 && count != 4) return 2;
  const char *what = arguments[1];
  const int ranks = std::atoi(arguments[2]);
  if (!std::strcmp(what, "group")) dist::run(ranks, ofGroup);
  if (!std::strcmp(what, "other-data")) {
    manualSeed(3);
    Net net;
    data::Loader train(ownPoints(arguments[2], std::atoi(std::getenv("RANK"))), {.batch = 4, .workers = 0});
    Trainer({.maxEpochs = 1, .ranks = 2, .print = false}).fit(net, train);
    if (!std::strcmp(std::getenv("RANK"), "0")) std::printf("trained\n");
  }
  if (!std::strcmp(what, "package")) dist::run(2, [&](dist::Group &group) { trainPackage(group, arguments[2]); });
  if (!std::strcmp(what, "loop")) return trainLoop(arguments[2], std::atoi(arguments[3]));
  if (!std::strcmp(what, "exported")) trainExported(arguments[2], std::atoi(arguments[3]), NormStatistics::all);
  if (!std::strcmp(what, "shares")) trainExported(arguments[2], 2, NormStatistics::all, {1, 2});
  if (!std::strcmp(what, "replica")) trainExported(arguments[2], std::atoi(arguments[3]), NormStatistics::replica);
  if (!std::strcmp(what, "split")) {
    if (load(arguments[2]).ranks("main") == 1)
      callSplit(nullptr, arguments[2]);
    else
      dist::run(2, [&](dist::Group &group) { callSplit(&group, arguments[2]); });
  }
  if (!std::strcmp(what, "differs"))
    dist::run(ranks, [](dist::Group &group) {
      dist::Group part = group.sub({0, 1});
      group.rank() ? group.allReduce(ones({4})) : part.allReduce(ones({4}));
    });
  // Threads divide the products of gathered factors, processes do not.
  if (!std::strcmp(what, "together")) {
    manualSeed(3);
    WideNet net;
    data::Loader train(points(25), {.batch = 8, .shuffle = 5, .workers = 0});
    FitResult result =
        Trainer({.maxEpochs = 2, .ranks = ranks, .factors = FactorPolicy::automatic, .stepsPerCall = 2, .print = false})
            .fit(net, train);
    if (!std::getenv("RANK") || !std::strcmp(std::getenv("RANK"), "0")) {
      for (float loss : result.losses) std::printf("loss %.9g\n", double(loss));
      print("weights", net.b.weight.value().slice(0, 0, 2).reshape({-1}));
    }
  }
  if (!std::strcmp(what, "trainer")) {
    manualSeed(3);
    Net net;
    data::Loader train(points(25), {.batch = 8, .shuffle = 5, .workers = 0}), test(points(10), {.batch = 4});
    TrainerOptions options{.maxEpochs = 2, .ranks = ranks, .print = false};
    // Called on the first rank alone.
    options.onEpochEnd = {[](const EpochReport &epoch) {
      std::printf("epoch %lld: %.17g %.17g %.17g\n", static_cast<long long>(epoch.epoch), epoch.loss, *epoch.evalLoss,
                  *epoch.accuracy);
      return true;
    }};
    Trainer trainer(options);
    trainer.fit(net, train, test);
    // More than once: the process stays in its group.
    trainer.fit(net, train, test);
    auto [loss, hits] = trainer.evaluate(net, test);
    if (!std::getenv("RANK") || !std::strcmp(std::getenv("RANK"), "0"))
      std::printf("scores: %.17g %.17g\n", loss, *hits);
  }
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
