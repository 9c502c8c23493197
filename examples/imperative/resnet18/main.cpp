// A small ResNet-18 for images 1x28x28: residual blocks as modules of their own, names as PyTorch gives them.
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Residual : nn::Module {
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d bn1, bn2;
  std::optional<nn::Conv2d> conv3; // where channels or size change
  Residual(int64_t from, int64_t to, int64_t stride)
      : conv1(add("conv1", nn::Conv2d(from, to, 3, {.stride = stride, .padding = 1}))),
        conv2(add("conv2", nn::Conv2d(to, to, 3, {.padding = 1}))), bn1(add("bn1", nn::BatchNorm2d(to))),
        bn2(add("bn2", nn::BatchNorm2d(to))) {
    if (from != to || stride != 1) conv3 = add("conv3", nn::Conv2d(from, to, 1, {.stride = stride}));
  }
  Tensor operator()(Tensor x) const {
    Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + (conv3 ? (*conv3)(x) : x));
  }
};

/// 11175818 parameters.
struct ResNet18 : nn::Module {
  nn::Sequential net;
  static nn::Sequential block(int64_t from, int64_t to, bool first) {
    return nn::Sequential(Residual(from, to, first ? 1 : 2), Residual(to, to, 1));
  }
  ResNet18()
      : net(add("net", nn::Sequential(nn::Conv2d(1, 64, 3, {.padding = 1}), nn::BatchNorm2d(64), nn::ReLU(),
                                      block(64, 64, true), block(64, 128, false), block(128, 256, false),
                                      block(256, 512, false), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                                      nn::Linear(512, 10)))) {}
  Tensor operator()(Tensor x) const { return net(x); }
};

int main() {
  manualSeed(1);
  ResNet18 net;
  std::printf("%lld parameters, the fourth layer's first weight is '%s'\n", (long long)net.numParameters(),
              net.namedParameters()[4].first.c_str());
  auto optimizer = optim::sgd(net.parameters(), {.lr = 0.05});
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  Tensor x = randn({8, 1, 28, 28}), y = randint(0, 10, {8});
  for (int i = 0; i < 4; ++i) std::printf("step %d: loss %.4f\n", i, step(x, y).item<float>());
  net.eval();
  auto predict = compile(net);
  std::printf("evaluation: %s\n", argmax(predict(x), 1).text().c_str());
}
