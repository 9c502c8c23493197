// Trains a reference case with the C++ trainer for ten steps, for scripts/compare-bits, which compiles this program
// against the public headers and libraries of two builds.
//
//     trainer-steps CASE OUT RANKS [imperative] [zero] [shares] [factors] [calls] [replica]
//
// CASE is a folder of a reference case. OUT gets `checkpoint` and `metrics.jsonl`. The ranks are threads, or the
// processes that the launcher started. Exit code 3: Sprig refuses the run.
#include "test/unit/Frontend/ReferenceNetworks.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace sprig;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int64_t kSteps = 10;
const std::vector<int64_t> kShares = {3, 1, 2, 1}; // of the first ranks

/// A network that the trainer can train as a case's configuration says.
template <typename Net> struct Trained : Net {
  json config;
  Trained(const Net &net, const json &config) : Net(net), config(config) {}
  Tensor trainingStep(const Tensor &x, const Tensor &y) const {
    return references::lossOf(config["loss"], (*this)(x), y);
  }
  optim::Optimizer configureOptimizers() const {
    optim::Optimizer optimizer = optim::Optimizer::fromJson(*this, config["optimizer"].dump());
    if (config.contains("lr_schedule")) optimizer.setSchedule(optim::Schedule::fromJson(config["lr_schedule"].dump()));
    return optimizer;
  }
};

TrainerOptions optionsOf(const json &config, const fs::path &out, int ranks, const std::set<std::string> &words) {
  TrainerOptions options{.maxEpochs = 1, .compile = !words.contains("imperative"), .ranks = ranks};
  if (words.contains("zero")) options.zero = 1;
  if (words.contains("shares")) options.shares.assign(kShares.begin(), kShares.begin() + ranks);
  if (words.contains("factors")) options.factors = FactorPolicy::always;
  if (words.contains("calls")) options.stepsPerCall = 3;
  if (words.contains("replica")) options.batchNorms = NormStatistics::replica;
  options.accumulate = config.value("accumulate", 1);
  options.clipNorm = config.value("grad_clip_norm", 0.0);
  options.checkpoint = out / "checkpoint";
  options.metrics = out / "metrics.jsonl";
  options.print = false;
  return options;
}

template <typename Net>
void train(const Net &network, const fs::path &folder, const json &config, const TrainerOptions &options) {
  references::loadInitial(network, folder);
  Trained<Net> net(network, config);
  auto field = [&](const char *file) { return data::Field(nn::loadTensors(folder / file)[0].value); };
  int64_t batch = int64_t(config["batch"]) * config.value("accumulate", 1);
  data::Dataset samples = data::TensorDataset{field("x.npy"), field("y.npy")}.slice(0, kSteps * batch);
  data::Loader loader(samples, {.batch = batch, .workers = 0});
  Trainer(options).fit(net, loader);
}

} // namespace

int main(int count, char **arguments) try {
  if (count < 4) return 2;
  fs::path folder = arguments[1];
  json config = json::parse(std::ifstream(folder / "config.json"));
  TrainerOptions options =
      optionsOf(config, arguments[2], std::stoi(arguments[3]), std::set<std::string>(arguments + 4, arguments + count));
  references::withNetwork(config["net"], [&](const auto &net) { train(net, folder, config, options); });
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
