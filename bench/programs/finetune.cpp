// Fine-tuning: a pretrained network gets another head, which is trained alone; then everything is.
#include "Program.h"

namespace programs {
namespace {

struct Trunk : nn::Module {
  nn::Conv2d conv1 = add("conv1", nn::Conv2d(1, 8, 3, {.padding = 1, .bias = false}));
  nn::BatchNorm2d norm1 = add("norm1", nn::BatchNorm2d(8));
  nn::Conv2d conv2 = add("conv2", nn::Conv2d(8, 16, 3, {.padding = 1, .bias = false}));
  nn::BatchNorm2d norm2 = add("norm2", nn::BatchNorm2d(16));
  Tensor operator()(Tensor x) const {
    x = maxPool2d(relu(norm1(conv1(x))), 2);
    return flatten(maxPool2d(relu(norm2(conv2(x))), 2), 1);
  }
};

struct Net : nn::Module {
  Trunk trunk = add("trunk", Trunk());
  nn::Linear head = add("head", nn::Linear(144, 10));
  Tensor operator()(Tensor x) const { return head(trunk(x)); }
};

} // namespace

Curve finetune(const Files &files, const Settings &) {
  Net net;
  net.load(files.weights());
  net.head = nn::Linear(144, 3);
  net.head.load(files.weights("head"));
  net.trunk.freeze();
  net.trunk.eval();
  auto optimizer = optim::adam(net.parameters(), {.lr = 1e-3});
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  std::vector<Tensor> x = unbind(files.data("x")), y = unbind(files.data("y"));
  Curve curve;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i == x.size() / 3) {
      net.requiresGrad();
      net.train();
    }
    curve.step([&] { return step(x[i], y[i]); });
  }
  return curve;
}

} // namespace programs
