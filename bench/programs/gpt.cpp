// A small language model: causal attention, the embedding's weights are those of the head; AdamW that decays matrices
// alone, warm-up and cosine, gradients clipped.
#include "Program.h"

namespace programs {
namespace {

constexpr int64_t kTokens = 32, kLength = 32, kWidth = 64, kHeads = 4;

struct Block : nn::Module {
  nn::LayerNorm norm1 = add("norm1", nn::LayerNorm(kWidth));
  nn::Linear qkv = add("qkv", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear projection = add("projection", nn::Linear(kWidth, kWidth));
  nn::LayerNorm norm2 = add("norm2", nn::LayerNorm(kWidth));
  nn::Linear up = add("up", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear down = add("down", nn::Linear(4 * kWidth, kWidth));

  Tensor attend(Tensor x) const {
    int64_t batch = x.size(0), steps = x.size(1);
    auto heads = [&](Tensor t) { return t.reshape({batch, steps, kHeads, kWidth / kHeads}).transpose(1, 2); };
    std::vector<Tensor> parts = qkv(x).chunk(3, -1);
    Tensor y = scaledDotProductAttention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {.causal = true});
    return projection(y.transpose(1, 2).reshape({batch, steps, kWidth}));
  }
  Tensor operator()(Tensor x) const {
    x += attend(norm1(x));
    return x + down(gelu(up(norm2(x))));
  }
};

struct Gpt : nn::Module {
  nn::Embedding tokens = add("tokens", nn::Embedding(kTokens, kWidth));
  nn::Embedding places = add("places", nn::Embedding(kLength, kWidth));
  nn::Sequential blocks = add("blocks", nn::Sequential(Block(), Block()));
  nn::LayerNorm norm = add("norm", nn::LayerNorm(kWidth));
  nn::Linear head = add("head", nn::Linear(kWidth, kTokens, {.bias = false}));
  Gpt() { head.weight = tokens.weight; }
  Tensor operator()(Tensor x) const { return head(norm(blocks(tokens(x) + places(arange(x.size(1)))))); }
};

} // namespace

Curve gpt(const Files &files, const Settings &) {
  Gpt net;
  net.load(files.weights());
  optim::Group matrices{.parameters = {}, .weightDecay = 0.1}, others{.parameters = {}, .weightDecay = 0.0};
  for (const Parameter &p : net.parameters()) (p.shape().rank() >= 2 ? matrices : others).parameters.push_back(p);
  std::vector<Tensor> text = unbind(files.data("text"));
  auto optimizer = optim::adamw({matrices, others}, {.lr = 3e-3, .betas = {0.9, 0.95}});
  optimizer.setSchedule(optim::schedule::warmupCosine(10, int64_t(text.size()), 1e-4)).setClipNorm(1);
  auto step = compile([&](Tensor text) {
    Tensor logits = net(text(all, Slice(0, kLength)));
    Tensor loss = crossEntropy(logits.reshape({-1, kTokens}), text(all, Slice(1)).flatten());
    optimizer.update(grad(loss, optimizer.parameters()));
    return loss;
  });
  Curve curve;
  for (const Tensor &batch : text) curve.step([&] { return step(batch); });
  return curve;
}

} // namespace programs
