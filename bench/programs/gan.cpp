// A generator and a critic with an optimizer each; the generator's batch norms are in evaluation mode where it is
// looked at within the loop.
#include "Program.h"

namespace programs {
namespace {

struct Generator : nn::Module {
  nn::Linear a = add("a", nn::Linear(8, 32, {.bias = false})), b = add("b", nn::Linear(32, 2));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(32));
  Tensor operator()(Tensor noise) const { return b(relu(norm(a(noise)))); }
};

struct Critic : nn::Module {
  nn::Linear a = add("a", nn::Linear(2, 32)), b = add("b", nn::Linear(32, 1));
  Tensor operator()(Tensor x) const { return b(leakyRelu(a(x), 0.2)); }
};

} // namespace

Curve gan(const Files &files, const Settings &) {
  Generator generator;
  Critic critic;
  generator.load(files.weights("generator"));
  critic.load(files.weights("critic"));
  auto forGenerator = optim::adam(generator, {.lr = 2e-3, .betas = {0.5, 0.999}});
  auto forCritic = optim::adam(critic, {.lr = 2e-3, .betas = {0.5, 0.999}});
  auto judge = [&](Tensor x, double label) {
    Tensor logits = critic(x);
    return bceWithLogitsLoss(logits, fullLike(logits, label));
  };
  auto step = compile([&](Tensor real, Tensor noise) {
    Tensor fake = generator(noise);
    Tensor criticLoss = judge(real, 1) + judge(fake.detach(), 0);
    forCritic.update(grad(criticLoss, critic.parameters()));
    Tensor loss = judge(generator(noise), 1);
    forGenerator.update(grad(loss, generator.parameters()));
    return criticLoss + loss;
  });
  auto sample = compile([&](Tensor noise) {
    NoGrad scope;
    return mean(norm(generator(noise), 2, -1));
  });
  std::vector<Tensor> real = unbind(files.data("real")), noise = unbind(files.data("noise"));
  Curve curve;
  for (size_t i = 0; i < real.size(); ++i) {
    curve.step([&] { return step(real[i], noise[i]); });
    if (i % 25 == 24) {
      generator.eval();
      curve.result(sample(noise[0]));
      generator.train();
    }
  }
  return curve;
}

} // namespace programs
