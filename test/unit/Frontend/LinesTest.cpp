// Every public entry point names the line of the program that misuses it: in what it throws at once, and in what it
// records for errors that only running shows. Here those of tensors.
#include "test/unit/Frontend/Lines.h"
#include <sstream>

using namespace sprig;

namespace {

TEST(Lines, Tensors) {
  Tensor none, x = f({2, 3});
  std::ostringstream out;
  AT(out << none);
  AT(out << Parameter());
  AT(none.type());
  AT(none.shape());
  AT(none.dtype());
  AT(none.rank());
  AT(none.numel());
  AT(none.size(0));
  AT(x.size(5));
  AT(none.item<float>());
  AT(x.item<int>());
  AT(Tensor(300).item<uint8_t>());
  AT(none.toVector<float>());
  AT(x.toVector<int>());
  AT(x.data<double>());
  AT(none.bytes());
  AT(none.wait());
  AT(none.text());
  AT(none.detach());
  AT(none.requireGrad());
  AT(zeros({2}, DType::i32).requireGrad());
  AT(none.backward());
  AT(x.backward());
  AT(none.device());
  AT(none.to("cpu:1"));
  AT(x.to("null:0"));
  AT(x.to("tpu:0"));
  AT(DeviceScope("cuda:0"));
  AT(synchronize("null:0"));
  AT(nn::Linear(2, 2).to("cuda:1"));
  AT(Parameter().device());
  AT(x + f({2, 3}).to("cpu:1"));
  AT(none.clone());
  AT(none.contiguous());
  AT(Tensor::from(std::vector<float>(3), {2, 2}));
  AT(Tensor(std::vector<float>(3), {2, 2}));
  AT(Tensor({{1, 2}, {3}}));
  AT(data::Field(none));
}

// What a rank throws has its number in front of the line.
TEST(Lines, Ranks) {
  AT(dist::spawn(0, [](dist::Group &) {}));
  auto expectIn = [](int line, const std::function<void(dist::Group &)> &f) {
    try {
      dist::spawn(1, f);
      ADD_FAILURE() << "line " << line << " was not refused";
    } catch (const Error &error) {
      std::string text = error.what(), place = placeOf(line, Source::here());
      EXPECT_TRUE(text.starts_with("rank 0: ") && text.find(place) != std::string::npos) << text;
    }
  };
#define IN(statement) expectIn(__LINE__, [&](dist::Group &group) { (void)(statement); })
  Tensor none, x = f({2, 3}), wholes = zeros({2}, DType::i32);
  IN(group.allReduce(none));
  IN(group.allReduceAsync(none));
  IN(group.reduceScatter(wholes, dist::Reduce::mean));
  IN(group.allReduce({x, wholes}, dist::Reduce::mean));
  IN(group.reduceScatter(f({})));
  IN(group.allGather(none));
  IN(group.allGather(x, 7));
  IN(group.broadcast(none));
  IN(group.broadcast(x, 1));
  IN(group.reduce(x, dist::Reduce::sum, -1));
  IN(group.reduce(none));
  IN(group.gather(x, 3));
  IN(group.scatter(none));
  IN(group.allToAll(f({})));
  IN(dist::BatchShare(group, -1));
  IN(group.sub({1}));
  IN(group.split(-1).barrier());
#undef IN
}

TEST(Lines, Methods) {
  Tensor x = f({2, 3}), other = f({4}), i = zeros({2}, DType::i64), none;
  AT(none.relu());
  AT(zeros({2}, DType::i32).gelu());
  AT(x.add(other));
  AT(x.pow(other));
  AT(x.eq(other));
  AT(x.clamp(other, 1));
  AT(x.maskedFill(other, 1));
  AT(x.matmul(other));
  AT(x.sum(7));
  AT(x.var(7));
  AT(x.all(7));
  AT(x.argmin(7));
  AT(x.softmax(7));
  AT(x.topk(9));
  AT(x.sort(7));
  AT(x.reshape({5}));
  AT(x.view({5}));
  AT(x.flatten(4));
  AT(x.unflatten(1, {2, 2}));
  AT(x.transpose(0, 4));
  AT(f({2, 2, 2}).t());
  AT(f({2, 2, 2}).T());
  AT(x.permute({0}));
  AT(x.squeeze(5));
  AT(x.unsqueeze(5));
  AT(x.expand({4, 3}));
  AT(x.repeat({1, -2}));
  AT(x.split({1, 3}, 1));
  AT(x.chunk(2, 5));
  AT(x.unbind(5));
  AT(x[2]);
  AT(x(0, 5));
  AT(x[Slice(0, 2, 0)]);
  AT(x.slice(0, 0, 2, 0));
  AT(x.narrow(1, 1, 3));
  AT(x.select(1, 3));
  AT(x.gather(0, i));
  AT(x.indexSelect(0, x));
  AT(x.scatterAdd(0, i, x));
  AT(x.flip(5));
  AT(x.roll(1, 5));
}

TEST(Lines, Operators) {
  Tensor x = f({2, 3}), y = f({4});
  AT(x + y);
  AT(x - y);
  AT(x * y);
  AT(x / y);
  AT(x % y);
  AT(x == y);
  AT(x < y);
  AT(x && y);
  AT(1.0 + Tensor());
  AT(-Tensor());
  AT(!Tensor());
  AT(x += y);
  AT(x -= y);
  AT(x *= y);
  AT(x /= y);
  AT(maskedFill(x, y > 0, 1));
  AT(assign(x, {0}, y));
  AT(index(x, {5}));
  AT(cat({x, y}));
  AT(stack(std::vector<Tensor>{x, y}));
  AT(arange(0, 1, -0.1));
  AT(arange(3, 0));
  AT(linspace(0, 1, -1));
  AT(normal({2}, 0, 1, DType::i32));
  AT(randint(3, 3, {2}));
}

TEST(Lines, Picking) {
  Tensor x = f({2, 3}), y = f({4}), none, mask = x > 0;
  AT(einsum("ij,j->i", {x, y}));
  AT(einsum("ij,j->i", std::vector<Tensor>{x, none}));
  AT(cdist(x, y));
  AT(meshgrid({x}));
  AT(isclose(x, y));
  AT(allclose(x, y));
  AT(nonzero(none, 2));
  AT(nonzero(ones({3}), 2).count.wait());
  AT(maskedSelect(x, y, 2));
  AT(maskedSelect(x, mask, -1));
  AT(maskedScatter(x, mask, zeros({2}, DType::i64)));
  AT(assign(x, {y > 0}, 1));
  AT(unfold(x, 2));
  AT(unfold(x, 0, 3, 1));
  AT(fold(x, 3, 2));
  AT(median(x, 2));
  AT(median(none));
  AT(quantile(x, 2, 0));
  AT(quantile(x, 2));
  AT(quantile(x, {0.1, 2}, 0));
}

TEST(Lines, SamplesAndLengths) {
  Tensor x = f({5, 2, 3}), h = f({2, 4});
  AT(gridSample(x, x));
  AT(rnn(x, h, f({4, 3}), f({4, 4}), {}, {}, RnnActivation::tanh, false, f({2})));
  AT(gru(x, h, f({12, 3}), f({12, 4}), {}, {}, false, f({2})));
  AT(lstm(x, h, h, f({16, 3}), f({16, 4}), {}, {}, false, f({2})));
  AT(rnn(x, h, f({4, 3}), f({4, 4}), {}, {}, RnnActivation::tanh, false, Tensor({6, 1})).h.wait());
  AT(nn::LSTM(3, 4)(x, {}, {}, f({2})));
  AT(nn::GRU(3, 4)(x, {}, f({2})));
}

TEST(Lines, Alignments) {
  Tensor p = f({5, 2, 4}), two = full({2}, 2, DType::i64), labels = ones({2, 3}, DType::i64);
  AT(ctcLoss(p, two, two, two));
  AT(ctcLoss(p, labels + 4, two, two).wait());
  AT(ctcLoss(p, labels, two * 4, two).wait());
}

TEST(Lines, FourierAndMatrices) {
  Tensor x = f({2, 3}), none, s = f({3, 3});
  AT(add(Complex{x, none}, Complex{x, x}));
  AT(sub(Complex{x, x}, Complex{x, none}));
  AT(mul(Complex{x, x}, Complex{f({4}), f({4})}));
  AT(conj({x, s}));
  AT(abs(Complex{x, s}));
  AT(angle({x, s}));
  AT(fft(none));
  AT(fft(Complex{x, s}));
  AT(ifft({x, s}));
  AT(rfft(x, {.axis = 3}));
  AT(irfft({x, x}, {.axis = 3}));
  AT(fft2(f({3})));
  AT(fft2(Complex{x, s}));
  AT(ifft2({x, s}));
  AT(rfft2(f({3})));
  AT(irfft2({x, s}));
  AT(fftshift(x, 4));
  AT(ifftshift(x, 4));
  AT(fftfreq(0));
  AT(rfftfreq(4, 0));
  AT(solve(x, x));
  AT(solve(s, ones({3})).wait());
  AT(inverse(x));
  AT(inverse(s).wait());
  AT(det(x));
  AT(slogdet(none));
  AT(cholesky(s).wait());
  AT(choleskySolve(f({3}), s));
}

TEST(Lines, Parameters) {
  Parameter none, p(f({2, 3})), counter(zeros({2}, DType::i64));
  AT(Parameter(Tensor()));
  AT(none.value());
  AT(none.type());
  AT(none.shape());
  AT(none.numel());
  AT(none.grad());
  AT(none.zeroGrad());
  AT(none.name());
  AT(none.setName("x"));
  AT(none.set(f({2})));
  AT(none.setTrainable(true));
  AT(counter.setTrainable(true));
  AT(p.set(f({2})));
  AT(none + 1);
  AT(relu(none));
  AT(init::zeros_(none));
  AT(init::uniform_(none));
  AT(init::constant({DType::u16, {3}}, 65536));
  AT(init::constant_(counter, 0.5));
  AT(init::kaimingUniform_(counter));
  AT(init::xavierNormal({DType::f32, {3}}));
  AT(init::orthogonal({DType::f32, {3}}));
  AT(init::truncNormal({DType::f32, {3}}, 0, 1, 2, 1));
}

TEST(Lines, Gradients) {
  Tensor x = f({2, 3}), none;
  auto square = [](Tensor v) { return sum(v * v); };
  AT(grad(none, x));
  AT(grad(x, x));
  AT(grad(sum(x), x));
  AT(grad(sum(x), std::vector<Parameter>{Parameter()}));
  AT(valueAndGrad(square)(none));
  AT(grad(square)(none));
  AT(vjp(square, none));
  AT(jvp(square, none, x));
  AT(jvp(square, x, f({2})));
  AT(checkpoint(square)(none));
  AT(vmap(square)(none));
  AT(vmap([](Tensor v) { return v + rand({3}); })(x));
  AT(jacobian(square, none));
  AT(jacobian([](Tensor v) { return v > 0; }, x));
  AT(hessian([](Tensor v) { return v; }, x));
  AT(customGradient([](Tensor v) { return v; }, [](Tensor, Tensor, Tensor g) { return g; }, none));
}

TEST(Lines, Control) {
  Tensor x = f({2, 3}), none;
  AT(cond(x, [&] { return x; }, [&] { return x; }));
  AT(cond(none, [&] { return x; }, [&] { return x; }));
  AT(whileLoop([](Tensor v) { return v; }, [](Tensor v) { return v; }, x));
  AT(whileLoop([](Tensor v) { return sum(v) > 0; }, [](Tensor v) { return v; }, none));
  AT(scan([](Tensor h, Tensor) { return std::pair(h, h); }, x, none));
}

} // namespace
