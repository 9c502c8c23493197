// Proximal policy optimization (arXiv:1707.06347) on given rollouts of a pole on a cart.
#include "Program.h"

namespace programs {
namespace {

constexpr int kEpochs = 4, kMinibatches = 4;

struct Agent : nn::Module {
  nn::Linear body = add("body", nn::Linear(4, 64));
  nn::Linear policy = add("policy", nn::Linear(64, 2)), value = add("value", nn::Linear(64, 1));
  /// Logarithms of the actions' probabilities, and the value of each state.
  std::pair<Tensor, Tensor> operator()(Tensor state) const {
    Tensor h = tanh(body(state));
    return {logSoftmax(policy(h), -1), value(h).squeeze(-1)};
  }
};

Tensor chosen(const Tensor &logits, const Tensor &actions) {
  return logits.gather(-1, actions.unsqueeze(-1)).squeeze(-1);
}

/// Generalized advantages (arXiv:1506.02438): [steps, environments]; values has one step more.
Tensor advantages(const Tensor &rewards, const Tensor &values, const Tensor &done) {
  const int64_t steps = rewards.size(0);
  std::vector<Tensor> result(static_cast<size_t>(steps));
  Tensor later = zerosLike(rewards[0]);
  for (int64_t t = steps; t-- > 0;) {
    Tensor goesOn = 1 - done[t];
    Tensor delta = rewards[t] + 0.99 * values[t + 1] * goesOn - values[t];
    result[size_t(t)] = later = delta + 0.99 * 0.95 * goesOn * later;
  }
  return stack(result);
}

} // namespace

Curve ppo(const Files &files, const Settings &) {
  Agent agent;
  agent.load(files.weights());
  auto optimizer = optim::adam(agent.parameters(), {.lr = 1e-3, .eps = 1e-5});
  optimizer.setClipNorm(0.5);
  auto look = compile([&](Tensor states, Tensor actions, Tensor rewards, Tensor done) {
    NoGrad scope;
    auto [policy, values] = agent(states);
    Tensor gains = advantages(rewards, values, done);
    Tensor before = values.slice(0, 0, rewards.size(0));
    return std::tuple(chosen(policy.slice(0, 0, rewards.size(0)), actions).flatten(), before.flatten(), gains.flatten(),
                      (gains + before).flatten());
  });
  auto learn =
      compile([&](Tensor states, Tensor actions, Tensor oldPolicy, Tensor oldValue, Tensor gain, Tensor target) {
        auto [policy, value] = agent(states);
        gain = (gain - mean(gain)) / (stdDev(gain) + 1e-8);
        Tensor ratio = exp(chosen(policy, actions) - oldPolicy);
        Tensor policyLoss = -mean(minimum(ratio * gain, clamp(ratio, 0.8, 1.2) * gain));
        Tensor held = oldValue + clamp(value - oldValue, -0.2, 0.2);
        Tensor valueLoss = 0.5 * mean(maximum(square(value - target), square(held - target)));
        Tensor entropy = -mean(sum(exp(policy) * policy, -1));
        Tensor loss = policyLoss + 0.5 * valueLoss - 0.01 * entropy;
        optimizer.update(grad(loss, agent.parameters()));
        return loss;
      });
  Tensor states = files.data("states"), actions = files.data("actions"), rewards = files.data("rewards"),
         done = files.data("done"), order = files.data("order");
  int64_t rounds = states.size(0), samples = order.size(2);
  Curve curve;
  for (int64_t round = 0; round < rounds; ++round) {
    optimizer.setLr(1e-3 * (1 - double(round) / double(rounds)));
    auto [oldPolicy, oldValue, gain, target] = look(states[round], actions[round], rewards[round], done[round]);
    Tensor flatStates = states[round].slice(0, 0, -1).reshape({samples, 4}), flatActions = actions[round].flatten();
    for (int epoch = 0; epoch < kEpochs; ++epoch)
      for (const Tensor &part : order[round][epoch].chunk(kMinibatches)) {
        Tensor p = oldPolicy[part], v = oldValue[part], g = gain[part], t = target[part];
        Tensor s = flatStates[part], a = flatActions[part];
        curve.step([&] { return learn(s, a, p, v, g, t); });
      }
  }
  return curve;
}

} // namespace programs
