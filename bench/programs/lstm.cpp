// An LSTM that foretells the next value of a wave, evaluated with averages of its weights: an exponential one, and the
// mean over the later steps.
#include "Program.h"

namespace programs {
namespace {

struct Net : nn::Module {
  nn::LSTM lstm = add("lstm", nn::LSTM(1, 32, {.batchFirst = true}));
  nn::Linear head = add("head", nn::Linear(32, 1));
  Tensor operator()(Tensor x) const { return head(lstm(x).output(all, -1)); }
};

} // namespace

Curve lstm(const Files &files, const Settings &) {
  Net net;
  net.load(files.weights());
  auto optimizer = optim::adam(net, {.lr = 5e-3});
  optim::Average average(net, 0.95), mean = optim::Average::mean(net);
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = mseLoss(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    average.update();
    return loss;
  });
  auto evaluate = compile([&](Tensor x, Tensor y) {
    NoGrad scope;
    return mseLoss(net(x), y);
  });
  auto evaluateWith = [&](const optim::Average &weights, const Tensor &x, const Tensor &y) {
    weights.swap();
    Tensor loss = evaluate(x, y);
    weights.swap();
    return loss;
  };
  std::vector<Tensor> x = unbind(files.data("x")), y = unbind(files.data("y"));
  Curve curve;
  for (size_t i = 0; i < x.size(); ++i) {
    curve.step([&] { return step(x[i], y[i]); });
    if (i % 10 != 9) continue;
    if (i >= x.size() / 2) mean.update();
    curve.result(evaluateWith(average, x[0], y[0]));
    curve.result(evaluateWith(mean, x[0], y[0]));
  }
  return curve;
}

} // namespace programs
