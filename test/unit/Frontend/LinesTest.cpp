// Every public entry point names the line of the program that misuses it: in what it throws at once, and in what it
// records for errors that only running shows.
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/sprig.h"
#include "gtest/gtest.h"
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unistd.h>

using namespace sprig;

namespace {

/// That f throws a sprig::Error whose text begins with this file and line.
template <typename F> void expectAt(int line, F f) {
  std::string place = "LinesTest.cpp:" + std::to_string(line) + ": ";
  try {
    f();
    ADD_FAILURE() << "line " << line << " was not refused";
  } catch (const Error &error) {
    std::string text = error.what();
    size_t found = text.find(place);
    EXPECT_TRUE(found != std::string::npos && found < text.find('\n') && text.find(": ") > found) << text;
  }
}
// The statement stands on the line that the error must name.
#define AT(statement) expectAt(__LINE__, [&] { (void)(statement); })

Tensor f(const Shape &shape) { return zeros(shape); }

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
      std::string text = error.what(), place = "LinesTest.cpp:" + std::to_string(line) + ": ";
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

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(3, 2));
  Tensor operator()(const Operand &x) const { return a(x); }
};

TEST(Lines, Modules) {
  Net net;
  nn::Sequential chain(nn::Linear(3, 2), nn::ReLU());
  nn::ModuleList<nn::Linear> list{nn::Linear(3, 2)};
  nn::ModuleDict<nn::Linear> dict{{"a", nn::Linear(3, 2)}};
  AT(net.add("a", nn::Linear(1, 1)));
  AT(net.addParameter("a", f({2})));
  AT(net.addParameter("b", Tensor()));
  AT(net.addBuffer("a", f({2})));
  AT(net.get<nn::ReLU>("a"));
  AT(net.get<nn::ReLU>("nothing"));
  AT(net.loadStateDict({}));
  AT(net.load("/nowhere.safetensors"));
  AT(net.save("/nowhere/at-all.safetensors"));
  AT(nn::loadTensors("/nowhere.npz"));
  AT(nn::saveTensors("never.npz", {{"x", Tensor()}}));
  AT(chain[2]);
  AT(list[1]);
  AT(dict["b"]);
  AT(nn::ModuleDict<nn::Linear>({{"a", nn::Linear(3, 2)}, {"a", nn::Linear(3, 2)}}));
  AT(chain(f({2, 5})));
  AT(net(f({2, 5})));
  AT(list[0](f({2, 5})));
  AT(dict["a"](f({2, 5})));
  Parameter counts = net.addParameter("counts", zeros({2}, DType::i64));
  AT(net.requiresGrad());
  AT(nn::setDefaultDType(DType::i32));
  AT(net.to(DType::i32));
  AT(nn::LSTM(2, 2).registerForwardHook(nn::ForwardHook()));
}

TEST(Lines, MakingLayers) {
  AT(nn::Linear(0, 2));
  AT(nn::Bilinear(1, 1, 0));
  AT(nn::Embedding(0, 2));
  AT(nn::EmbeddingBag(0, 2));
  AT(nn::Conv1d(0, 2, 3));
  AT(nn::Conv2d(3, 4, 3, {.groups = 2}));
  AT(nn::ConvTranspose2d(3, 0, 3));
  AT(nn::BatchNorm2d(0));
  AT(nn::InstanceNorm1d(0));
  AT(nn::LayerNorm(0));
  AT(nn::GroupNorm(3, 4));
  AT(nn::RMSNorm(0));
  AT(nn::Dropout(2));
  AT(nn::Dropout2d(2));
  AT(nn::ZeroPad2d({1, 2, 3}));
  AT(nn::RNN(0, 2));
  AT(nn::GRU(2, 0));
  AT(nn::LSTM(2, 0));
  AT(nn::LSTMCell(0, 2));
  AT(nn::MultiheadAttention(5, 2));
  AT(nn::TransformerEncoderLayer(5, 2));
  AT(nn::TransformerDecoderLayer(5, 2));
  AT(nn::PReLU(0));
  AT(nn::weightNorm(nn::ReLU()));
  AT(nn::spectralNorm(nn::Linear(2, 3), {.eps = 0}));
  AT(nn::weightOf(nn::ReLU()));
}

TEST(Lines, CallingLayers) {
  Tensor bad = f({2, 5}), none, ints = zeros({2, 5}, DType::i64);
  AT(nn::Linear(3, 2)(bad));
  AT(nn::Linear()(bad));
  AT(nn::Bilinear(1, 1, 2)(bad, bad));
  AT(nn::Embedding(4, 2)(bad));
  AT(nn::Embedding(4, 2, {.paddingIndex = 0})(bad));
  AT(nn::EmbeddingBag(4, 2)(bad));
  AT(nn::EmbeddingBag(4, 2)(ints, bad));
  AT(nn::EmbeddingBag(4, 2, nn::Bag::sum)(ints, f({2})));
  AT(nn::EmbeddingBag(4, 2).byOffsets(ints, zeros({2}, DType::i64)));
  AT(nn::EmbeddingBag(4, 2).byOffsets(zeros({2}, DType::i64), bad));
  AT(nn::EmbeddingBag(4, 2).byLengths(ints, bad));
  AT(nn::Flatten(7)(bad));
  AT(nn::Unflatten(1, {2, 2})(bad));
  AT(nn::Identity()(none).shape());
  AT(nn::Conv1d(3, 2, 3)(bad));
  AT(nn::Conv2d(3, 4, 3, {.samePadding = true})(bad));
  AT(nn::Conv2d(3, 4, 3, {.padding = 1, .paddingMode = Padding::reflect})(bad));
  AT(nn::ConvTranspose2d(3, 2, 3)(bad));
  AT(nn::BatchNorm1d(3)(bad));
  AT(nn::BatchNorm1d(5)(f({1, 5})));
  AT(nn::InstanceNorm1d(3)(bad));
  AT(nn::LayerNorm(3)(bad));
  AT(nn::GroupNorm(3, 3)(bad));
  AT(nn::RMSNorm(3)(bad));
  AT(nn::LocalResponseNorm(2)(f({3})));
  AT(nn::Dropout()(ints));
  AT(nn::Dropout2d()(f({3})));
  AT(nn::ReflectionPad1d(7)(bad));
  AT(nn::Upsample({.scale = {2}})(bad));
  AT(nn::PixelShuffle(2)(bad));
  AT(nn::PixelUnshuffle(2)(bad));
  AT(nn::MaxPool2d(2)(bad));
  AT(nn::AvgPool2d(2)(bad));
  AT(nn::AdaptiveAvgPool2d(2)(bad));
  AT(nn::AdaptiveMaxPool2d(2)(bad));
  AT(nn::RNN(3, 2)(bad));
  AT(nn::GRU(3, 2, {.layers = 2, .bidirectional = true})(f({4, 2, 5})));
  AT(nn::LSTM(3, 2)(f({4, 2, 3}), bad));
  AT(nn::RNNCell(3, 2)(bad));
  AT(nn::GRUCell(3, 2)(bad));
  AT(nn::LSTMCell(3, 2)(bad));
  AT(nn::MultiheadAttention(4, 2)(bad, bad, bad));
  AT(nn::MultiheadAttention(4, 2)(f({3, 1, 4}), f({3, 1, 4}), f({3, 1, 4}), {.mask = f({5, 5})}));
  AT(nn::TransformerEncoderLayer(4, 2)(bad));
  AT(nn::TransformerEncoder(nn::TransformerEncoderLayer(4, 2), 2)(bad));
  AT(nn::TransformerDecoderLayer(4, 2)(f({3, 1, 4}), bad));
  AT(nn::ReLU()(none));
  AT(nn::GELU()(ints));
  AT(nn::Softplus()(ints));
  AT(nn::PReLU(4)(bad));
  AT(nn::Softmax(4)(bad));
  AT(nn::GLU()(bad));
  AT(nn::CrossEntropyLoss()(bad, f({2})));
  AT(nn::NLLLoss()(bad, f({2})));
  AT(nn::MSELoss()(bad, f({2})));
  AT(nn::KLDivLoss()(bad, f({2})));
  AT(nn::CTCLoss()(bad, ints, ints, ints));
}

TEST(Lines, OptimizersAndMetrics) {
  Net net;
  AT(optim::sgd(std::vector<Parameter>{}));
  AT(optim::adam(net, {.lr = -1}));
  AT(optim::adamw({Parameter()}));
  AT(optim::nadam(net, {.momentumDecay = -1}));
  AT(optim::radam(net, {.eps = -1}));
  AT(optim::Average(net, 2));
  optim::Optimizer sgd = optim::sgd(net);
  AT(sgd.update(std::vector<Tensor>{}));
  AT(sgd.update({f({9}), f({9})}));
  AT(sgd.setLr(-1));
  AT(sgd.lr(3));
  AT(sgd.baseLr(3));
  AT(sgd.loadStateDict({}));
  AT(sgd.load("/nowhere.safetensors"));
  AT(sgd.save("/nowhere/at-all.safetensors"));
  AT(sgd.setClipNorm(-1));
  AT(sgd.setClipValue(-1));
  AT(optim::schedule::step(0));
  AT(optim::schedule::cosine(10).perEpoch(0));
  AT(optim::Lbfgs(net, {.lr = 0}));
  optim::Lbfgs lbfgs(net);
  AT(lbfgs.step([] { return Tensor(); }));
  AT(lbfgs.loadStateDict({}));
  AT(optim::schedule::warmRestarts(0));
  AT(optim::ReduceOnPlateau(sgd, {.factor = 1}));
  optim::ReduceOnPlateau plateau(sgd);
  AT(plateau.loadStateDict({}));
  AT(compile([&](const Tensor &x) { return plateau.step(1), x; })(f({2})));
  AT(optim::gradNorm({}));
  AT(optim::clipGradNorm({f({2})}, 0));
  AT(optim::clipGradValue({f({2})}, 0));
  AT(metrics::Accuracy(0));
  AT(metrics::Accuracy().add(f({2}), f({2})));
  AT(metrics::Accuracy(4).add(f({2, 3}), zeros({2}, DType::i64)));
  AT(metrics::Mean().add(Tensor()));
  AT(metrics::ConfusionMatrix(0));
  AT(metrics::ConfusionMatrix(4).add(f({2, 3}), zeros({2}, DType::i64)));
  AT(hitsOf(f({2, 3}), f({5})));
}

TEST(Lines, TrainersAndTimers) {
  AT(Trainer({.maxEpochs = -1}));
  AT(Event().synchronize());
  AT(Event().elapsed(Event()));
  struct Classifier : nn::Module {
    nn::Linear a = add("a", nn::Linear(4, 2));
    Tensor operator()(const Operand &x) const { return a(x); }
    Tensor trainingStep(const Operand &x, const Operand &y) const { return crossEntropy(a(x), y); }
    optim::Optimizer configureOptimizers() const { return optim::sgd(*this); }
  };
  // Operands that the trainer makes have its line.
  data::Loader loader(
      data::TensorDataset({data::Field(std::vector<float>(30), {10, 3}), data::Field(std::vector<int64_t>(10))}),
      {.batch = 5, .workers = 0});
  Classifier net;
  const int made = __LINE__ + 1;
  Trainer trainer({.maxEpochs = 1, .compile = false, .print = false});
  expectAt(made, [&] { trainer.fit(net, loader); });
  expectAt(made, [&] { trainer.evaluate(net, loader); });
  data::Loader share(loader.dataset(), {.rank = 1, .ranks = 2});
  expectAt(made, [&] { trainer.fit(net, share); });
  expectAt(made, [&] { trainer.evaluate(net, share); });
  data::Loader three(data::TensorDataset({data::Field(std::vector<float>(10)), data::Field(std::vector<float>(10)),
                                          data::Field(std::vector<float>(10))}),
                     {.batch = 5, .workers = 0});
  expectAt(made, [&] { trainer.fit(net, three); });
}

TEST(Lines, Data) {
  data::Field field(std::vector<float>(6), {2, 3}), none;
  AT(data::Field({DType::f32, {1 << 30, 1 << 30, 1 << 30}}));
  AT(data::Field(std::vector<float>(5), {2, 3}));
  AT(none.numbers<float>());
  AT(field.numbers<double>());
  AT(field.edit<double>());
  AT(field.item<float>(6));
  AT(field.reshape({4}));
  AT(field.to(DType::i32));
  AT(data::TensorDataset({none}));
  AT(data::TensorDataset({field, data::Field(std::vector<float>(3))}));
  data::TensorDataset set({field});
  AT(set.get(2));
  AT(set.subset({2}));
  AT(set.slice(0, 3));
  AT(set.as(1, DType::f64));
  AT(set.as(0, DType::i32));
  AT(data::concat({}));
  AT(data::zip({set, set.slice(0, 1)}));
  AT(data::split(set, {1, 2}));
  AT(data::split(set, 1.5));
  AT(data::Loader(set, {.batch = 0}));
  AT(data::Loader(set, {.ioDelay = {.latency = -1}}));
  data::Loader loader(set, {.batch = 2, .workers = 0});
  AT(loader.seek(0, 1));
  for (const data::Batch &batch : loader) {
    AT(batch[1]);
    AT(batch.y());
    AT(batch.host(1));
  }
}

TEST(Lines, Packages) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("sprig-lines." + std::to_string(::getpid()) + ".sprig");
  Net net;
  net.eval();
  AT(save(path, net, {{DType::f32, {2, 5}}}));
  AT(save(path, net, {}));
  AT(save(path, net, {{DType::f32, {-1, 3}}}, {.batches = {0}}));
  AT(PackageBuilder().save(path));
  AT(PackageBuilder().bytes());
  AT(exportOnnx(path, net, {}));
  save(path, net, {{DType::f32, {2, 3}}});
  Package package = load(path), none;
  std::filesystem::remove(path);
  AT(package(f({2, 5})));
  AT(package(f({2, 3}), 1));
  AT(package());
  AT(package(Tensor()));
  AT(package.call("other", {}));
  AT(package.state("other"));
  AT(none(f({2, 3})));
  AT(none.functions());
  AT(none.states());
  EXPECT_EQ(package(f({2, 3})).shape(), Shape({2, 2}));
  EXPECT_EQ(package(Parameter(f({2, 3}))).shape(), Shape({2, 2}));
}

/// That everything that f records on inputs of these types has a line of this file.
void expectOwnLines(const std::string &name, const std::vector<TensorType> &types,
                    const std::function<std::vector<Tensor>(std::span<const Tensor>)> &f) {
  auto variant = frontend::Variant::record(types, f, name, Source::here());
  EXPECT_FALSE(variant->graph.nodes.empty()) << name;
  for (const frontend::GraphNode &node : variant->graph.nodes)
    if (!node.constant)
      EXPECT_TRUE(std::strstr(node.source.file, "LinesTest.cpp"))
          << name << ": " << node.op->text << " has '" << node.source.file << "':" << node.source.line;
}

TEST(Lines, RecordedLayers) {
  using In = std::span<const Tensor>;
  auto layer = [](const char *name, const Shape &shape, const auto &module) {
    expectOwnLines(name, {{DType::f32, shape}}, [&](In in) { return std::vector<Tensor>{module(in[0])}; });
  };
  layer("Sequential", {4, 3}, nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2), nn::ReLU(), nn::Dropout()));
  layer("Conv2d", {2, 3, 5, 5}, nn::Conv2d(3, 2, 3, {.samePadding = true}));
  layer("reflecting Conv2d", {2, 3, 5, 5}, nn::Conv2d(3, 2, 3, {.padding = 1, .paddingMode = Padding::reflect}));
  layer("ConvTranspose2d", {2, 3, 5, 5}, nn::ConvTranspose2d(3, 2, 3));
  layer("BatchNorm2d", {2, 3, 5, 5}, nn::BatchNorm2d(3));
  layer("BatchNorm2d of all batches", {2, 3, 5, 5}, nn::BatchNorm2d(3, {.momentum = {}}));
  layer("InstanceNorm2d", {2, 3, 5, 5}, nn::InstanceNorm2d(3, {.affine = true, .trackRunningStats = true}));
  layer("LayerNorm", {2, 3}, nn::LayerNorm(3));
  layer("GroupNorm", {2, 4, 5}, nn::GroupNorm(2, 4));
  layer("RMSNorm", {2, 3}, nn::RMSNorm(3));
  layer("LocalResponseNorm", {2, 4, 5}, nn::LocalResponseNorm(2));
  layer("MaxPool2d", {2, 3, 5, 5}, nn::MaxPool2d(2));
  layer("AdaptiveAvgPool2d", {2, 3, 5, 5}, nn::AdaptiveAvgPool2d(2));
  layer("CircularPad2d", {2, 3, 5, 5}, nn::CircularPad2d(1));
  layer("Upsample", {2, 3, 5, 5}, nn::Upsample({.scale = {2}, .mode = Interpolation::bilinear}));
  layer("Dropout2d", {2, 3, 5, 5}, nn::Dropout2d());
  layer("PReLU", {2, 3}, nn::PReLU(3));
  layer("TransformerEncoder", {5, 2, 4}, nn::TransformerEncoder(nn::TransformerEncoderLayer(4, 2), 2));
  nn::Linear normed(3, 2);
  nn::weightNorm(normed);
  layer("Linear with a weight norm", {2, 3}, normed);
  nn::ConvTranspose2d spectral(3, 2, 3);
  nn::spectralNorm(spectral);
  layer("ConvTranspose2d with a spectral norm", {2, 3, 5, 5}, spectral);
  nn::LSTM lstm(3, 2, {.layers = 2, .dropout = 0.5, .bidirectional = true});
  expectOwnLines("LSTM", {{DType::f32, {5, 2, 3}}}, [&](In in) { return std::vector<Tensor>{lstm(in[0]).output}; });
  nn::MultiheadAttention attention(4, 2);
  expectOwnLines("attention with weights", {{DType::f32, {5, 2, 4}}}, [&](In in) {
    nn::AttentionMask mask{.mask = f({5, 5}), .keyPadding = zeros({2, 5}, DType::boolean)};
    nn::AttentionResult result = attention.withWeights(in[0], in[0], in[0], mask);
    return std::vector<Tensor>{result.output, result.weights};
  });
  nn::Embedding embedding(4, 2, {.paddingIndex = 0});
  for (nn::Bag mode : {nn::Bag::mean, nn::Bag::sum, nn::Bag::max}) {
    nn::EmbeddingBag bags(4, 2, mode);
    expectOwnLines("EmbeddingBag by offsets", {{DType::i64, {5}}, {DType::i64, {2}}},
                   [&](In in) { return std::vector<Tensor>{bags.byOffsets(in[0], in[1])}; });
    expectOwnLines("EmbeddingBag by lengths", {{DType::i64, {2, 3}}, {DType::i64, {2}}},
                   [&](In in) { return std::vector<Tensor>{bags.byLengths(in[0], in[1])}; });
  }
  expectOwnLines("Embedding", {{DType::i64, {5}}}, [&](In in) { return std::vector<Tensor>{embedding(in[0])}; });
}

TEST(Lines, RecordedSteps) {
  using In = std::span<const Tensor>;
  Net net;
  optim::Optimizer optimizer = optim::adam(net).setSchedule(optim::schedule::cosine(10)).setClipNorm(1).setClipValue(1);
  optim::Average average(net);
  metrics::Mean mean;
  metrics::Accuracy accuracy;
  metrics::ConfusionMatrix matrix(2);
  expectOwnLines("step", {{DType::f32, {4, 3}}, {DType::i64, {4}}}, [&](In in) {
    Tensor scores = net(in[0]), loss = crossEntropy(scores, in[1], {.labelSmoothing = 0.1});
    optimizer.update(grad(loss, net.parameters()));
    average.update();
    mean.add(loss, 4);
    accuracy.add(scores, in[1]);
    matrix.add(scores, in[1]);
    return std::vector<Tensor>{loss, hitsOf(scores, in[1]), mean.tensor()};
  });
  expectOwnLines("methods", {{DType::f32, {4, 3}}}, [](In in) {
    Tensor x = in[0].relu().t().clamp(0, 1).pow(2), y = x.softmax(0).requireGrad();
    x += y.maskedFill(x.gt(0), 1);
    x = assign(x, {0}, 1);
    auto [values, places] = x.topk(2);
    return std::vector<Tensor>{values, places, grad(y.sum(), y), linspace(0, 1, 5), arange(0, 1, 0.1), x.detach()};
  });
}

} // namespace
