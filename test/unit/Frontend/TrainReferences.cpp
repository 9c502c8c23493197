// Trains the shared reference cases with networks that are written in C++, from PyTorch's initial state by its names.
// Losses, rates and the last state are compared with PyTorch's runs in double precision, by the rules of
// test/E2E/train_references.py. With --same-bits the first steps run imperatively, too, and must give the same bits.
//
//     train-references [--same-bits] FOLDER/training [CASE...]; closes with `N passed, N failed`
#include "lib/Data/Largest.h"
#include "sprig/sprig.h"
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace sprig;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

nn::Sequential mlp(std::initializer_list<int64_t> sizes) {
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

nn::Sequential resnet8() {
  return nn::Sequential(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), nn::ReLU(), Residual(16, 16, 1),
                        Residual(16, 32, 2), Residual(32, 64, 2), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                        nn::Linear(64, 10));
}

nn::Sequential autoencoder() {
  std::vector<int64_t> widths = {640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640};
  nn::Sequential net;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    net.append(nn::Linear(widths[i], widths[i + 1]));
    if (i + 2 < widths.size()) net.append(nn::BatchNorm1d(widths[i + 1])).append(nn::ReLU());
  }
  return net;
}

nn::Sequential convBn(int64_t in, int64_t out, Ints window, nn::ConvOptions options = {}) {
  options.bias = false;
  return nn::Sequential(nn::Conv2d(in, out, window, options), nn::BatchNorm2d(out), nn::ReLU());
}
nn::Sequential dscnn() {
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

/// Any of them, as a Sequential of one or the network itself: names stay those of the file.
nn::Sequential networkOf(const std::string &name) {
  if (name == "mlp_784_256_128_10") return mlp({784, 256, 128, 10});
  if (name == "mlp_1000_512_256_10") return mlp({1000, 512, 256, 10});
  if (name == "mlp_512_256_128_2") return mlp({512, 256, 128, 2});
  if (name == "resnet8") return resnet8();
  if (name == "autoencoder") return autoencoder();
  if (name == "dscnn") return dscnn();
  throw Error(ErrorKind::badInput, "no network is called " + name);
}

json readJson(const fs::path &path) {
  std::ifstream file(path);
  return json::parse(file);
}

/// One network, and how to train it as a case says.
template <typename Net> struct Run {
  Net net;
  json config;
  Tensor x, y;
  optim::Optimizer optimizer;

  Run(Net net, const fs::path &folder, const json &config)
      : net(net), config(config), x(nn::loadTensors(folder / "x.npy")[0].value),
        y(nn::loadTensors(folder / "y.npy")[0].value),
        optimizer(optim::Optimizer::fromJson(net, config["optimizer"].dump())) {
    // The batches that a batch norm has seen are not in the file; all else must be.
    nn::LoadReport report = net.load(folder / "init.safetensors", /*strict=*/false);
    for (const std::string &name : report.missing)
      if (!name.ends_with("num_batches_tracked")) throw Error(ErrorKind::badInput, name + " is not in the file");
    if (!report.unexpected.empty())
      throw Error(ErrorKind::badInput, report.unexpected[0] + " of the file is not in the network");
    if (config.contains("lr_schedule")) optimizer.setSchedule(optim::Schedule::fromJson(config["lr_schedule"].dump()));
    if (config.contains("grad_clip_norm")) optimizer.setClipNorm(config["grad_clip_norm"]);
  }

  Tensor step(const Tensor &inputs, const Tensor &targets) {
    int64_t passes = config.value("accumulate", 1), batch = inputs.size(0) / passes;
    std::vector<Tensor> sums;
    Tensor total;
    for (int64_t i = 0; i < passes; ++i) {
      Tensor output = net(inputs.slice(0, i * batch, (i + 1) * batch));
      Tensor target = targets.slice(0, i * batch, (i + 1) * batch);
      Tensor loss = config["loss"] == "mse" ? mseLoss(output, target) : crossEntropy(output, target);
      if (passes > 1) loss = loss * (1.0 / double(passes));
      std::vector<Tensor> gradients = grad(loss, net.parameters());
      for (size_t k = 0; k < gradients.size(); ++k)
        if (i)
          sums[k] = sums[k] + gradients[k];
        else
          sums.push_back(gradients[k]);
      total = i ? total + loss.detach() : loss.detach();
    }
    optimizer.update(sums);
    return total;
  }
};

template <typename Net> std::string check(const Net &net, const fs::path &folder, const json &config, bool sameBits) {
  json reference = readJson(folder / "reference.json");
  Run<Net> run(net, folder, config);
  Run<Net> plain(nn::clone(net), folder, config);
  auto step = compile([&](Tensor x, Tensor y) { return run.step(x, y); });
  int64_t samples = int64_t(config["batch"]) * config.value("accumulate", 1);
  double allowed = 0, worst = 0;
  std::string otherBits;
  for (int64_t i = 0; i < int64_t(config["steps"]); ++i) {
    Tensor x = run.x.slice(0, i * samples, (i + 1) * samples), y = run.y.slice(0, i * samples, (i + 1) * samples);
    double rate = run.optimizer.lr(), expected = reference["losses_f64"][size_t(i)];
    float loss = step(x, y).template item<float>();
    if (sameBits && i < 4) {
      float same = plain.step(x, y).template item<float>();
      if (same != loss && otherBits.empty())
        otherBits = "step " + std::to_string(i) + ": other bits imperatively than compiled, " + std::to_string(same) +
                    " and " + std::to_string(loss);
    }
    allowed = std::max({allowed, 4 * double(reference["f32_spread"][size_t(i)]), 1e-6});
    double distance = std::abs(double(loss) - expected) / std::abs(expected);
    worst = std::max(worst, distance / allowed);
    if (!(distance <= allowed))
      return "step " + std::to_string(i) + ": loss " + std::to_string(loss) + ", expected " + std::to_string(expected);
    double right = reference["lr"][size_t(i)];
    if (std::abs(rate - right) > 1e-6 * right)
      return "step " + std::to_string(i) + ": lr " + std::to_string(rate) + ", expected " + std::to_string(right);
  }
  // A state whose own error is large beside the losses' says nothing (README of the cases).
  for (const nn::NamedTensor &row : nn::loadTensors(folder / "final.safetensors"))
    for (const nn::NamedTensor &own : run.net.stateDict())
      if (own.name == row.name && row.value.dtype() == DType::f32) {
        std::vector<float> values = own.value.template toVector<float>(), right = row.value.template toVector<float>();
        double error = 0;
        for (size_t k = 0; k < values.size(); ++k) error = data::largest(error, std::abs(double(values[k]) - right[k]));
        double bound = 4 * double(reference["final_f32_error"].value(row.name, 0.0)) + 1e-6;
        if (!(error <= bound))
          return row.name + " is " + std::to_string(error) + " away from the reference, allowed are " +
                 std::to_string(bound);
      }
  std::printf("%s: %.2f of what the losses may differ\n", folder.filename().c_str(), worst);
  return otherBits;
}

} // namespace

int main(int count, char **arguments) {
  bool sameBits = count > 1 && std::string(arguments[1]) == "--same-bits";
  count -= sameBits;
  arguments += sameBits;
  std::vector<fs::path> cases;
  for (auto &entry : fs::directory_iterator(count > 1 ? arguments[1] : "."))
    if (fs::exists(entry.path() / "config.json")) {
      bool wanted = count < 3;
      for (int i = 2; i < count; ++i) wanted |= entry.path().filename() == arguments[i];
      if (wanted) cases.push_back(entry.path());
    }
  std::sort(cases.begin(), cases.end());
  int passed = 0, failed = 0;
  for (const fs::path &folder : cases) {
    std::string problem;
    try {
      json config = readJson(folder / "config.json");
      std::string net = config["net"];
      problem = net == "lenet"          ? check(LeNet(), folder, config, sameBits)
                : net == "encoder_2x64" ? check(Encoder(), folder, config, sameBits)
                                        : check(networkOf(net), folder, config, sameBits);
    } catch (const std::exception &error) {
      problem = error.what();
    }
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) std::printf("FAIL %s: %s\n", folder.filename().c_str(), problem.c_str());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}
