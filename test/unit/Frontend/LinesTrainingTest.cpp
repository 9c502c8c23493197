// Optimizers, trainers, data and packages name the line of the program that misuses them, and steps record it.
#include "test/unit/Frontend/Lines.h"
#include <filesystem>
#include <unistd.h>

using namespace sprig;

namespace {

TEST(LinesOfTraining, OptimizersAndMetrics) {
  Net net;
  AT(optim::sgd(std::vector<Parameter>{}));
  AT(optim::adam(net, {.lr = -1}));
  AT(optim::adamw({Parameter()}));
  AT(optim::nadam(net, {.momentumDecay = -1}));
  AT(optim::radam(net, {.eps = -1}));
  AT(optim::Average(net, 2));
  optim::Optimizer sgd = optim::sgd(net);
  AT(sgd.update(std::vector<Tensor>{}));
  AT(sgd.update({f({9}), f({9})}));
  AT(sgd.setLr(-1));
  AT(sgd.lr(3));
  AT(sgd.baseLr(3));
  AT(sgd.loadStateDict({}));
  AT(sgd.load("/nowhere.safetensors"));
  AT(sgd.save("/nowhere/at-all.safetensors"));
  AT(sgd.setClipNorm(-1));
  AT(sgd.setClipValue(-1));
  AT(optim::schedule::step(0));
  AT(optim::schedule::cosine(10).perEpoch(0));
  AT(optim::Lbfgs(net, {.lr = 0}));
  optim::Lbfgs lbfgs(net);
  AT(lbfgs.step([] { return Tensor(); }));
  AT(lbfgs.loadStateDict({}));
  AT(optim::schedule::warmRestarts(0));
  AT(optim::ReduceOnPlateau(sgd, {.factor = 1}));
  optim::ReduceOnPlateau plateau(sgd);
  AT(plateau.loadStateDict({}));
  AT(compile([&](const Tensor &x) { return plateau.step(1), x; })(f({2})));
  AT(optim::gradNorm({}));
  AT(optim::clipGradNorm({f({2})}, 0));
  AT(optim::clipGradValue({f({2})}, 0));
  AT(metrics::Accuracy(0));
  AT(metrics::Accuracy().add(f({2}), f({2})));
  AT(metrics::Accuracy(4).add(f({2, 3}), zeros({2}, DType::i64)));
  AT(metrics::Mean().add(Tensor()));
  AT(metrics::ConfusionMatrix(0));
  AT(metrics::ConfusionMatrix(4).add(f({2, 3}), zeros({2}, DType::i64)));
  AT(hitsOf(f({2, 3}), f({5})));
}

TEST(LinesOfTraining, TrainersAndTimers) {
  AT(Trainer({.maxEpochs = -1}));
  AT(Event().synchronize());
  AT(Event().elapsed(Event()));
  struct Classifier : nn::Module {
    nn::Linear a = add("a", nn::Linear(4, 2));
    Tensor operator()(const Operand &x) const { return a(x); }
    Tensor trainingStep(const Operand &x, const Operand &y) const { return crossEntropy(a(x), y); }
    optim::Optimizer configureOptimizers() const { return optim::sgd(*this); }
  };
  // Operands that the trainer makes have its line.
  data::Loader loader(
      data::TensorDataset({data::Field(std::vector<float>(30), {10, 3}), data::Field(std::vector<int64_t>(10))}),
      {.batch = 5, .workers = 0});
  Classifier net;
  const int made = __LINE__ + 1;
  Trainer trainer({.maxEpochs = 1, .compile = false, .print = false});
  expectAt(made, [&] { trainer.fit(net, loader); });
  expectAt(made, [&] { trainer.evaluate(net, loader); });
  data::Loader share(loader.dataset(), {.rank = 1, .ranks = 2});
  expectAt(made, [&] { trainer.fit(net, share); });
  expectAt(made, [&] { trainer.evaluate(net, share); });
  data::Loader three(data::TensorDataset({data::Field(std::vector<float>(10)), data::Field(std::vector<float>(10)),
                                          data::Field(std::vector<float>(10))}),
                     {.batch = 5, .workers = 0});
  expectAt(made, [&] { trainer.fit(net, three); });
}

TEST(LinesOfTraining, Data) {
  data::Field field(std::vector<float>(6), {2, 3}), none;
  AT(data::Field({DType::f32, {1 << 30, 1 << 30, 1 << 30}}));
  AT(data::Field(std::vector<float>(5), {2, 3}));
  AT(none.numbers<float>());
  AT(field.numbers<double>());
  AT(field.edit<double>());
  AT(field.item<float>(6));
  AT(field.reshape({4}));
  AT(field.to(DType::i32));
  AT(data::TensorDataset({none}));
  AT(data::TensorDataset({field, data::Field(std::vector<float>(3))}));
  data::TensorDataset set({field});
  AT(set.get(2));
  AT(set.subset({2}));
  AT(set.slice(0, 3));
  AT(set.as(1, DType::f64));
  AT(set.as(0, DType::i32));
  AT(data::concat({}));
  AT(data::zip({set, set.slice(0, 1)}));
  AT(data::split(set, {1, 2}));
  AT(data::split(set, 1.5));
  AT(data::Loader(set, {.batch = 0}));
  AT(data::Loader(set, {.ioDelay = {.latency = -1}}));
  data::Loader loader(set, {.batch = 2, .workers = 0});
  AT(loader.seek(0, 1));
  for (const data::Batch &batch : loader) {
    AT(batch[1]);
    AT(batch.y());
    AT(batch.host(1));
  }
}

TEST(LinesOfTraining, Packages) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("sprig-lines." + std::to_string(::getpid()) + ".sprig");
  Net net;
  net.eval();
  AT(save(path, net, {{DType::f32, {2, 5}}}));
  AT(save(path, net, {}));
  AT(save(path, net, {{DType::f32, {-1, 3}}}, {.batches = {0}}));
  AT(PackageBuilder().save(path));
  AT(PackageBuilder().bytes());
  AT(exportOnnx(path, net, {}));
  save(path, net, {{DType::f32, {2, 3}}});
  Package package = load(path), none;
  std::filesystem::remove(path);
  AT(package(f({2, 5})));
  AT(package(f({2, 3}), 1));
  AT(package());
  AT(package(Tensor()));
  AT(package.call("other", {}));
  AT(package.state("other"));
  AT(none(f({2, 3})));
  AT(none.functions());
  AT(none.states());
  EXPECT_EQ(package(f({2, 3})).shape(), Shape({2, 2}));
  EXPECT_EQ(package(Parameter(f({2, 3}))).shape(), Shape({2, 2}));
}

TEST(LinesOfTraining, RecordedSteps) {
  using In = std::span<const Tensor>;
  Net net;
  optim::Optimizer optimizer = optim::adam(net).setSchedule(optim::schedule::cosine(10)).setClipNorm(1).setClipValue(1);
  optim::Average average(net);
  metrics::Mean mean;
  metrics::Accuracy accuracy;
  metrics::ConfusionMatrix matrix(2);
  expectOwnLines("step", {{DType::f32, {4, 3}}, {DType::i64, {4}}}, [&](In in) {
    Tensor scores = net(in[0]), loss = crossEntropy(scores, in[1], {.labelSmoothing = 0.1});
    optimizer.update(grad(loss, net.parameters()));
    average.update();
    mean.add(loss, 4);
    accuracy.add(scores, in[1]);
    matrix.add(scores, in[1]);
    return std::vector<Tensor>{loss, hitsOf(scores, in[1]), mean.tensor()};
  });
  expectOwnLines("methods", {{DType::f32, {4, 3}}}, [](In in) {
    Tensor x = in[0].relu().t().clamp(0, 1).pow(2), y = x.softmax(0).requireGrad();
    x += y.maskedFill(x.gt(0), 1);
    x = assign(x, {0}, 1);
    auto [values, places] = x.topk(2);
    return std::vector<Tensor>{values, places, grad(y.sum(), y), linspace(0, 1, 5), arange(0, 1, 0.1), x.detach()};
  });
}

} // namespace
