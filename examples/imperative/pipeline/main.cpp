// A network in two stages on two devices. A batch goes through in parts: while the second stage computes a part, the
// first one has the next. Loss and gradients are those of the whole batch on one device, however many parts there are.
// How long stages wait for each other, simulated and measured: `sprig bench pipeline`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

/// 567434 parameters.
struct Net : nn::Module {
  nn::Sequential first = add("first", nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 256))),
                 second =
                     add("second", nn::Sequential(nn::ReLU(), nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 10)));
};

struct Step {
  Tensor loss;
  std::vector<Tensor> gradients;
};

// Forward passes of all parts, then backward passes: each device takes them in this order.
static Step pass(const Net &net, const Tensor &x, const Tensor &y, int64_t parts) {
  Device behind = net.second.parameters().front().device();
  std::vector<Tensor> inputs = chunk(x, parts), targets = chunk(y, parts), losses;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor hidden = net.first(inputs[i]).to(behind, /*nonBlocking=*/true);
    losses.push_back(crossEntropy(net.second(hidden), targets[i].to(behind, true), {.reduction = Reduction::sum}) *
                     (1.0 / double(x.size(0))));
  }
  Step step;
  for (const Tensor &loss : losses) {
    std::vector<Tensor> gradients = grad(loss, net.parameters()); // through the copy, back to the first device
    step.loss = step.loss.defined() ? step.loss + loss : loss;
    if (step.gradients.empty()) step.gradients.resize(gradients.size());
    for (size_t k = 0; k < gradients.size(); ++k)
      step.gradients[k] = step.gradients[k].defined() ? step.gradients[k] + gradients[k] : gradients[k];
  }
  return step;
}

int main() try {
  manualSeed(7);
  Net net;
  const int64_t batch = 256;
  Tensor x = randn({batch, 784}), y = randint(0, 10, {batch});
  Step whole = pass(net, x, y, 1);
  whole.loss.wait();

  net.second.to("cpu:1");
  double first = 0;
  float most = 0;
  bool same = true;
  auto compare = [&](float apart) {
    same &= apart <= 1e-6f;
    most = std::max(most, apart);
  };
  for (int64_t parts : {1, 2, 4, 8}) {
    Step step = pass(net, x, y, parts);
    compare(std::abs(step.loss.item<float>() - whole.loss.item<float>()));
    for (size_t k = 0; k < step.gradients.size(); ++k)
      compare(max(abs(step.gradients[k].to("cpu:0") - whole.gradients[k])).item<float>());
    Timer timer; // waits at both ends
    for (int i = 0; i < 10; ++i) pass(net, x, y, parts);
    double seconds = timer.stop();
    if (parts == 1) first = seconds;
    std::printf("%lld micro-batches: %.2f times as long as one\n", static_cast<long long>(parts), seconds / first);
  }
  std::printf("%lld parameters on two devices: %s gradients as on one (%.1g)\n",
              static_cast<long long>(net.numParameters()), same ? "the same" : "other", most);
  return same ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
