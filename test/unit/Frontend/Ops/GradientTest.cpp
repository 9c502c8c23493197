// Gradients through the operations as they are called: against central differences in double precision. The rules
// themselves are tested with the dialect; this is for what the operations compose of them.
#include "sprig/grad.h"
#include "test/unit/Frontend/Ops/Harness.h"

using namespace sprig;
using namespace sprig::test;

namespace {

using Function = std::function<Tensor(Inputs)>;

/// The sum of the result times fixed weights.
Tensor weighted(const Tensor &y) {
  if (y.shape().empty()) return y * 1.5;
  return sum(y * tensorOf(numbers(y.shape(), 77), DType::f64));
}

void checkGradient(const char *name, const std::vector<Array> &arrays, const Function &f, double step = 1e-5) {
  try {
    std::vector<Tensor> inputs;
    for (const Array &a : arrays) inputs.push_back(tensorOf(a, DType::f64).requireGrad());
    manualSeed(5);
    Tensor value = weighted(f(inputs));
    std::vector<Tensor> gradients = grad(std::span(&value, 1), inputs);
    for (size_t k = 0; k < arrays.size(); ++k) {
      ASSERT_EQ(describe(gradients[k].type()), describe(inputs[k].type())) << name;
      Array got = arrayOf(gradients[k]);
      for (size_t i = 0; i < arrays[k].values.size(); ++i) {
        double sides[2];
        for (int side : {0, 1}) {
          std::vector<Tensor> moved;
          for (size_t j = 0; j < arrays.size(); ++j) {
            Array a = arrays[j];
            if (j == k) a.values[i] += side ? step : -step;
            moved.push_back(tensorOf(a, DType::f64));
          }
          manualSeed(5);
          sides[side] = weighted(f(moved)).item<double>();
        }
        double want = (sides[1] - sides[0]) / (2 * step);
        ASSERT_NEAR(got.values[i], want, 1e-6 * (1 + std::abs(want))) << name << ": input " << k << " element " << i;
      }
    }
  } catch (const Error &error) {
    ADD_FAILURE() << name << ": " << error.what();
  }
}

struct Row {
  const char *name;
  std::vector<Array> inputs;
  Function f;
};

void checkAll(const std::vector<Row> &rows) {
  for (const Row &row : rows) checkGradient(row.name, row.inputs, row.f);
}

TEST(Gradients, Elementwise) {
  Array x = numbers({2, 3}, 1), y = numbers({3}, 2), p = numbers({2, 3}, 3, 0.3, 2);
  checkAll({
      {"arithmetic", {x, y}, [](Inputs v) { return (v[0] + 2) * v[1] - v[0] / (v[1] * v[1] + 1) + -v[1]; }},
      {"remainder", {x, p}, [](Inputs v) { return v[0] % v[1]; }},
      {"pow", {p, y}, [](Inputs v) { return pow(v[0], v[1]) + pow(v[0], 2) + pow(v[0], 3) + pow(2, v[1]); }},
      {"atan2", {x, p}, [](Inputs v) { return atan2(v[0], v[1]) + atan2(v[1], v[0]); }},
      {"lerp", {x, y}, [](Inputs v) { return lerp(v[0], v[1], 0.3); }},
      {"maximum", {x, y}, [](Inputs v) { return maximum(v[0], v[1]) * minimum(v[0], v[1]); }},
      {"where", {x, y}, [](Inputs v) { return where(v[0] > v[1], v[0] * v[1], 2.0) + maskedFill(v[0], v[0] > 0, 1); }},
      {"clamp", {x}, [](Inputs v) { return clamp(v[0], -1.0, 1.0); }},
      {"activations",
       {x},
       [](Inputs v) {
         return gelu(v[0]) + silu(v[0]) + mish(v[0]) + elu(v[0]) + selu(v[0]) + softplus(v[0], 2, 3) +
                logSigmoid(v[0]) + hardSwish(v[0]) + softShrink(v[0]) + tanhShrink(v[0]) + leakyRelu(v[0]) +
                celu(v[0]) + softsign(v[0]);
       }},
      {"prelu", {x, y}, [](Inputs v) { return prelu(v[0], v[1]); }},
      {"glu", {numbers({2, 4}, 1)}, [](Inputs v) { return glu(v[0]); }},
      {"softmax", {x}, [](Inputs v) { return softmax(v[0], 1) + logSoftmax(v[0], 0) + softmin(v[0], -1); }},
      {"logarithms", {p}, [](Inputs v) { return log2(v[0]) + log10(v[0]) + log1p(v[0]) + exp2(v[0]) + erfc(v[0]); }},
      {"stopGradient", {x}, [](Inputs v) { return v[0] * stopGradient(v[0] * 0) + v[0]; }},
  });
}

TEST(Gradients, Reductions) {
  Array x = numbers({3, 4}, 4);
  checkAll({
      {"var", {x}, [](Inputs v) { return var(v[0], 1) + stdDev(v[0], 1, 0); }},
      {"logsumexp", {x}, [](Inputs v) { return logsumexp(v[0], 0); }},
      {"norm", {x}, [](Inputs v) { return norm(v[0]) + norm(v[0], 3, 1) + norm(v[0], 1, 1); }},
      {"normalize", {x}, [](Inputs v) { return normalize(v[0]); }},
      {"cosine", {x, numbers({3, 4}, 5)}, [](Inputs v) { return cosineSimilarity(v[0], v[1]); }},
      {"extremes", {x}, [](Inputs v) { return max(v[0], 1) * min(v[0], 1) + prod(v[0], 1); }},
      {"running", {x}, [](Inputs v) { return cumsum(v[0], 1) * v[0]; }},
      {"cumprod", {x}, [](Inputs v) { return cumprod(v[0], 1); }},
      {"order", {x}, [](Inputs v) { return sort(v[0]).values * topk(v[0], 4).values; }},
  });
}

TEST(Gradients, Shapes) {
  Array x = numbers({3, 4}, 6), image = numbers({1, 2, 3, 4}, 7);
  Tensor picks = tensorOf({{2, 4}, {0, 2, 1, 1, 2, 0, 0, 1}}, DType::i64), rows({2, 0, 2});
  checkAll({
      {"index", {x}, [=](Inputs v) { return v[0](Slice(2, 0, -1), Slice(0, 4, 2)) * v[0][1][0] + sum(v[0][rows]); }},
      {"assign", {x, numbers({2}, 1)}, [](Inputs v) { return assign(v[0], {Slice(0, 2), 1}, v[1]) * v[0]; }},
      {"roll and flip", {x}, [](Inputs v) { return roll(v[0], 1, 1) * flip(v[0], {0, 1}); }},
      {"joins", {x}, [](Inputs v) { return cat({v[0], stack({v[0][0], v[0][1]})}) * 2; }},
      {"repetition", {x}, [](Inputs v) { return tile(v[0], {2, 2}) * repeatInterleave(tile(v[0], {1, 2}), 2, 0); }},
      {"triangles", {x}, [](Inputs v) { return tril(v[0]) * 2 + triu(v[0], 1) + diag(v[0])[0]; }},
      {"gather",
       {x},
       [=](Inputs v) { return gather(v[0], 0, picks) + scatterAdd(v[0], 0, picks, v[0][Slice(0, 2)])[Slice(0, 2)]; }},
      {"embedding", {x}, [=](Inputs v) { return embedding(rows, v[0]); }},
      {"padding",
       {x},
       [](Inputs v) {
         return pad(v[0], {2, 1}) + pad(v[0], {2, 1}, Padding::reflect) + pad(v[0], {2, 1}, Padding::replicate) +
                pad(v[0], {2, 1}, Padding::circular);
       }},
      {"nearest", {image}, [](Inputs v) { return interpolate(v[0], {.size = {5, 8}}); }},
      {"bilinear",
       {image},
       [](Inputs v) { return interpolate(v[0], {.size = {5, 3}, .mode = Interpolation::bilinear}); }},
      {"bicubic",
       {image},
       [](Inputs v) { return interpolate(v[0], {.size = {5, 3}, .mode = Interpolation::bicubic}); }},
      {"pixelShuffle", {numbers({1, 4, 2, 2}, 3)}, [](Inputs v) { return pixelShuffle(v[0], 2); }},
  });
}

TEST(Gradients, ProductsAndWindows) {
  Array image = numbers({2, 2, 5, 4}, 1);
  checkAll({
      {"matmul",
       {numbers({2, 1, 3}, 1), numbers({3, 2}, 2), numbers({2}, 3)},
       [](Inputs v) { return matmul(matmul(v[0], v[1]), v[2]); }},
      {"linear",
       {numbers({2, 3}, 1), numbers({4, 3}, 2), numbers({4}, 3)},
       [](Inputs v) { return linear(v[0], v[1], v[2]); }},
      {"bilinear",
       {numbers({2, 3}, 1), numbers({2, 2}, 2), numbers({2, 3, 2}, 3)},
       [](Inputs v) { return bilinear(v[0], v[1], v[2]); }},
      {"conv2d",
       {image, numbers({4, 1, 3, 2}, 2), numbers({4}, 3)},
       [](Inputs v) { return conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = 1, .groups = 2}); }},
      {"conv1d of the same size",
       {numbers({1, 2, 6}, 1), numbers({3, 2, 4}, 2)},
       [](Inputs v) { return conv1d(v[0], v[1], {}, {.samePadding = true}); }},
      {"conv1d",
       {numbers({1, 2, 6}, 1), numbers({3, 2, 2}, 2)},
       [](Inputs v) { return conv1d(v[0], v[1], {}, {.dilation = 2}); }},
      {"convTranspose2d",
       {numbers({1, 2, 3, 2}, 1), numbers({2, 2, 2, 3}, 2)},
       [](Inputs v) { return convTranspose2d(v[0], v[1], {}, {.stride = 2, .padding = {0, 1}}); }},
      {"pools",
       {image},
       [](Inputs v) { return maxPool2d(v[0], 2) * avgPool2d(v[0], {2, 2}, {.padding = {0, 0}, .ceilMode = false}); }},
      {"pools up",
       {image},
       [](Inputs v) {
         return avgPool2d(v[0], 3, {.stride = 2, .padding = 1, .ceilMode = true, .countIncludePad = false});
       }},
      {"adaptive", {image}, [](Inputs v) { return adaptiveAvgPool2d(v[0], {3, 2}) * adaptiveMaxPool2d(v[0], {3, 2}); }},
  });
}

TEST(Gradients, Picking) {
  Array x = numbers({3, 4}, 1), y = numbers({4, 2}, 2), z = numbers({3, 2}, 3);
  checkAll({
      {"einsum", {x, y, z}, [](Inputs v) { return einsum("ij,jk,ik->k", {v[0], v[1], v[2]}); }},
      {"einsum of elements", {x}, [](Inputs v) { return einsum("...j,...j->j...", {v[0], v[0]}); }},
      {"einsum of a diagonal", {numbers({3, 3, 2}, 1)}, [](Inputs v) { return einsum("iij->ij", {v[0]}); }},
      {"meshgrid",
       {numbers({3}, 1), numbers({2}, 2)},
       [](Inputs v) {
         auto g = meshgrid({v[0], v[1]});
         return g[0] * g[1];
       }},
      {"maskedSelect", {x}, [](Inputs v) { return maskedSelect(v[0] * v[0], v[0] > 0, 12, 3).values; }},
      {"maskedScatter", {x, numbers({12}, 2)}, [](Inputs v) { return maskedScatter(v[0], v[0] > 0, v[1]) * v[0]; }},
      {"assign by a mask",
       {x, numbers({4}, 2)},
       [](Inputs v) { return assign(v[0], {Tensor({true, false, true})}, v[1]); }},
      {"unfold", {numbers({2, 2, 4, 3}, 1)}, [](Inputs v) { return unfold(v[0], 2, {.stride = 2, .padding = 1}) * 2; }},
      {"unfold along an axis", {x}, [](Inputs v) { return unfold(v[0], 1, 2, 1) * 2; }},
      {"fold", {numbers({2, 8, 4}, 1)}, [](Inputs v) { return fold(v[0], {3, 3}, 2); }},
      {"cdist",
       {x, numbers({2, 4}, 2)},
       [](Inputs v) {
         return cdist(v[0], v[1]) + cdist(v[0], v[1], 1) + cdist(v[0], v[1], 3) + cdist(v[0], v[1], HUGE_VAL);
       }},
      {"median", {x}, [](Inputs v) { return median(v[0], 1).values * median(v[0]); }},
      {"quantile", {x}, [](Inputs v) { return quantile(v[0], {0.3, 0.8}, 1) * quantile(v[0], 0.4); }},
  });
}

TEST(Gradients, FourierAndMatrices) {
  Array x = numbers({2, 6}, 1), y = numbers({2, 6}, 2), a = numbers({2, 3, 3}, 3), b = numbers({2, 3, 2}, 4);
  auto parts = [](const Complex &z) { return z.re * 2 + z.im; };
  auto definite = [](const Tensor &m) { return matmul(m, m.transpose()) + eye(3, 3, DType::f64); };
  checkAll({
      {"fft",
       {x, y},
       [=](Inputs v) { return parts(fft(Complex{v[0], v[1]}, {.axis = 0})) + parts(ifft({v[0], v[1]})); }},
      {"rfft", {x}, [=](Inputs v) { return parts(rfft(v[0])); }},
      {"irfft", {x, y}, [](Inputs v) { return irfft({v[0], v[1]}) * irfft({v[0], v[1]}, {.n = 10}); }},
      {"fft2", {x}, [=](Inputs v) { return parts(ifft2(fft2(v[0]))) * irfft2(rfft2(v[0])); }},
      {"a split fft", {numbers({1, 66}, 1)}, [=](Inputs v) { return parts(fft(v[0])); }},
      {"a prime fft", {numbers({1, 67}, 1)}, [=](Inputs v) { return parts(fft(v[0])); }},
      {"abs and angle", {x, y}, [](Inputs v) { return abs(Complex{v[0], v[1]}) * angle({v[0], v[1]}); }},
      {"solve", {a, b}, [](Inputs v) { return solve(v[0], v[1]); }},
      {"solve for vectors", {a, numbers({2, 3}, 5)}, [](Inputs v) { return solve(v[0], v[1]); }},
      {"inverse", {a}, [](Inputs v) { return inverse(v[0]); }},
      {"det", {a}, [](Inputs v) { return det(v[0]); }},
      {"slogdet", {a}, [](Inputs v) { return slogdet(v[0]).logAbsDet; }},
      {"cholesky", {a}, [=](Inputs v) { return cholesky(definite(v[0])); }},
      {"choleskySolve", {a, b}, [=](Inputs v) { return choleskySolve(v[1], cholesky(definite(v[0]))); }},
  });
}

TEST(Gradients, Layers) {
  Array x = numbers({3, 4, 2}, 1), c = numbers({4}, 2), d = numbers({4}, 3);
  Array q = numbers({2, 3}, 4), k = numbers({4, 3}, 5), value = numbers({4, 2}, 6);
  auto recurrent = [](int64_t gates) {
    return std::vector<Array>{numbers({3, 2, 2}, 1),      numbers({2, 3}, 2),      numbers({gates * 3, 2}, 3),
                              numbers({gates * 3, 3}, 4), numbers({gates * 3}, 5), numbers({gates * 3}, 6)};
  };
  checkAll({
      {"batchNorm", {x, c, d}, [](Inputs v) { return batchNormTraining(v[0], v[1], v[2]).output; }},
      {"layerNorm", {x, numbers({2}, 4), numbers({2}, 5)}, [](Inputs v) { return layerNorm(v[0], 2, v[1], v[2]); }},
      {"groupNorm", {x, c, d}, [](Inputs v) { return groupNorm(v[0], 2, v[1], v[2]); }},
      {"rmsNorm", {x}, [](Inputs v) { return rmsNorm(v[0], 2); }},
      {"localResponseNorm", {x}, [](Inputs v) { return localResponseNorm(v[0], 3, 0.5); }},
      {"dropout", {x}, [](Inputs v) { return dropout(v[0], 0.4) + dropoutChannels(v[0], 0.5); }},
      {"attention",
       {q, k, value},
       [](Inputs v) { return scaledDotProductAttention(v[0], v[1], v[2], {.causal = true}); }},
      {"gridSample",
       {numbers({1, 2, 3, 4}, 1), numbers({1, 2, 3, 2}, 2, -0.9, 0.9)},
       [](Inputs v) {
         return gridSample(v[0], v[1]) + gridSample(v[0], v[1], {GridMode::bicubic, GridPadding::border, true});
       }},
      {"lstm with lengths", recurrent(4),
       [](Inputs v) {
         auto r = lstm(v[0], v[1], v[1] * 2, v[2], v[3], v[4], v[5], true, Tensor({3, 1}));
         return r.output[0] + r.c + r.h;
       }},
      {"rnn", recurrent(1), [](Inputs v) { return rnn(v[0], v[1], v[2], v[3], v[4], v[5]).output; }},
      {"gru", recurrent(3), [](Inputs v) { return gru(v[0], v[1], v[2], v[3], v[4], v[5]).output; }},
      {"lstm", recurrent(4),
       [](Inputs v) {
         auto r = lstm(v[0], v[1], v[1] * 2, v[2], v[3], v[4], v[5]);
         return r.output[-1] + r.c;
       }},
  });
}

TEST(Gradients, Losses) {
  Array x = numbers({3, 4}, 1), t = numbers({3, 4}, 2, 0.1, 0.9);
  Tensor classes({2, 0, 3}), weight = tensorOf(numbers({4}, 3, 0.5, 2), DType::f64);
  checkAll({
      {"crossEntropy",
       {x},
       [=](Inputs v) { return crossEntropy(v[0], classes, {.weight = weight, .labelSmoothing = 0.1}); }},
      {"crossEntropy of images",
       {numbers({1, 3, 3}, 5)},
       [=](Inputs v) { return crossEntropy(v[0], Tensor({{2, 0, 1}})); }},
      {"crossEntropy of probabilities", {x, t}, [=](Inputs v) { return crossEntropy(v[0], v[1]); }},
      {"ctcLoss",
       {numbers({5, 3, 4}, 1)},
       [](Inputs v) {
         return ctcLoss(logSoftmax(v[0], 2), Tensor({{1, 1}, {3, 2}, {2, 0}}), Tensor({5, 4, 5}), Tensor({2, 2, 1}));
       }},
      {"nllLoss", {x}, [=](Inputs v) { return nllLoss(logSoftmax(v[0], 1), classes); }},
      {"elements",
       {x},
       [](Inputs v) {
         return mseLoss(v[0], 0.5) + huberLoss(v[0], 0.1) + l1Loss(v[0], 0.2) +
                smoothL1Loss(v[0], 0, Reduction::sum, 0.5);
       }},
      {"bce", {t}, [](Inputs v) { return bceLoss(v[0], 0.3); }},
      {"bceWithLogits",
       {x},
       [=](Inputs v) {
         return bceWithLogitsLoss(v[0], 0.3, {.positiveWeight = weight}) + bceWithLogitsLoss(v[0], 0.8);
       }},
      {"klDiv", {x}, [](Inputs v) { return klDivLoss(v[0], 0.4, Reduction::batchMean); }},
      {"triplet", {x, t}, [](Inputs v) { return tripletMarginLoss(v[0], v[1], v[0] * v[1]); }},
  });
}

} // namespace
