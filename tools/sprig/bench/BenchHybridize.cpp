// sprig bench hybridize: one network run operation by operation, as it is written, and compiled as a whole.
#include "sprig/nn.h"
#include "tools/sprig/bench/Imperative.h"

namespace sprig::cli {
namespace {

struct Mlp : nn::Module {
  nn::Linear a = add("a", nn::Linear(784, 256)), b = add("b", nn::Linear(256, 128)), c = add("c", nn::Linear(128, 10));
  Tensor operator()(const Tensor &x) const { return c(relu(b(relu(a(x))))); }
};

/// AlexNet for one channel of 224 x 224, as textbooks have it.
nn::Sequential alexNet() {
  return nn::Sequential(nn::Conv2d(1, 96, 11, {.stride = 4, .padding = 1}), nn::ReLU(), nn::MaxPool2d(3, {.stride = 2}),
                        nn::Conv2d(96, 256, 5, {.padding = 2}), nn::ReLU(), nn::MaxPool2d(3, {.stride = 2}),
                        nn::Conv2d(256, 384, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(384, 384, 3, {.padding = 1}),
                        nn::ReLU(), nn::Conv2d(384, 256, 3, {.padding = 1}), nn::ReLU(),
                        nn::MaxPool2d(3, {.stride = 2}), nn::Flatten(), nn::Linear(6400, 4096), nn::ReLU(),
                        nn::Dropout(0.5), nn::Linear(4096, 4096), nn::ReLU(), nn::Dropout(0.5), nn::Linear(4096, 10));
}

} // namespace

void addThreeWays(const std::string &name, const ThreeWays &times, double slower, ExperimentReport &report) {
  report.row({name, times.opByOp * 1e6, times.imperative * 1e6, times.compiled * 1e6, times.opByOp / times.compiled,
              times.imperative / times.compiled});
  bool agree = times.opByOpAgrees && times.imperativeAgrees;
  std::string others = times.opByOpAgrees       ? "imperative"
                       : times.imperativeAgrees ? "operation by operation"
                                                : "operation by operation, and imperative,";
  report.verdict(name + ": all three give the same bits",
                 agree ? "compared as bytes" : others + " differs from compiled", agree);
  std::string figures = formatDouble(times.compiled / times.opByOp, 4) + " times as long";
  if (slower > 0)
    report.timed(name + ": compiled takes at most " + formatDouble(100 * slower) +
                     "% longer than operation by operation",
                 figures, times.compiled <= (1 + slower) * times.opByOp);
  else
    report.timed(name + ": compiled is quicker than operation by operation", figures, times.compiled < times.opByOp);
}

void startThreeWays(ExperimentReport &report) {
  report.table("hybridize",
               {"us a call", "operation by operation", "imperative", "compiled", "speedup", "speedup over imperative"});
}

void benchHybridize(const ExperimentOptions &options, ExperimentReport &report) {
  startThreeWays(report);
  if (!options.of.empty()) return benchHybridModel(options, report);
  manualSeed(1);
  constexpr int kRounds = 7;
  int calls = options.runs ? options.runs : 100;
  {
    Mlp mlp;
    mlp.eval();
    auto forward = [&](const Tensor &x) { return mlp(x); };
    for (int64_t batch : {1000, 1}) {
      Tensor x = randn({batch, 784});
      ThreeWays times = timeThreeWays(forward, x, calls, kRounds);
      addThreeWays("MLP 784-256-128-10, batch " + std::to_string(batch), times, batch == 1 ? 0 : kMayTakeLonger,
                   report);
    }
  }
  nn::Sequential net = alexNet();
  net.eval();
  Tensor image = randn({1, 1, 224, 224});
  // A call takes milliseconds: a few rounds of fewer calls say as much.
  ThreeWays times = timeThreeWays([&](const Tensor &x) { return net(x); }, image, options.runs ? options.runs : 10, 5);
  addThreeWays("AlexNet 1x1x224x224", times, kMayTakeLonger, report);
  report.note("imperative: as it is written, where segments that come again are compiled behind the scenes");
}

} // namespace sprig::cli
