// LeNet twice: by layers, and from raw parameters. Both take the same training step.
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

/// 129068 parameters, for images 1x28x28.
struct LeNet : nn::Module {
  nn::Sequential body = add("body", nn::Sequential(nn::Conv2d(1, 20, 3), nn::ReLU(), nn::AvgPool2d(2),
                                                   nn::Conv2d(20, 50, 5), nn::ReLU(), nn::AvgPool2d(2), nn::Flatten(),
                                                   nn::Linear(800, 128), nn::ReLU(), nn::Linear(128, 10)));
  Tensor operator()(Tensor x) const { return body(x); }
};

struct RawLeNet {
  std::vector<Parameter> p;
  RawLeNet() {
    auto weight = [](const Shape &shape) { return Parameter(randn(shape) * 0.01); };
    auto bias = [](int64_t n) { return Parameter(zeros({n})); };
    p = {weight({20, 1, 3, 3}), bias(20),  weight({50, 20, 5, 5}), bias(50),
         weight({128, 800}),    bias(128), weight({10, 128}),      bias(10)};
  }
  Tensor operator()(Tensor x) const {
    Tensor h1 = avgPool2d(relu(conv2d(x, p[0], p[1])), 2);
    Tensor h2 = avgPool2d(relu(conv2d(h1, p[2], p[3])), 2);
    return linear(relu(linear(flatten(h2, 1), p[4], p[5])), p[6], p[7]);
  }
};

template <typename Net> void train(const char *name, const Net &net, std::vector<Parameter> parameters) {
  auto optimizer = optim::sgd(parameters, {.lr = 0.2});
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, parameters));
    return loss;
  });
  Tensor x = rand({32, 1, 28, 28}), y = randint(0, 10, {32});
  float first = step(x, y).template item<float>(), last = first;
  for (int i = 0; i < 30; ++i) last = step(x, y).template item<float>();
  int64_t count = 0;
  for (const Parameter &parameter : parameters) count += parameter.numel();
  std::printf("%s: %lld parameters, loss %.4f -> %.4f\n", name, (long long)count, first, last);
}

int main() {
  manualSeed(1);
  LeNet layers;
  train("layers", layers, layers.parameters());
  RawLeNet raw;
  train("raw parameters", raw, raw.p);
}
