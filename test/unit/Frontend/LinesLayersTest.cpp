// Modules and layers name the line of the program that misuses them, and record it.
#include "test/unit/Frontend/Lines.h"

using namespace sprig;

namespace {

TEST(LinesOfLayers, Modules) {
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

TEST(LinesOfLayers, MakingLayers) {
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
  nn::ReLU none;
  AT(nn::quantizeAware(none));
  AT(nn::FakeQuantize({.bits = 9}));
  AT(nn::spectralNorm(nn::Linear(2, 3), {.eps = 0}));
  AT(nn::weightOf(nn::ReLU()));
}

TEST(LinesOfLayers, CallingLayers) {
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
  AT(nn::FakeQuantize()(none));
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

TEST(LinesOfLayers, RecordedLayers) {
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
  layer("FakeQuantize", {2, 3}, nn::FakeQuantize());
  nn::Conv2d narrow(3, 2, 3);
  nn::quantizeAware(narrow);
  layer("Conv2d that is quantisation-aware", {2, 3, 5, 5}, narrow);
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

} // namespace
