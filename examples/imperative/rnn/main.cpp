// A recurrent network (LSTM) predicts the next value of a wave; gradients flow through the whole sequence.
#include <cmath>
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Forecast : nn::Module {
  nn::LSTM lstm = add("lstm", nn::LSTM(1, 32, {.batchFirst = true}));
  nn::Linear head = add("head", nn::Linear(32, 1));
  Tensor operator()(Tensor x) const { return head(lstm(x).output); }
};

int main() {
  manualSeed(5);
  constexpr int64_t kBatch = 16, kSteps = 40;
  Forecast net;
  auto optimizer = optim::adam(net.parameters(), {.lr = 1e-2});
  auto step = compile([&](Tensor wave) {
    Tensor loss = mseLoss(net(slice(wave, 1, 0, kSteps)), slice(wave, 1, 1, kSteps + 1));
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  Tensor time = cast(arange(kSteps + 1), DType::f32) * 0.3;
  for (int i = 0; i <= 150; ++i) {
    Tensor phase = rand({kBatch, 1}) * 6.28;
    Tensor loss = step(unsqueeze(sin(unsqueeze(time, 0) + phase), 2));
    if (i % 50 == 0) std::printf("step %d: loss %.5f\n", i, loss.item<float>());
  }
}
