// A perceptron whose two large layers are divided over ranks: each has some outputs of the first layer and, of the
// second one, what reads those, so that its part needs nothing of others up to the sum of all parts, one all-reduce.
// All ranks take all samples. One rank with the whole network has the same losses.
//   sprig launch -n 2 -- model_parallel
//   model_parallel [threads]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sprig/sprig.h>

using namespace sprig;

/// 646410 parameters.
struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(1000, 512)), b = add("b", nn::Linear(512, 256)), c = add("c", nn::Linear(256, 10));
  Tensor operator()(Tensor x) const { return c(relu(b(relu(a(x))))); }
};

/// What a rank has of it: rows of a's weight, columns of b's, and the rest, which is small, as everybody.
struct Part : nn::Module {
  nn::Linear a, b;
  Parameter bias;
  nn::Linear c;
  dist::Group &group;
  Part(const Net &whole, dist::Group &group)
      : a(nn::Linear(1000, ownOf(group))), b(nn::Linear(ownOf(group), 256, {.bias = false})), c(nn::Linear(256, 10)),
        group(group) {
    auto [first, last] = group.rowsOf(512);
    a = add("a", a);
    b = add("b", b);
    c = add("c", c);
    a.weight.set(whole.a.weight.value().slice(0, first, last));
    a.bias.set(whole.a.bias.value().slice(0, first, last));
    b.weight.set(whole.b.weight.value().slice(1, first, last));
    bias = addParameter("bias", whole.b.bias.value());
    c.weight.set(whole.c.weight.value());
    c.bias.set(whole.c.bias.value());
  }
  Tensor operator()(Tensor x) const {
    Tensor sum = group.allReduce(b(relu(a(x)))); // what a part cannot know
    return c(relu(sum + bias));
  }
  static int64_t ownOf(dist::Group &group) {
    auto [first, last] = group.rowsOf(512);
    return last - first;
  }
};

constexpr int64_t kSamples = 256, kBatch = 64, kEpochs = 5;

static data::Dataset samples() {
  return data::Dataset(kSamples, [](int64_t i) {
    std::vector<double> x(1000);
    int64_t label = i * 7 % 10;
    for (int64_t k = 0; k < 1000; ++k)
      x[size_t(k)] = 0.3 * std::sin(double(label * 13 + k)) + 0.7 * std::sin(double(i * 31 + k * 17));
    return data::Sample{data::Field(x), label};
  });
}

template <typename M, typename Gradients> static std::vector<double> train(const M &net, const Gradients &gradientsOf) {
  auto optimizer = optim::adam(net, {.lr = 1e-3});
  auto step = compile([&](const Tensor &x, const Tensor &y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(gradientsOf(loss));
    return loss.detach();
  });
  std::vector<Tensor> losses;
  data::Loader loader(samples(), {.batch = kBatch, .shuffle = 42});
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
    for (auto [x, y] : loader) losses.push_back(step(x, y));
  std::vector<double> numbers;
  for (const Tensor &loss : losses) numbers.push_back(loss.item<double>());
  return numbers;
}

int main(int count, char **arguments) try {
  dist::run(count > 1 ? std::atoi(arguments[1]) : 2, [](dist::Group &group) {
    nn::setDefaultDType(DType::f64);
    manualSeed(42);
    Net whole;
    Part part(whole, group);
    std::vector<double> losses = train(part, [&](const Tensor &loss) {
      // Gradients are those of the sum of all ranks' outputs, and that has the loss once for each.
      std::vector<Tensor> gradients = grad(loss * (1.0 / group.size()), part.parameters());
      // Of what all ranks have, each knows its share; of its own layers it knows all.
      auto names = part.namedParameters();
      for (size_t i = 0; i < gradients.size(); ++i)
        if (!names[i].first.starts_with("a.") && !names[i].first.starts_with("b."))
          gradients[i] = group.allReduce(gradients[i]);
      return gradients;
    });
    group.checkReplicas(part.c);
    int64_t mine = part.numParameters();
    if (group.rank() > 0) return;
    std::vector<double> alone = train(whole, [&](const Tensor &loss) { return grad(loss, whole.parameters()); });
    bool same = losses.size() == alone.size();
    double most = 0;
    for (size_t i = 0; i < alone.size() && i < losses.size(); ++i) {
      double apart = std::abs(losses[i] - alone[i]);
      same &= apart <= 1e-6;
      most = std::max(most, apart);
    }
    std::printf("%d ranks: %lld parameters on the first, loss %.4f to %.4f in %zu steps\n", group.size(),
                static_cast<long long>(mine), losses.front(), losses.back(), losses.size());
    std::printf("one rank, %lld parameters: %s (%.1g)\n", static_cast<long long>(whole.numParameters()),
                same ? "the same losses" : "other losses", most);
  });
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
