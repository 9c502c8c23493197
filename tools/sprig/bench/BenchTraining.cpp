// sprig bench remat and sprig bench accumulation: what computing values again costs and saves, and whether small
// batches that are accumulated train as a large one does. Weights and data are random numbers.
#include "lib/Data/Largest.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/bench/RandomData.h"
#include "tools/sprig/train/TrainModel.h"
#include "tools/sprig/train/TrainProgram.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

namespace sprig::cli {
namespace {

constexpr int64_t kWidth = 128, kTrainedClasses = 10;

// `depth` layers with tanh between them, layer0, layer1 and so on; one function for each batch.
TrainedNetwork perceptron(int64_t depth, const std::vector<int64_t> &batches) {
  std::string text;
  std::vector<std::string> trained;
  auto tensor = [](const std::string &shape) { return "tensor<" + shape + "xf32>"; };
  auto columns = [&](int64_t layer) { return layer + 1 == depth ? kTrainedClasses : kWidth; };
  auto parameter = [](int64_t layer, const char *part) { return "layer" + std::to_string(layer) + part; };
  for (int64_t i = 0; i < depth; ++i) {
    std::string out = std::to_string(columns(i));
    for (const auto &[part, shape] : {std::pair(".weight", out + "x" + std::to_string(kWidth)), {".bias", out}}) {
      trained.push_back(parameter(i, part));
      text += "nn.param @\"" + trained.back() + "\" = dense<0.0> : " + tensor(shape) + "\n";
    }
  }
  for (int64_t batch : batches) {
    std::string rows = std::to_string(batch) + "x", x = tensor(rows + std::to_string(kWidth));
    text += "func.func @net" + std::to_string(batch) + "(%x: " + x + " {nn.name = \"x\"}) -> " +
            tensor(rows + std::to_string(kTrainedClasses)) + " {\n";
    std::string value = "%x", type = x;
    for (int64_t i = 0; i < depth; ++i) {
      std::string n = std::to_string(i), out = std::to_string(columns(i)), layer = " loc(\"layer" + n + "\")\n";
      std::string w = tensor(out + "x" + std::to_string(kWidth)), b = tensor(out), y = tensor(rows + out);
      text += "  %w" + n + " = nn.get_param @\"" + parameter(i, ".weight") + "\" : " + w + "\n  %b" + n +
              " = nn.get_param @\"" + parameter(i, ".bias") + "\" : " + b + "\n  %y" + n + " = nn.linear " + value +
              ", %w" + n + ", %b" + n + " : " + type + ", " + w + ", " + b + layer;
      value = "%y" + n, type = y;
      if (i + 1 == depth) continue;
      text += "  %a" + n + " = nn.tanh " + value + " : " + y + layer;
      value = "%a" + n;
    }
    text += "  return " + value + " : " + type + "\n}\n";
  }
  TrainedNetwork network;
  network.model.path = "MLP of " + std::to_string(depth) + " layers";
  network.model.kind = ModelKind::mlir;
  network.model.text = text;
  network.config.losses = {training::LossConfig{}};
  network.config.optimizer.lr = 0.01;
  network.config.steps = 1;
  network.config.trainable = trained;
  return network;
}

TrainData randomData(int64_t samples) {
  data::Array labels{"y", data::DType::i64, {samples}, std::vector<char>(size_t(samples) * 8)};
  for (int64_t i = 0; i < samples; ++i) {
    int64_t label = i * 7 % kTrainedClasses;
    std::memcpy(labels.bytes.data() + i * 8, &label, sizeof label);
  }
  return {{data::Samples::from(randomArray("x", {samples, kWidth}, 1, 1), "x")}, data::Samples::from(labels, "y")};
}

struct TrainedProgram {
  TrainProgram program;
  uint64_t arenaBytes = 0;
};

// A step of `passes` batches, with random weights.
TrainedProgram makeProgram(const TrainedNetwork &network, int64_t passes, Settings settings) {
  TrainRequest request;
  request.config = network.config;
  request.config.accumulate = passes;
  request.steps = {network.config.batch * passes};
  request.withNorm = false;
  settings.threads = 1;
  CompiledTraining compiled = compileTraining(network.model, request, settings, {"native"});
  Runner runner = Runner::load(std::move(compiled.package), network.model.path, {1, ""});
  sprig_rt_entry_info info = runner.entryInfo(0);
  TrainedProgram made{TrainProgram(std::move(runner)), info.arena_bytes};
  made.program.restore(randomState(made.program.state(), *network.config.trainable, 2));
  return made;
}

// A perceptron's step.
TrainedProgram makePerceptron(int64_t depth, int64_t batch, int64_t passes, const Settings &settings) {
  TrainedNetwork network = perceptron(depth, {batch / passes});
  network.config.batch = batch / passes;
  return makeProgram(network, passes, settings);
}

std::vector<int64_t> allSamples(const TrainData &data) {
  std::vector<int64_t> samples(size_t(data.count()));
  std::iota(samples.begin(), samples.end(), 0);
  return samples;
}

// As many as parameters have: sgd without momentum has no other state of floats but rates, which are f64.
uint64_t bytesOfGradients(const TrainProgram &program) {
  uint64_t bytes = 0;
  for (const checkpoints::ArrayView &view : program.state())
    if (view.dtype == data::DType::f32) bytes += view.bytes.size();
  return bytes;
}

std::vector<char> bitsOf(const TrainProgram &program) {
  std::vector<char> bits;
  for (const checkpoints::ArrayView &view : program.state())
    bits.insert(bits.end(), view.bytes.begin(), view.bytes.end());
  return bits;
}

} // namespace

namespace {

/// A network to train, of which every second layer may be computed again.
struct RematNetwork {
  TrainedNetwork network;
  TrainData data;
  std::vector<std::string> everySecond; ///< layers
  double limitSaves;                    ///< % of the arena at least, with the lower limit
  int64_t steps, rounds;                ///< steps that are timed together, and how often
};

RematNetwork deepPerceptron() {
  constexpr int64_t kDepth = 12, kBatch = 256;
  RematNetwork given{perceptron(kDepth, {kBatch}), randomData(kBatch), {}, 30, 10, 12};
  given.network.config.batch = kBatch;
  for (int64_t layer = 1; layer + 1 < kDepth; layer += 2) given.everySecond.push_back("layer" + std::to_string(layer));
  return given;
}

// A layer is a residual block: the second half of one reads what the block is given, too. The limit is of what is kept
// alone; the arena of a network of convolutions also has what its backward pass makes.
RematNetwork residualNetwork(const ExperimentOptions &options) {
  int64_t batch = options.sweep.batch ? options.sweep.batch : 32, width = options.sweep.width ? options.sweep.width : 8;
  RematNetwork given{resNet18({batch}, width), generatedImages(batch, 1, 1).train, {"block?.0"}, 10, 2, 6};
  given.network.config.optimizer.lr = 0.01;
  return given;
}

void compareRemat(const RematNetwork &given, const ExperimentOptions &options, ExperimentReport &report) {
  const std::string &name = given.network.model.path;
  std::vector<int64_t> samples = allSamples(given.data);
  std::vector<std::string> ways = {"all kept"};
  std::vector<TrainedProgram> programs;
  programs.push_back(makeProgram(given.network, 1, options.settings));
  const double all = double(programs.front().arenaBytes);
  auto add = [&](const std::string &way, auto change) {
    TrainedNetwork network = given.network;
    change(network.config);
    ways.push_back(way);
    programs.push_back(makeProgram(network, 1, options.settings));
  };
  add("every second layer again", [&](training::TrainConfig &config) { config.rematLayers = given.everySecond; });
  const size_t everySecond = 1;
  for (double share : {0.7, 0.4})
    add("at most " + std::to_string(int64_t(all * share)) + " bytes kept",
        [&](training::TrainConfig &config) { config.rematBytes = int64_t(all * share); });
  const std::vector<char> start = bitsOf(programs.front().program);
  // Equal numbers of steps, in turn; the fastest round of each.
  std::vector<double> best(programs.size(), 1e30);
  bool isFinite = true;
  for (int64_t round = 0; round < given.rounds; ++round)
    for (size_t i = 0; i < programs.size(); ++i) {
      auto begin = std::chrono::steady_clock::now();
      for (int64_t step = 0; step < given.steps; ++step)
        isFinite &= std::isfinite(programs[i].program.step(given.data, samples).loss);
      double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      best[i] = std::min(best[i], us / double(given.steps));
    }
  std::vector<double> saved, times;
  bool sameBits = isFinite && bitsOf(programs[0].program) != start;
  for (size_t i = 0; i < programs.size(); ++i) {
    saved.push_back(100 * (1 - double(programs[i].arenaBytes) / all));
    times.push_back(best[i] / best[0]);
    report.row({name, ways[i], programs[i].arenaBytes, saved[i], best[i], times[i]});
    sameBits &= bitsOf(programs[i].program) == bitsOf(programs[0].program);
  }
  report.verdict(name + ": computed again or kept, every bit is the same",
                 std::to_string(given.rounds * given.steps) + " steps", sameBits);
  for (size_t i : {everySecond, programs.size() - 1}) {
    double least = i == everySecond ? 30 : given.limitSaves;
    report.verdict(name + ", " + ways[i] + ": saves " + formatDouble(least, 3) + "% of the memory",
                   formatDouble(saved[i], 3) + "% less", saved[i] >= least);
    report.timed(name + ", " + ways[i] + ": takes at most 35% more time", formatDouble(times[i], 3) + " times the time",
                 times[i] <= 1.35);
  }
}

} // namespace

// After Chen et al. (arXiv:1604.06174): memory for time, and never a bit.
void benchRemat(const ExperimentOptions &options, ExperimentReport &report) {
  const std::string &network = options.sweep.network;
  if (!network.empty() && network != "mlp" && network != "resnet18")
    badUse("--network: bench remat has mlp and resnet18, found '" + network + "'");
  report.table("remat", {"network", "way", "arena, bytes", "saved, %", "us a step", "times the time"});
  if (network != "resnet18") compareRemat(deepPerceptron(), options, report);
  if (network != "mlp") compareRemat(residualNetwork(options), options, report);
}

void benchAccumulation(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int64_t kDepth = 4, kBatch = 64, kPasses = 4, kSteps = 20;
  constexpr double kSlack = 1.05;
  TrainData data = randomData(kBatch);
  std::vector<int64_t> samples = allSamples(data);
  TrainedProgram whole = makePerceptron(kDepth, kBatch, 1, options.settings);
  TrainedProgram parts = makePerceptron(kDepth, kBatch, kPasses, options.settings);
  report.table("accumulation", {"step", "loss of 64", "loss of 4 x 16"});
  double worst = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    double a = double(whole.program.step(data, samples).loss), b = double(parts.program.step(data, samples).loss);
    worst = data::largest(worst, std::abs(a - b) / std::abs(a));
    if (step % 5 == 4 || step == 0) report.row({step, a, b});
  }
  // Passes follow each other, so that one of them has its activations at a time, beside the sums of gradients.
  const int64_t pass = kBatch / kPasses;
  report.table("memory", {"step of", "arena, bytes", "at most"});
  report.row({std::to_string(kBatch), whole.arenaBytes, "-"});
  uint64_t one = 0;
  bool isWithin = true;
  double most = 0;
  for (int64_t passes : {1, 2, 4, 8}) {
    TrainedProgram program = makePerceptron(kDepth, passes * pass, passes, options.settings);
    if (passes == 1) one = program.arenaBytes;
    uint64_t gradients = passes == 1 ? 0 : bytesOfGradients(program.program);
    double limit = kSlack * double(one + gradients), share = double(program.arenaBytes) / limit;
    report.row({std::to_string(passes) + " x " + std::to_string(pass), program.arenaBytes, uint64_t(limit)});
    isWithin &= share <= 1;
    most = data::largest(most, share);
  }
  report.verdict("4 x 16 trains as 64 does",
                 "losses differ by at most " + formatDouble(worst, 2) + " of their size over " +
                     std::to_string(kSteps) + " steps",
                 worst <= 1e-6);
  report.verdict("passes take the memory of one of them, of its gradients and 5%",
                 "at most " + formatDouble(100 * most, 3) + "% of that", isWithin);
}

} // namespace sprig::cli
