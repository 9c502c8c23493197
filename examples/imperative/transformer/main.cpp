// A small transformer learns to reverse sequences of tokens: embeddings, encoder layers, a schedule, clipping.
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

constexpr int64_t kTokens = 12, kLength = 8, kWidth = 32;

struct Reverser : nn::Module {
  nn::Embedding tokens = add("tokens", nn::Embedding(kTokens, kWidth));
  nn::Embedding places = add("places", nn::Embedding(kLength, kWidth));
  nn::TransformerEncoderLayer layer =
      add("layer", nn::TransformerEncoderLayer(kWidth, 4, {.feedForward = 64, .dropout = 0, .batchFirst = true}));
  nn::Linear head = add("head", nn::Linear(kWidth, kTokens));
  Tensor operator()(Tensor x) const { return head(layer(tokens(x) + places(arange(kLength)))); }
};

int main() {
  manualSeed(3);
  Reverser net;
  auto optimizer = optim::adamw(net.parameters(), {.lr = 5e-3});
  optimizer.setSchedule(optim::schedule::warmupCosine(20, 300));
  auto step = compile([&](Tensor x) {
    Tensor logits = net(x);
    Tensor loss = crossEntropy(reshape(logits, {-1, kTokens}), flatten(flip(x, 1)));
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  for (int i = 0; i <= 300; ++i) {
    Tensor loss = step(randint(0, kTokens, {32, kLength}));
    if (i % 100 == 0) std::printf("step %d: loss %.4f\n", i, loss.item<float>());
  }
  net.eval();
  Tensor x = randint(0, kTokens, {1, kLength});
  std::printf("%s\n%s\n", x.text().c_str(), argmax(net(x), -1).text().c_str());
}
