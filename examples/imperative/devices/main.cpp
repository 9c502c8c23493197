// Two shares of the cores as two devices: work side by side, copies that nobody waits for, and a network whose halves
// are on one each, trained to the bits of one device. The measurement, checked: `sprig bench async`.
#include <cstring>
#include <iostream>
#include <sprig/sprig.h>

using namespace sprig;

/// 646410 parameters.
struct Net : nn::Module {
  nn::Sequential front = add("front", nn::Sequential(nn::Linear(1000, 512), nn::ReLU(), nn::Linear(512, 256)));
  nn::Linear back = add("back", nn::Linear(256, 10));
  Tensor operator()(Tensor x) const { return back(relu(front(x)).to(back.weight.device(), /*nonBlocking=*/true)); }
};

static Tensor train(const Device &first, const Device &second) {
  manualSeed(7);
  Net net;
  net.front.to(first);
  net.back.to(second);
  auto optimizer = optim::adam(net.parameters(), {.lr = 1e-3});
  Tensor x = randn({64, 1000}).to(first), y = randint(0, 10, {64}).to(second), loss;
  for (int i = 0; i < 20; ++i) {
    loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters())); // gradients go back through the copy
  }
  return loss;
}

int main() {
  Tensor a = randn({512, 512}), b = a.to("cpu:1");
  Tensor c = a, d = b;
  for (int i = 0; i < 10; ++i) {
    c = matmul(c, a) * 0.05; // on cpu:0
    d = matmul(d, b) * 0.05; // at the same time, on cpu:1
  }
  synchronize("cpu:1"); // for this one alone
  std::cout << "d is on " << d.device() << " and " << (d.ready() ? "there" : "not there") << "\n";
  Tensor back = d.to("cpu:0");
  bool same = std::memcmp(c.bytes(), back.bytes(), size_t(c.type().bytes())) == 0;
  std::cout << "both have " << (same ? "the same" : "different") << " bits\n";

  try {
    c + d;
  } catch (const Error &error) {
    std::cout << error.what() << "\n";
  }

  float one = train("cpu:0", "cpu:0").item<float>(), two = train("cpu:0", "cpu:1").item<float>();
  std::cout << Net().numParameters() << " parameters: loss on one device " << one << ", over two " << two
            << (one == two ? ": the same\n" : ": different\n");
}
