// Trains a perceptron on images of digits, imperatively written, compiled by one call, and saves it as a package.
//   mlp_digits examples/train_digits/data [mlp.sprig]
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(64, 128)), b = add("b", nn::Linear(128, 10));
  Tensor operator()(Tensor x) const { return b(relu(a(flatten(x, 1)))); }
};

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : "examples/train_digits/data";
  auto labelled = [&](const std::string &part) {
    auto images = data::idx(folder + "/" + part + "-images-idx3-ubyte").as(0, DType::f32, /*scaleBytes=*/true);
    auto labels = data::idx(folder + "/" + part + "-labels-idx1-ubyte").as(0, DType::i64);
    return data::zip({images, labels});
  };
  manualSeed(7);
  Net net;
  auto optimizer = optim::adam(net.parameters(), {.lr = 3e-3});
  auto step = compile(
      [&](Tensor x, Tensor y) {
        Tensor loss = crossEntropy(net(x), y);
        optimizer.update(grad(loss, net.parameters()));
        return loss;
      },
      {.name = "step"});

  data::Loader train(labelled("train"), {.batch = 64, .shuffle = 7, .dropLast = true});
  for (int epoch = 1; epoch <= 15; ++epoch) {
    metrics::Mean loss;
    for (auto [x, y] : train) loss.add(step(x, y));
    if (epoch % 5 == 0) std::printf("epoch %d: loss %.4f\n", epoch, loss.value());
  }

  net.eval();
  metrics::Accuracy accuracy;
  data::Loader test(labelled("t10k"), {.batch = 120});
  auto predict = compile(net, {.name = "predict"});
  for (auto [x, y] : test) accuracy.add(predict(x), y);
  std::printf("accuracy %.4f\n", accuracy.value());
  if (count > 2) save(arguments[2], net, {{DType::f32, {-1, 8, 8}}}, {.batches = {1, 8, 64}});
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
