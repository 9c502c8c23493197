// A small step that ranks take together, and its batches; what ranks throw, and whether results have the same bits: for
// tests of compiled functions with collectives.
#pragma once
#include "sprig/sprig.h"
#include "test/unit/Frontend/Expect.h"
#include <chrono>
#include <cmath>
#include <cstring>

namespace sprig {

inline std::string errorOfRanks(const std::function<void(dist::Group &)> &f) {
  return errorOf([&] { dist::spawn(2, f, {.timeout = std::chrono::seconds(20)}); });
}

inline bool sameBits(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() && std::memcmp(a.bytes(), b.bytes(), size_t(a.type().bytes())) == 0;
}
inline bool sameBits(const nn::StateDict &a, const nn::StateDict &b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) same = sameBits(a[i].value, b[i].value);
  return same;
}

// Samples begin to end of a step's batch: each has numbers that its class moves.
inline std::pair<Tensor, Tensor> samplesOf(int step, int64_t begin, int64_t end) {
  std::vector<float> numbers;
  std::vector<int64_t> classes;
  for (int64_t i = begin; i < end; ++i) {
    classes.push_back((i * 7 + step) % 3);
    for (int j = 0; j < 6; ++j) numbers.push_back(std::sin(float(i * 31 + j * 17 + step * 5 + classes.back() * 40)));
  }
  return {Tensor(numbers, {end - begin, 6}), Tensor(classes)};
}

struct Trained {
  nn::StateDict state;
  std::vector<float> losses;
};

// The whole step, gradients and their sum over the ranks included, is one function.
inline Trained train(int64_t batch, dist::Group *group, bool compiled, double clip = 0) {
  manualSeed(5);
  nn::Sequential net(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3));
  auto optimizer = optim::adam(net, {.lr = 0.05});
  if (clip > 0) optimizer.setClipNorm(clip);
  auto step = compile([&](const Tensor &x, const Tensor &y) {
    Tensor loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) * (1.0 / double(batch));
    std::vector<Tensor> gradients = grad(loss, net.parameters());
    optimizer.update(group ? group->allReduce(gradients) : gradients);
    return group ? group->allReduce(loss) : loss;
  });
  step.enable(compiled);
  Trained result;
  for (int i = 0; i < 6; ++i) {
    auto [begin, end] = group ? group->rowsOf(batch) : std::pair<int64_t, int64_t>(0, batch);
    auto [x, y] = samplesOf(i, begin, end);
    result.losses.push_back(step(x, y).item<float>());
  }
  if (group) group->checkReplicas(net);
  result.state = net.stateDict();
  return result;
}

} // namespace sprig
