// Recurrent layers and attention, against plain loops.
#include "LayerFixture.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;

namespace {

/// One direction of one layer over [steps, batch, features], PyTorch's formulas and gate orders.
struct Reference {
  Numbers wi, wh, bi, bh;
  size_t features, hidden;
  Numbers h, c; ///< [batch, hidden]

  Reference(const nn::Recurrent::Weights &w, size_t features, size_t hidden, size_t batch)
      : wi(numbersOf(w.inputs)), wh(numbersOf(w.states)), bi(numbersOf(w.inputBias)), bh(numbersOf(w.stateBias)),
        features(features), hidden(hidden), h(batch * hidden), c(batch * hidden) {}

  void step(char kind, const Numbers &x) {
    size_t batch = h.size() / hidden, gates = bi.size() / hidden;
    Numbers fromX = test::linear(x, wi, bi, features), fromH = test::linear(h, wh, bh, hidden), next = h;
    for (size_t b = 0; b < batch; ++b)
      for (size_t j = 0; j < hidden; ++j) {
        auto in = [&](size_t gate) { return fromX[(b * gates + gate) * hidden + j]; };
        auto state = [&](size_t gate) { return fromH[(b * gates + gate) * hidden + j]; };
        size_t at = b * hidden + j;
        if (kind == 'r') {
          next[at] = std::tanh(in(0) + state(0));
        } else if (kind == 'g') { // r, z, n
          double r = test::sigmoid(in(0) + state(0)), z = test::sigmoid(in(1) + state(1));
          next[at] = (1 - z) * std::tanh(in(2) + r * state(2)) + z * h[at];
        } else { // i, f, g, o
          double i = test::sigmoid(in(0) + state(0)), f = test::sigmoid(in(1) + state(1));
          c[at] = f * c[at] + i * std::tanh(in(2) + state(2));
          next[at] = test::sigmoid(in(3) + state(3)) * std::tanh(c[at]);
        }
      }
    h = next;
  }
};

constexpr size_t kSequenceSteps = 4, kBatch = 2, kSequenceFeatures = 3, kHidden = 5;

/// All layers and directions; returns the output [steps, batch, directions hidden].
Numbers runReference(const nn::Recurrent &layer, char kind, Numbers x, size_t layers, size_t directions, Numbers &lastH,
                     Numbers &lastC) {
  size_t features = kSequenceFeatures;
  for (size_t i = 0; i < layers; ++i) {
    Numbers out(kSequenceSteps * kBatch * directions * kHidden);
    for (size_t d = 0; d < directions; ++d) {
      Reference r(layer.weights[i * directions + d], features, kHidden, kBatch);
      for (size_t t = 0; t < kSequenceSteps; ++t) {
        size_t at = d ? kSequenceSteps - 1 - t : t, row = kBatch * features;
        r.step(kind, Numbers(x.begin() + ptrdiff_t(at * row), x.begin() + ptrdiff_t((at + 1) * row)));
        for (size_t b = 0; b < kBatch; ++b)
          for (size_t j = 0; j < kHidden; ++j)
            out[((at * kBatch + b) * directions + d) * kHidden + j] = r.h[b * kHidden + j];
      }
      lastH.insert(lastH.end(), r.h.begin(), r.h.end());
      lastC.insert(lastC.end(), r.c.begin(), r.c.end());
    }
    x = out;
    features = directions * kHidden;
  }
  return x;
}

template <typename Layer> void checkRecurrent(char kind, bool bidirectional) {
  Layer layer(kSequenceFeatures, kHidden, {.layers = 2, .bidirectional = bidirectional});
  Tensor x = someTensor({kSequenceSteps, kBatch, kSequenceFeatures}, 20);
  nn::RecurrentOutput out = layer(x);
  Numbers h, c;
  Numbers expected = runReference(layer, kind, numbersOf(x), 2, bidirectional ? 2 : 1, h, c);
  expectNear(out.output, expected);
  expectNear(out.h, h);
  if (kind == 'l') expectNear(out.c, c);
  EXPECT_EQ(out.h.shape(), (Shape{bidirectional ? 4 : 2, int64_t(kBatch), int64_t(kHidden)}));

  Layer first(kSequenceFeatures, kHidden, {.layers = 2, .batchFirst = true, .bidirectional = bidirectional});
  first.loadStateDict(layer.stateDict());
  expectNear(first(x.transpose(0, 1)).output.transpose(0, 1), expected);
  // One sequence without a batch, from a given state.
  Tensor single = x.slice(1, 0, 1).squeeze(1);
  nn::RecurrentOutput alone = layer(single);
  EXPECT_EQ(alone.output.shape(), (Shape{kSequenceSteps, (bidirectional ? 2 : 1) * int64_t(kHidden)}));
  expectNear(alone.output, numbersOf(out.output.slice(1, 0, 1)));
}

TEST(Recurrent, rnn) { checkRecurrent<nn::RNN>('r', false); }
TEST(Recurrent, gru) {
  checkRecurrent<nn::GRU>('g', false);
  checkRecurrent<nn::GRU>('g', true);
}
TEST(Recurrent, lstm) {
  checkRecurrent<nn::LSTM>('l', false);
  checkRecurrent<nn::LSTM>('l', true);
}

TEST(Recurrent, stateGoesOn) {
  nn::LSTM layer(kSequenceFeatures, kHidden);
  Tensor x = someTensor({kSequenceSteps, kBatch, kSequenceFeatures}, 21);
  nn::RecurrentOutput whole = layer(x), head = layer(x.slice(0, 0, 2)), tail = layer(x.slice(0, 2, 4), head.h, head.c);
  expectNear(tail.output, numbersOf(whole.output.slice(0, 2, 4)));
  EXPECT_THROW(layer(x, zeros({2, kBatch, kHidden})), Error);
  EXPECT_THROW(layer(zeros({kSequenceSteps, kBatch, 7})), Error);
}

TEST(Recurrent, namesAreTorchs) {
  std::vector<std::string> names;
  for (auto &[name, parameter] : nn::GRU(3, 4, {.layers = 2, .bidirectional = true}).namedParameters())
    names.push_back(name);
  EXPECT_THAT(names,
              ::testing::ElementsAre("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse",
                                     "weight_hh_l0_reverse", "bias_ih_l0_reverse", "bias_hh_l0_reverse", "weight_ih_l1",
                                     "weight_hh_l1", "bias_ih_l1", "bias_hh_l1", "weight_ih_l1_reverse",
                                     "weight_hh_l1_reverse", "bias_ih_l1_reverse", "bias_hh_l1_reverse"));
}

TEST(Recurrent, cellsAreSteps) {
  Tensor x = someTensor({1, kBatch, kSequenceFeatures}, 22);
  auto copy = [](const nn::Recurrent::Weights &from, const nn::RecurrentCell &to) {
    to.weightIh.set(from.inputs.value().detach());
    to.weightHh.set(from.states.value().detach());
    to.biasIh.set(from.inputBias.value().detach());
    to.biasHh.set(from.stateBias.value().detach());
  };
  nn::RNN rnn(kSequenceFeatures, kHidden);
  nn::RNNCell rnnCell(kSequenceFeatures, kHidden);
  copy(rnn.weights[0], rnnCell);
  expectNear(rnnCell(x[0]), numbersOf(rnn(x).h));
  nn::GRU gru(kSequenceFeatures, kHidden);
  nn::GRUCell gruCell(kSequenceFeatures, kHidden);
  copy(gru.weights[0], gruCell);
  expectNear(gruCell(x[0]), numbersOf(gru(x).h));
  nn::LSTM lstm(kSequenceFeatures, kHidden);
  nn::LSTMCell lstmCell(kSequenceFeatures, kHidden);
  copy(lstm.weights[0], lstmCell);
  LstmState state = lstmCell(x[0]);
  nn::RecurrentOutput out = lstm(x);
  expectNear(state.h, numbersOf(out.h));
  expectNear(state.c, numbersOf(out.c));
}

/// Attention of one batch element: q [L, E], k and v [S, E] already mapped; `hidden(i, j)` masks.
template <typename F>
Numbers attend(const Numbers &q, const Numbers &k, const Numbers &v, size_t features, size_t heads, F hidden,
               Numbers &weights) {
  size_t length = q.size() / features, keys = k.size() / features, d = features / heads;
  Numbers out(q.size());
  weights.assign(length * keys, 0);
  for (size_t head = 0; head < heads; ++head)
    for (size_t i = 0; i < length; ++i) {
      Numbers scores(keys);
      double total = 0;
      for (size_t j = 0; j < keys; ++j) {
        double score = 0;
        for (size_t p = 0; p < d; ++p) score += q[i * features + head * d + p] * k[j * features + head * d + p];
        scores[j] = hidden(i, j) ? 0 : std::exp(score / std::sqrt(double(d)));
        total += scores[j];
      }
      for (size_t j = 0; j < keys; ++j) {
        weights[i * keys + j] += scores[j] / total / double(heads);
        for (size_t p = 0; p < d; ++p)
          out[i * features + head * d + p] += scores[j] / total * v[j * features + head * d + p];
      }
    }
  return out;
}

TEST(Attention, multihead) {
  constexpr size_t kLength = 4, kWidth = 6, kHeads = 2;
  nn::MultiheadAttention layer(kWidth, kHeads, {.batchFirst = true});
  init::uniform_(layer.inProjBias, -1, 1);
  init::uniform_(layer.outProj.bias, -1, 1);
  Tensor x = someTensor({1, kLength, kWidth}, 30);
  Numbers w = numbersOf(layer.inProjWeight), b = numbersOf(layer.inProjBias);
  auto mapped = [&](size_t part) {
    Numbers weight(w.begin() + ptrdiff_t(part * kWidth * kWidth), w.begin() + ptrdiff_t((part + 1) * kWidth * kWidth));
    Numbers bias(b.begin() + ptrdiff_t(part * kWidth), b.begin() + ptrdiff_t((part + 1) * kWidth));
    return test::linear(numbersOf(x), weight, bias, kWidth);
  };
  auto check = [&](const nn::AttentionMask &mask, auto hidden) {
    Numbers weights;
    Numbers heads = attend(mapped(0), mapped(1), mapped(2), kWidth, kHeads, hidden, weights);
    Numbers expected = test::linear(heads, numbersOf(layer.outProj.weight), numbersOf(layer.outProj.bias), kWidth);
    expectNear(layer(x, x, x, mask), expected);
    expectNear(layer(x, x.detach() * 1, x, mask), expected); // three products instead of one
    nn::AttentionResult result = layer.withWeights(x, x, x, mask);
    expectNear(result.output, expected);
    expectNear(result.weights, weights);
  };
  check({}, [](size_t, size_t) { return false; });
  check({.causal = true}, [](size_t i, size_t j) { return j > i; });
  check({.keyPadding = Tensor({{false, true, false, false}})}, [](size_t, size_t j) { return j == 1; });
  Tensor mask({{false, true, true, false},
               {false, false, true, true},
               {true, false, false, false},
               {false, false, false, true}});
  std::vector<bool> bits = {false, true,  true,  false, false, false, true,  true,
                            true,  false, false, false, false, false, false, true};
  check({.mask = mask}, [&](size_t i, size_t j) { return bits[i * 4 + j]; });
  check({.keyPadding = Tensor({{false, true, false, false}}), .causal = true},
        [](size_t i, size_t j) { return j == 1 || j > i; });
  check({.mask = mask && !eye(4, 4, DType::boolean), .causal = true},
        [&](size_t i, size_t j) { return (bits[i * 4 + j] && i != j) || j > i; });
  check({.mask = where(mask, -1e30, zeros({4, 4}))}, [&](size_t i, size_t j) { return bits[i * 4 + j]; });

  nn::MultiheadAttention timeFirst(kWidth, kHeads);
  timeFirst.loadStateDict(layer.stateDict());
  expectNear(timeFirst(x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1)).transpose(0, 1),
             numbersOf(layer(x, x, x)));
  expectNear(layer(x[0], x[0], x[0]), numbersOf(layer(x, x, x)));
  EXPECT_THROW(nn::MultiheadAttention(6, 4), Error);
  EXPECT_EQ(nn::MultiheadAttention(6, 2, {.keyFeatures = 3, .valueFeatures = 5}).numParameters(),
            36 + 18 + 30 + 18 + 36 + 6);
}

// Also where a query sees no key, here the first.
TEST(Attention, CausalWithPaddingIsTheMaskOfBoth) {
  nn::MultiheadAttention layer(6, 2, {.batchFirst = true});
  Tensor padding({{true, false, false, true}, {false, false, true, true}});
  Tensor later = arange(0, 4) > arange(0, 4).unsqueeze(1);
  Tensor both = reshape(broadcastTo(padding.reshape({2, 1, 1, 4}) || later, {2, 2, 4, 4}), {4, 4, 4});
  Tensor given = someTensor({2, 4, 6}, 33), factors = someTensor({2, 4, 6}, 34);
  auto derived = [&](const nn::AttentionMask &mask) {
    std::vector<Tensor> targets{given.requireGrad()};
    for (const Parameter &p : layer.parameters()) targets.push_back(p);
    Tensor y = layer(targets[0], targets[0], targets[0], mask), loss = sum(square(y) * factors);
    std::vector<Tensor> results = grad(std::span(&loss, 1), targets);
    results.push_back(y);
    return results;
  };
  auto compiled = compile([&](const Tensor &keys) { return derived({.keyPadding = keys, .causal = true}); });
  std::vector<Tensor> want = derived({.mask = both}), got = derived({.keyPadding = padding, .causal = true}),
                      fromProgram = compiled(padding);
  for (size_t i = 0; i < want.size(); ++i) {
    expectNear(got[i], numbersOf(want[i]), 1e-6);
    expectNear(fromProgram[i], numbersOf(want[i]), 1e-6);
  }
  expectNear(got.back()[0][0], numbersOf(layer.outProj.bias), 0);
}

TEST(Attention, encoderLayer) {
  nn::TransformerEncoderLayer layer(8, 2, {.feedForward = 16, .batchFirst = true});
  // PyTorch counts: 4 * 64 + 32 of the attention, 8 * 16 * 2 + 24 of the feed-forward, 32 of the norms.
  EXPECT_EQ(layer.numParameters(), 288 + 280 + 32);
  layer.eval();
  Tensor x = someTensor({3, 5, 8}, 31);
  Tensor attended = layer.norm1(x + layer.selfAttention(x, x, x));
  Tensor expected = layer.norm2(attended + layer.linear2(relu(layer.linear1(attended))));
  expectNear(layer(x), numbersOf(expected), 1e-6);
  nn::TransformerEncoder encoder(layer, 2, nn::LayerNorm(8));
  encoder.eval();
  EXPECT_EQ(encoder.numParameters(), 2 * 600 + 16);
  EXPECT_NE(encoder.find("layers.1.self_attn.out_proj"), nullptr);
  expectNear(encoder(x), numbersOf(nn::LayerNorm(8)(layer(layer(x)))), 1e-5);
  nn::TransformerDecoderLayer decoder(8, 2, {.feedForward = 16, .batchFirst = true, .normFirst = true});
  EXPECT_EQ(decoder(x, someTensor({3, 2, 8}, 32), {.causal = true}).shape(), (Shape{3, 5, 8}));
  EXPECT_EQ(decoder.numParameters(), 2 * 288 + 280 + 48);
}

} // namespace
