// Sequences of any length, three ways: an axis that grows, a key-value cache for one step at a time, a padded batch.
#include <cmath>
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

constexpr int64_t kWidth = 16, kLongest = 64;

/// Causal attention of one head, without projections of its output.
struct Attention : nn::Module {
  nn::Linear query = add("query", nn::Linear(kWidth, kWidth)), key = add("key", nn::Linear(kWidth, kWidth)),
             value = add("value", nn::Linear(kWidth, kWidth));
  /// All positions of a sequence [length, width] at once.
  Tensor operator()(Tensor x) const {
    Tensor scores = matmul(query(x), transpose(key(x))) / std::sqrt(double(kWidth));
    Tensor place = cumsum(onesLike(x(all, Slice(0, 1))), 0); // [length, 1]: 1, 2, ...
    return matmul(softmax(where(transpose(place) <= place, scores, -1e9), 1), value(x));
  }
};

/// The same for one position after the other: keys and values so far are state, of a fixed size.
struct Cached : nn::Module {
  Attention attention = add("attention", Attention());
  Parameter keys = Parameter(zeros({kLongest, kWidth}), "keys"),
            values = Parameter(zeros({kLongest, kWidth}), "values");
  explicit Cached(const Attention &attention) : attention(attention) {}
  /// `at` is a tensor, so that one program serves every position.
  Tensor operator()(Tensor x, Tensor at) {
    Tensor places = arange(0, kLongest), isHere = unsqueeze(places == at, 1);
    Tensor allKeys = where(isHere, attention.key(x), keys), allValues = where(isHere, attention.value(x), values);
    keys.set(allKeys);
    values.set(allValues);
    Tensor scores = matmul(attention.query(x), transpose(allKeys)) / std::sqrt(double(kWidth));
    return matmul(softmax(where(places <= at, scores, -1e9), 1), allValues);
  }
};

int main() {
  manualSeed(7);
  NoGrad none;
  Attention attention;

  // One function for all lengths: programs for up to 4, 8, 16, ... share the work.
  auto growing = compile([&](const Tensor &x) { return attention(x); }, {.growing = {{0, 0}}, .longest = kLongest});
  double worst = 0;
  for (int64_t length = 1; length <= kLongest; ++length) {
    Tensor x = randn({length, kWidth});
    worst = std::max(worst, double(max(abs(growing(x) - attention(x))).item<float>()));
  }
  std::printf("%d lengths, %zu programs, difference %g\n", int(kLongest), growing.recordings().size(), worst);

  // Word after word: one program, and each step does the work of one.
  Cached cached(attention);
  auto step = compile([&](const Tensor &x, const Tensor &at) { return cached(x, at); });
  Tensor sentence = randn({40, kWidth}), whole = attention(sentence);
  bool same = true;
  for (int64_t i = 0; i < 40; ++i) {
    Tensor y = step(sentence(Slice(i, i + 1)), Tensor(i));
    same &= max(abs(y - whole(Slice(i, i + 1)))).item<float>() < 1e-5f;
  }
  std::printf("40 steps with a cache, %zu program, difference below 1e-5: %s\n", step.recordings().size(),
              same ? "yes" : "no");

  // A batch of ragged sequences, padded with anything: the layer is told where each ends.
  nn::LSTM lstm(kWidth, 8);
  Tensor batch = randn({10, 3, kWidth}), lengths({int64_t(10), int64_t(4), int64_t(7)});
  Tensor last = lstm(batch, {}, {}, lengths).h, alone = lstm(batch(Slice(0, 4), Slice(1, 2))).h;
  std::printf("sequence 1 of the batch and alone: %s\n",
              max(abs(last(all, Slice(1, 2)) - alone)).item<float>() < 1e-6f ? "the same" : "different");
}
