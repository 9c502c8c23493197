// Trains the shared reference cases with networks that are written in C++, from PyTorch's initial state by its names.
// Losses, rates and the last state are compared with PyTorch's runs in double precision, by the rules of
// test/E2E/train_references.py. With --same-bits the first steps run imperatively, too, and must give the same bits.
//
//     train-references [--same-bits] FOLDER/training [CASE...]; closes with `N passed, N failed`
#include "lib/Data/Largest.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/ReferenceNetworks.h"
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace sprig;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

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
    references::loadInitial(net, folder);
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
      Tensor loss = references::lossOf(config["loss"], output, target);
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
      problem =
          references::withNetwork(config["net"], [&](const auto &net) { return check(net, folder, config, sameBits); });
    } catch (const std::exception &error) {
      problem = error.what();
    }
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) std::printf("FAIL %s: %s\n", folder.filename().c_str(), problem.c_str());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}
