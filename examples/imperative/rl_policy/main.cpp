// Policy gradients (REINFORCE, Williams 1992) on a pole that must be balanced: the simulation runs in C++, the policy
// and its update are compiled functions that the loop calls.
#include <cmath>
#include <cstdio>
#include <random>
#include <sprig/sprig.h>

using namespace sprig;

/// The cart and pole of Barto, Sutton and Anderson (1983), Euler steps of 20 ms.
struct CartPole {
  float x = 0, v = 0, angle = 0, turn = 0;
  bool step(int action) {
    float force = action ? 10.f : -10.f, c = std::cos(angle), s = std::sin(angle);
    float t = (force + 0.05f * turn * turn * s) / 1.1f;
    float turning = (9.8f * s - c * t) / (0.5f * (4.f / 3 - 0.1f * c * c / 1.1f));
    float pushing = t - 0.05f * turning * c / 1.1f;
    x += 0.02f * v, v += 0.02f * pushing, angle += 0.02f * turn, turn += 0.02f * turning;
    return std::abs(x) < 2.4f && std::abs(angle) < 0.21f;
  }
};

struct Policy : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 32)), b = add("b", nn::Linear(32, 2));
  Tensor operator()(Tensor state) const { return logSoftmax(b(tanh(a(state))), 1); }
};

int main(int count, char **arguments) {
  int episodes = count > 1 ? std::atoi(arguments[1]) : 200;
  constexpr int kLongest = 200;
  manualSeed(2);
  std::mt19937 random(2);
  Policy policy;
  auto optimizer = optim::adam(policy.parameters(), {.lr = 1e-2});
  auto act = compile(policy, {.name = "act"});
  // Episodes are padded to one length, so that one program serves all: a weight of 0 leaves a step out.
  auto learn = compile(
      [&](Tensor states, Tensor actions, Tensor weights) {
        Tensor chosen = squeeze(gather(policy(states), 1, unsqueeze(actions, 1)), 1);
        Tensor loss = -sum(chosen * weights);
        optimizer.update(grad(loss, policy.parameters()));
        return loss;
      },
      {.name = "learn"});

  double average = 0;
  for (int episode = 1; episode <= episodes; ++episode) {
    CartPole pole;
    pole.angle = std::uniform_real_distribution<float>(-0.05f, 0.05f)(random);
    std::vector<float> states(kLongest * 4), weights(kLongest);
    std::vector<int64_t> actions(kLongest);
    int steps = 0;
    for (bool up = true; up && steps < kLongest; ++steps) {
      std::vector<float> state{pole.x, pole.v, pole.angle, pole.turn};
      float left = std::exp(act(Tensor::from(state, {1, 4})).data<float>()[0]);
      int action = std::uniform_real_distribution<float>(0, 1)(random) < left ? 0 : 1;
      std::copy(state.begin(), state.end(), states.begin() + 4 * steps);
      actions[size_t(steps)] = action;
      up = pole.step(action);
    }
    // Discounted returns, normalised over the episode.
    double sum = 0, squares = 0, later = 0;
    std::vector<double> returns(static_cast<size_t>(steps));
    for (int i = steps; i-- > 0;) returns[size_t(i)] = later = 1 + 0.99 * later;
    for (double r : returns) sum += r, squares += r * r;
    double mean = sum / steps, deviation = std::sqrt(std::max(squares / steps - mean * mean, 1e-8));
    for (int i = 0; i < steps; ++i) weights[size_t(i)] = float((returns[size_t(i)] - mean) / deviation) / float(steps);
    learn(Tensor::from(states, {kLongest, 4}), Tensor::from(actions, {kLongest}), Tensor::from(weights, {kLongest}));
    average = episode == 1 ? steps : 0.95 * average + 0.05 * steps;
    if (episode % 50 == 0) std::printf("episode %d: balanced for %.1f steps on average\n", episode, average);
  }
}
