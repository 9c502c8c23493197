// A network that learns a pendulum's motion from its equation: second derivatives by the input within the loss.
#include "Program.h"

namespace programs {
namespace {

struct Motion : nn::Module {
  nn::Linear a = add("a", nn::Linear(1, 32)), b = add("b", nn::Linear(32, 32)), c = add("c", nn::Linear(32, 1));
  Tensor operator()(Tensor t) const { return 1 + t * t * c(tanh(b(tanh(a(t))))); }
};

} // namespace

Curve pinn(const Files &files, const Settings &) {
  Motion motion;
  motion.load(files.weights());
  auto optimizer = optim::adam(motion.parameters(), {.lr = 1e-3});
  auto step = compile([&](Tensor given) {
    Tensor t = given.requireGrad();
    Tensor y = motion(t);
    Tensor speed = grad(sum(y), t, {.createGraph = true});
    Tensor acceleration = grad(sum(speed), t, {.createGraph = true});
    Tensor loss = mean(square(acceleration + sin(y)));
    optimizer.update(grad(loss, motion.parameters()));
    return loss;
  });
  Curve curve;
  for (const Tensor &t : unbind(files.data("t"))) curve.step([&] { return step(t); });
  return curve;
}

} // namespace programs
