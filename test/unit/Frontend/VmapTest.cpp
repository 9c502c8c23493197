// vmap against the same function slice by slice, with the same bits; Jacobians and Hessians against formulas.
#include "sprig/vmap.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Record.h"
#include "sprig/control.h"
#include "sprig/function.h"
#include "sprig/ops.h"
#include "test/unit/Frontend/Expect.h"
#include <cmath>
#include <set>

using namespace sprig;

namespace {

using Function = std::function<Tensor(Tensor, Tensor)>;

Tensor sample(const Shape &shape, double phase = 0) {
  return (sin(arange(double(shape.elements())) * 1.7 + phase) * 2).reshape(shape);
}

/// vmap(f) of both inputs: imperatively, compiled, and by a loop in C++.
void expectAsLoop(const char *name, const Tensor &x, const Tensor &y, const Function &f) {
  SCOPED_TRACE(name);
  std::vector<Tensor> each;
  for (int64_t i = 0; i < x.size(0); ++i) each.push_back(f(x[i], y[i]));
  Tensor want = stack(each);
  auto batched = vmap([f](const Tensor &a, const Tensor &b) { return f(a, b); });
  expectSameBits(batched(x, y), want);
  expectSameBits(compile(batched)(x, y), want);
}

/// vmap(f) as it is recorded.
std::string recordedAs(const Tensor &x, const Tensor &y, const Function &f) {
  auto batched = [&](std::span<const Tensor> in) {
    return vmapAll([&](std::span<const Tensor> slice) { return std::vector<Tensor>{f(slice[0], slice[1])}; }, in);
  };
  std::vector<Tensor> captured;
  const TensorType types[] = {x.type(), y.type()};
  frontend::Graph graph = frontend::traceRegion(types, batched, captured, Source::here());
  return frontend::printGraph(graph);
}
/// Whether slices are carried out one after the other.
bool isLoop(const Tensor &x, const Tensor &y, const Function &f) { return has(recordedAs(x, y, f), "nn.scan"); }

TEST(Vmap, EqualsALoop) {
  Tensor x = sample({4, 2, 3}), y = sample({4, 3}, 1), w = sample({3, 5}, 2), shared = sample({2, 3}, 3);
  auto image = [](const Tensor &a) { return a.reshape({1, 2, 3}); };
  auto filter = [](const Tensor &b) { return cat({b, b * 2, -b, b + 1}).reshape({3, 2, 2}); };
  const std::pair<const char *, Function> rows[] = {
      {"elements", [](Tensor a, Tensor b) { return exp(a) * b + where(a > 0, a, b / 2); }},
      {"shared", [=](Tensor a, Tensor b) { return a * shared + sum(shared) - b; }},
      {"scalars", [](Tensor a, Tensor b) { return a * sum(b) + a[0][0]; }},
      {"nothing of a slice", [=](Tensor, Tensor) { return shared * 2; }},
      {"sums", [](Tensor a, Tensor b) { return sum(a, 0) + mean(b) + max(a, {0, 1}); }},
      {"kept sums", [](Tensor a, Tensor) { return a / sum(a * a, 1, true); }},
      {"softmax", [](Tensor a, Tensor) { return softmax(a, 1) + logSoftmax(a, 0); }},
      {"order", [](Tensor a, Tensor) { return sort(a, 1).values + cumsum(a, 0) + argmax(a, 1, true).to(DType::f32); }},
      {"quantised by a scale of the slice",
       [](Tensor a, Tensor b) { return fakeQuantize(a, abs(b) + 0.1f, zeros({}, DType::i8), {-7, 7}); }},
      {"what is shared quantised by a scale of the slice",
       [=](Tensor, Tensor b) { return fakeQuantize(shared, abs(b) + 0.1f, zeros({}, DType::i8)); }},
      {"activations", [=](Tensor a, Tensor b) { return gelu(a) + silu(shared) * leakyRelu(b) + elu(b) + selu(a); }},
      {"losses of elements",
       [=](Tensor a, Tensor b) {
         return mseLoss(a, shared, Reduction::none) + huberLoss(shared, a, Reduction::none) + b;
       }},
      {"shapes", [](Tensor a, Tensor b) { return cat({a.T().reshape({2, 3}), b.expand({2, 3}), a.flip(1)}); }},
      {"joined with what is shared", [=](Tensor a, Tensor) { return stack({a, shared}); }},
      {"parts",
       [](Tensor a, Tensor b) { return a(all, Slice(1, 3)) * b(Slice(2, 0, -1)) + pad(a, {1, 1})(all, Slice(0, 2)); }},
      {"products", [=](Tensor a, Tensor b) { return matmul(a, w) + matmul(b, w); }},
      {"product of slices", [](Tensor a, Tensor b) { return matmul(a, b); }},
      {"linear", [=](Tensor a, Tensor) { return linear(a, w.T(), sample({5})); }},
      {"linear with weights of slices", [](Tensor a, Tensor b) { return linear(b, a); }},
      {"gather from what is shared",
       [=](Tensor a, Tensor) { return take(shared, argmax(a, 1), 1) + take(w, argmin(a, 1), 0)[0][0]; }},
      {"gather", [](Tensor a, Tensor) { return take(a, Tensor({2, 0, 2}), 1); }},
      {"gather of slices by slices", [](Tensor a, Tensor b) { return take(b, argmax(a, 1), 0); }},
      {"elements gathered", [](Tensor a, Tensor) { return gather(a, 1, argsort(a, 1)); }},
      {"layer norm", [](Tensor a, Tensor b) { return layerNorm(a, 3, b); }},
      {"layer norm of slices", [](Tensor a, Tensor b) { return layerNorm(a, {2, 3}, a, a * 2) + rmsNorm(a, 3, b); }},
      {"rows normalised", [=](Tensor a, Tensor) { return layerNorm(a, 3, shared[0], shared[1]); }},
      {"channels normalised",
       [=](Tensor a, Tensor) {
         return groupNorm(image(a), 2, shared(all, 0), shared(all, 1)) +
                batchNorm(image(a), shared(all, 0), exp(shared(all, 1)));
       }},
      {"groups of slices", [=](Tensor a, Tensor b) { return groupNorm(image(a), 2, b(Slice(0, 2)), b(Slice(1, 3))); }},
      {"pools", [=](Tensor a, Tensor) { return maxPool1d(image(a), 2) + avgPool1d(image(a), 2); }},
      {"convolution", [](Tensor a, Tensor) { return conv1d(a, ones({1, 2, 2})); }},
      {"convolution by slices", [=](Tensor a, Tensor b) { return conv1d(image(a), filter(b)); }},
      {"convolution of what is shared", [=](Tensor, Tensor b) { return conv1d(image(shared), filter(b)); }},
      {"groups of channels",
       [=](Tensor a, Tensor b) { return conv1d(image(a), b.reshape({3, 1, 1})(Slice(0, 2)), {}, {.groups = 2}); }},
      {"convolution turned", [=](Tensor a, Tensor) { return convTranspose1d(image(a), sample({2, 3, 2})); }},
      {"gradients of filters",
       [=](Tensor a, Tensor) {
         return grad([=](Tensor v) { return sum(square(conv1d(image(a), v))); })(filter(shared[0]));
       }},
      {"gradients of filters for cotangents that slices share",
       [=](Tensor a, Tensor) { return grad([=](Tensor v) { return sum(conv1d(image(a), v)); })(filter(shared[0])); }},
      {"losses",
       [=](Tensor a, Tensor b) {
         return crossEntropy(a, Tensor({2, 0})) + mseLoss(b, b * 2) + huberLoss(b, shared[0]) + l1Loss(b, b + 3);
       }},
      {"gradients of losses",
       [](Tensor a, Tensor) { return grad([](Tensor v) { return crossEntropy(v, Tensor({2, 0})); })(a); }},
      {"branches", [](Tensor a, Tensor b) { return cond(sum(b) > 0, [&] { return a * 2; }, [&] { return -a; }); }},
      {"gradients", [=](Tensor a, Tensor) { return grad([=](Tensor v) { return sum(tanh(matmul(v, w))); })(a); }},
  };
  const std::set<std::string> loops = {"branches", "gather of slices by slices"};
  for (auto &[name, f] : rows) {
    expectAsLoop(name, x, y, f);
    EXPECT_EQ(isLoop(x, y, f), loops.count(name) > 0) << name;
  }
}

// With their gradients, which differ from those of their parts.
TEST(Vmap, KeepsCompositesThatAreElementwise) {
  Tensor x = sample({4, 2, 3}), y = sample({4, 3});
  std::string text = recordedAs(x, y, [](Tensor a, Tensor b) {
    return gelu(a) + fakeQuantize(a, abs(b) + 0.1f, zeros({}, DType::i8)) + stopGradient(a);
  });
  for (const char *each : {"nn.gelu", "nn.fake_quantize", "nn.stop_gradient"}) EXPECT_TRUE(has(text, each)) << text;
}

TEST(Vmap, NestsAndHasGradients) {
  Tensor x = sample({3, 4}), y = sample({5, 4}, 1);
  // All pairs of rows.
  auto pairs = vmap([y](const Tensor &a) { return vmap([a](const Tensor &b) { return sum(a * b); })(y); });
  EXPECT_TRUE(allclose(pairs(x), matmul(x, y.T())).item<bool>());
  auto loss = [](Tensor v) { return sum(vmap([](const Tensor &row) { return sum(row * row * row); })(v)); };
  expectSameBits(grad(loss)(x), grad([](Tensor v) { return sum(sum(v * v * v, 1)); })(x));
}

TEST(Vmap, SaysWhatItCannotDo) {
  Tensor x = sample({3, 2});
  auto twice = vmap([](const Tensor &a, const Tensor &b) { return a * b; });
  auto random = vmap([](const Tensor &a) { return a + rand({2}); });
  auto dropped = vmap([](const Tensor &a) { return dropout(a); });
  EXPECT_TRUE(has(errorOf([&] { twice(x, sample({4, 2})); }), "3x2xf32 and 4x2xf32 differ in their first axis"));
  EXPECT_TRUE(has(errorOf([&] { twice(x, Tensor(1.f)); }), "no first axis"));
  EXPECT_TRUE(has(errorOf([&] { twice(zeros({0, 2}), zeros({0, 2})); }), "no slice in 0x2xf32"));
  EXPECT_TRUE(has(errorOf([&] { random(x); }), "random"));
  EXPECT_TRUE(has(errorOf([&] { dropped(x); }), "random"));
  EXPECT_TRUE(has(errorOf([&] { vmap([](const Tensor &a) { return a.reshape({1, 1, 1, 1, 1, 1, 1, 2}); })(x); }),
                  "no axis left"));
  EXPECT_TRUE(has(errorOf([&] { vmapAll([](auto v) { return std::vector<Tensor>(v.begin(), v.end()); }, {}); }),
                  "one input or more"));
}

TEST(Jacobian, OfMapsThatHaveFormulas) {
  Tensor a = sample({3, 4}), x = sample({4}, 1), m = sample({2, 3}, 2);
  expectSameBits(jacobian([=](Tensor v) { return matmul(a, v); }, x), a);
  expectSameBits(jacobian([](Tensor v) { return sum(v * 3); }, x), full({4}, 3));
  // d (m m^T)_ij / d m_kl = [i = k] m_jl + [j = k] m_il
  Tensor j = jacobian([](Tensor v) { return matmul(v, v.T()); }, m), eye2 = eye(2);
  Tensor want = einsum("ik,jl->ijkl", {eye2, m}) + einsum("jk,il->ijkl", {eye2, m});
  EXPECT_TRUE(allclose(j, want).item<bool>()) << j << want;
  auto f = [](Tensor v) { return jacobian([](Tensor u) { return softmax(u, 0); }, v); };
  Tensor p = softmax(x, 0);
  EXPECT_TRUE(allclose(f(x), diag(p) - outer(p, p)).item<bool>());
  expectSameBits(compile(f)(x), f(x));
  // Through a convolution, which runs slice by slice.
  Tensor image = sample({1, 2, 4}), filter = sample({3, 2, 2}, 1);
  Tensor jc = jacobian([=](Tensor v) { return conv1d(v, filter); }, image);
  EXPECT_EQ(describe(jc.shape()), "[1, 3, 3, 1, 2, 4]");
  EXPECT_TRUE(allclose(sum(jc * image, {3, 4, 5}), conv1d(image, filter), {.rtol = 1e-4, .atol = 1e-5}).item<bool>());
}

TEST(Jacobian, Hessians) {
  Tensor x = sample({3}, 1), a = sample({3, 3});
  auto quadratic = [=](Tensor v) { return dot(v, matmul(a, v)); };
  EXPECT_TRUE(allclose(hessian(quadratic, x), a + a.T()).item<bool>());
  auto f = [](Tensor v) { return hessian([](Tensor u) { return prod(u) + sum(exp(u)); }, v); };
  std::vector<float> v = x.toVector<float>();
  Tensor want = diag(exp(x)) + Tensor({{0.f, v[2], v[1]}, {v[2], 0.f, v[0]}, {v[1], v[0], 0.f}});
  EXPECT_TRUE(allclose(f(x), want).item<bool>()) << f(x) << want;
  expectSameBits(compile(f)(x), f(x));
  // Of a solution: through the formula of its gradient.
  auto solution = [=](Tensor v) { return sum(solve(a + diag(v) * 5, v)); };
  Tensor h = hessian(solution, x);
  EXPECT_TRUE(allclose(h, h.T(), {.rtol = 1e-3, .atol = 1e-5}).item<bool>()) << h;
  // A third derivative: the gradient of the trace of a Hessian.
  auto trace = [](Tensor u) { return sum(diag(hessian([](Tensor w) { return sum(w * w * w * w); }, u))); };
  EXPECT_TRUE(allclose(grad(trace)(x), x * 24).item<bool>());
  EXPECT_TRUE(has(errorOf([&] { hessian([](Tensor u) { return u * u; }, x); }), "VmapTest.cpp:"));
  EXPECT_TRUE(has(errorOf([&] { jacobian([](Tensor u) { return u > 0; }, x); }), "expected floats"));
}

} // namespace
