// A loop with checkpoints of its own: killed and started again, it goes on with the bits of a run that was not.
#include "Program.h"
#include <csignal>

namespace programs {
namespace {

struct Net : nn::Module {
  explicit Net(double dropped) : drop(dropped) { add("drop", drop); }
  nn::Linear a = add("a", nn::Linear(16, 64, {.bias = false})), b = add("b", nn::Linear(64, 4));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(64));
  nn::Dropout drop;
  Tensor operator()(Tensor x) const { return b(drop(relu(norm(a(x))))); }
};

} // namespace

Curve resume(const Files &files, const Settings &settings) {
  bool keeps = !settings.checkpoints.empty();
  manualSeed(3);
  Net net(keeps ? 0.2 : 0); // without checkpoints it is what is compared with PyTorch
  net.load(files.weights());
  auto optimizer = optim::rmsprop(net, {.lr = 1e-3, .momentum = 0.9});
  optimizer.setSchedule(optim::schedule::cosine(120));
  data::Loader loader(data::TensorDataset({files.data("x"), files.data("y")}),
                      {.batch = 32, .shuffle = keeps ? data::Shuffle(7) : data::Shuffle()});
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  Curve curve;
  int64_t done = 0;
  Tensor losses = zeros({120});
  std::vector<CheckpointPart> parts = {net, optimizer, loader, {"done", done}, {"losses", losses}};
  if (keeps && hasCheckpoint(settings.checkpoints)) loadCheckpoint(settings.checkpoints, parts);
  curve.losses = losses.slice(0, 0, done).toVector<float>();
  while (done < 120)
    for (auto [x, y] : loader) {
      if (done == settings.dieAt) std::raise(SIGKILL);
      curve.step([&] { return step(x, y); });
      losses = assign(losses, {done++}, curve.losses.back());
      if (keeps && done % 7 == 0) saveCheckpoint(settings.checkpoints, parts);
    }
  return curve;
}

} // namespace programs
