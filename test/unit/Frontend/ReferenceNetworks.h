// The networks of the reference cases of training, with PyTorch's names of parameters.
// For programs that train these cases: train-references, and the trainer's part of scripts/compare-bits, which is
// compiled against the public headers of two builds: it uses what earlier ones had, too.
#pragma once
#include "sprig/sprig.h"
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace sprig::references {

inline nn::Sequential mlp(std::initializer_list<int64_t> sizes) {
  nn::Sequential net;
  auto next = sizes.begin();
  for (int64_t in = *next++; next != sizes.end(); in = *next++) {
    net.append(nn::Linear(in, *next));
    if (next + 1 != sizes.end()) net.append(nn::ReLU());
  }
  return net;
}

struct LeNet : nn::Module {
  nn::Conv2d c1 = add("c1", nn::Conv2d(1, 20, 3)), c2 = add("c2", nn::Conv2d(20, 50, 5));
  nn::Linear f1 = add("f1", nn::Linear(800, 128)), f2 = add("f2", nn::Linear(128, 10));
  Tensor operator()(Tensor x) const {
    x = avgPool2d(relu(c1(x)), 2);
    x = avgPool2d(relu(c2(x)), 2);
    return f2(relu(f1(flatten(x, 1))));
  }
};

struct Residual : nn::Module {
  nn::Conv2d c1, c2, proj;
  nn::BatchNorm2d b1, b2;
  bool projects;
  Residual(int64_t in, int64_t out, int64_t stride) : projects(in != out || stride != 1) {
    c1 = add("c1", nn::Conv2d(in, out, 3, {.stride = stride, .padding = 1}));
    c2 = add("c2", nn::Conv2d(out, out, 3, {.padding = 1}));
    b1 = add("b1", nn::BatchNorm2d(out));
    b2 = add("b2", nn::BatchNorm2d(out));
    if (projects) proj = add("proj", nn::Conv2d(in, out, 1, {.stride = stride}));
  }
  Tensor operator()(Tensor x) const {
    Tensor y = b2(c2(relu(b1(c1(x)))));
    return relu(y + (projects ? proj(x) : x));
  }
};

inline nn::Sequential resnet8() {
  return nn::Sequential(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), nn::ReLU(), Residual(16, 16, 1),
                        Residual(16, 32, 2), Residual(32, 64, 2), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                        nn::Linear(64, 10));
}

inline nn::Sequential autoencoder() {
  std::vector<int64_t> widths = {640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640};
  nn::Sequential net;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    net.append(nn::Linear(widths[i], widths[i + 1]));
    if (i + 2 < widths.size()) net.append(nn::BatchNorm1d(widths[i + 1])).append(nn::ReLU());
  }
  return net;
}

inline nn::Sequential convBn(int64_t in, int64_t out, Ints window, nn::ConvOptions options = {}) {
  options.bias = false;
  return nn::Sequential(nn::Conv2d(in, out, window, options), nn::BatchNorm2d(out), nn::ReLU());
}
inline nn::Sequential dscnn() {
  nn::Sequential net(nn::ZeroPad2d({1, 1, 4, 5}), convBn(1, 64, {10, 4}, {.stride = 2}));
  for (int i = 0; i < 4; ++i) net.append(convBn(64, 64, 3, {.padding = 1, .groups = 64})).append(convBn(64, 64, 1));
  return net.append(nn::AdaptiveAvgPool2d(1)).append(nn::Flatten()).append(nn::Linear(64, 12));
}

struct Attention : nn::Module {
  nn::Linear qkv = add("qkv", nn::Linear(64, 192)), out = add("out", nn::Linear(64, 64));
  Tensor operator()(Tensor x) const {
    int64_t batch = x.size(0), steps = x.size(1);
    std::vector<Tensor> parts = chunk(qkv(x), 3, -1);
    for (Tensor &part : parts) part = transpose(reshape(part, {batch, steps, 4, 16}), 1, 2);
    Tensor y = scaledDotProductAttention(parts[0], parts[1], parts[2]);
    return out(reshape(transpose(y, 1, 2), {batch, steps, 64}));
  }
};
struct Block : nn::Module {
  nn::LayerNorm n1 = add("n1", nn::LayerNorm(64)), n2 = add("n2", nn::LayerNorm(64));
  Attention att = add("att", Attention());
  nn::Sequential ff = add("ff", nn::Sequential(nn::Linear(64, 256), nn::GELU(), nn::Linear(256, 64)));
  Tensor operator()(Tensor x) const {
    x = x + att(n1(x));
    return x + ff(n2(x));
  }
};
struct Encoder : nn::Module {
  nn::Sequential blocks = add("blocks", nn::Sequential(Block(), Block()));
  nn::Linear head = add("head", nn::Linear(64, 10));
  Tensor operator()(Tensor x) const { return head(mean(blocks(x), 1)); }
};

/// Calls `use` with the network of that name, in its first state.
template <typename F> auto withNetwork(const std::string &name, const F &use) {
  if (name == "mlp_784_256_128_10") return use(mlp({784, 256, 128, 10}));
  if (name == "mlp_1000_512_256_10") return use(mlp({1000, 512, 256, 10}));
  if (name == "mlp_512_256_128_2") return use(mlp({512, 256, 128, 2}));
  if (name == "lenet") return use(LeNet());
  if (name == "resnet8") return use(resnet8());
  if (name == "autoencoder") return use(autoencoder());
  if (name == "dscnn") return use(dscnn());
  if (name == "encoder_2x64") return use(Encoder());
  throw Error(ErrorKind::badInput, "no network is called " + name);
}

/// The mean loss of a batch, by field "loss" of a case's configuration.
inline Tensor lossOf(const std::string &name, const Tensor &output, const Tensor &targets) {
  return name == "mse" ? mseLoss(output, targets) : crossEntropy(output, targets);
}

/// Loads the first state of a case. The batches that a batch norm has seen are not in the file; all else must be.
inline void loadInitial(const nn::Module &net, const std::filesystem::path &folder) {
  nn::LoadReport report = net.load(folder / "init.safetensors", /*strict=*/false);
  for (const std::string &name : report.missing)
    if (!name.ends_with("num_batches_tracked")) throw Error(ErrorKind::badInput, name + " is not in the file");
  if (!report.unexpected.empty())
    throw Error(ErrorKind::badInput, report.unexpected[0] + " of the file is not in the network");
}

} // namespace sprig::references
