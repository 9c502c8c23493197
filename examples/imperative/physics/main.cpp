// Gradients with respect to inputs. A network learns a pendulum's motion from its equation alone: its second
// derivative by time must be -sin of itself (a physics-informed network). And forces as the gradient of an energy.
#include <cmath>
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Motion : nn::Module {
  nn::Linear a = add("a", nn::Linear(1, 32)), b = add("b", nn::Linear(32, 32)), c = add("c", nn::Linear(32, 1));
  Tensor operator()(Tensor t) const { return c(tanh(b(tanh(a(t))))); }
};

int main() {
  // The force of a spring is minus the gradient of its energy.
  auto energy = [](Tensor x) { return 0.5 * 3.0 * sum(x * x); };
  Tensor x({1.f, -2.f});
  std::printf("force %s\n", (-grad(energy)(x)).text().c_str()); // [-3, 6]

  manualSeed(4);
  Motion net;
  auto angle = [&](Tensor t) { return 1 + t * t * net(t); }; // starts at 1, at rest
  auto optimizer = optim::adam(net.parameters(), {.lr = 3e-3});
  auto step = compile([&](Tensor t) {
    Tensor time = t.requireGrad();
    Tensor y = angle(time);
    Tensor speed = grad(sum(y), time, {.createGraph = true});
    Tensor acceleration = grad(sum(speed), time, {.createGraph = true});
    Tensor loss = mean(square(acceleration + sin(y)));
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  Tensor t = reshape(linspace(0, 3, 64), {64, 1});
  for (int i = 0; i <= 2000; ++i) {
    Tensor loss = step(t);
    if (i % 500 == 0) std::printf("step %d: mean squared residual %.6f\n", i, loss.item<float>());
  }
  // Compared with small steps of the equation itself.
  double y = 1, v = 0;
  for (int i = 0; i < 30000; ++i) v -= 1e-4 * std::sin(y), y += 1e-4 * v;
  std::printf("angle at t = 3: network %.3f, integrated %.3f\n", angle(Tensor({{3.f}})).item<float>(), y);
}
