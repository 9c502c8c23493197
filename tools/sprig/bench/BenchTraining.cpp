// sprig bench remat and sprig bench accumulation: what computing values again costs and saves, and whether small
// batches that are accumulated train as a large one does. Both on perceptrons whose weights and data are random
// numbers.
#include "lib/Data/Largest.h"
#include "tools/sprig/bench/Experiment.h"
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

// `depth` layers of `width` with tanh between them, one function for each batch.
Model perceptron(int64_t depth, const std::vector<int64_t> &batches) {
  Model model;
  model.path = "perceptron of " + std::to_string(depth) + " layers";
  model.kind = ModelKind::mlir;
  auto tensor = [](const std::string &shape) { return "tensor<" + shape + "xf32>"; };
  auto columns = [&](int64_t layer) { return layer + 1 == depth ? kTrainedClasses : kWidth; };
  for (int64_t i = 0; i < depth; ++i) {
    std::string n = std::to_string(i), out = std::to_string(columns(i)), in = std::to_string(kWidth);
    model.text += "nn.param @w" + n + " = dense<0.0> : " + tensor(out + "x" + in) + "\n";
    model.text += "nn.param @b" + n + " = dense<0.0> : " + tensor(out) + "\n";
  }
  for (int64_t batch : batches) {
    std::string rows = std::to_string(batch) + "x", x = tensor(rows + std::to_string(kWidth));
    model.text += "func.func @net" + std::to_string(batch) + "(%x: " + x + " {nn.name = \"x\"}) -> " +
                  tensor(rows + std::to_string(kTrainedClasses)) + " {\n";
    std::string value = "%x", type = x;
    for (int64_t i = 0; i < depth; ++i) {
      std::string n = std::to_string(i), out = std::to_string(columns(i));
      std::string w = tensor(out + "x" + std::to_string(kWidth)), b = tensor(out), y = tensor(rows + out);
      model.text += "  %w" + n + " = nn.get_param @w" + n + " : " + w + "\n  %b" + n + " = nn.get_param @b" + n +
                    " : " + b + "\n  %y" + n + " = nn.linear " + value + ", %w" + n + ", %b" + n + " : " + type + ", " +
                    w + ", " + b + "\n";
      value = "%y" + n, type = y;
      if (i + 1 == depth) continue;
      model.text += "  %a" + n + " = nn.tanh " + value + " : " + y + "\n";
      value = "%a" + n;
    }
    model.text += "  return " + value + " : " + type + "\n}\n";
  }
  return model;
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

// A step of `batch` samples, in parts where `accumulate` says so, with random weights.
TrainedProgram makeProgram(int64_t depth, int64_t batch, int64_t accumulate, int64_t rematBytes, Settings settings) {
  TrainRequest request;
  request.config.losses = {training::LossConfig{}};
  request.config.optimizer.lr = 0.01;
  request.config.batch = batch / accumulate;
  request.config.accumulate = accumulate;
  request.config.steps = 1;
  if (rematBytes) request.config.rematBytes = rematBytes;
  request.steps = {batch};
  request.withNorm = false;
  settings.threads = 1;
  CompiledTraining compiled = compileTraining(perceptron(depth, {batch / accumulate}), request, settings, {"native"});
  Runner runner = Runner::load(std::move(compiled.package), "perceptron", {1, ""});
  sprig_rt_entry_info info = runner.entryInfo(0);
  TrainedProgram made{TrainProgram(std::move(runner)), info.arena_bytes};
  std::vector<data::Array> state;
  uint64_t seed = 2;
  for (const checkpoints::ArrayView &view : made.program.state()) {
    bool isWeight = view.dtype == data::DType::f32 && view.shape.size() == 2;
    state.push_back(isWeight ? randomArray(view.name, view.shape, seed++, std::sqrt(2.0 / double(kWidth)))
                             : data::Array{view.name, view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
  }
  made.program.restore(state);
  return made;
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

// After Chen et al. (arXiv:1604.06174): memory for time, and never a bit.
void benchRemat(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int64_t kDepth = 12, kBatch = 256, kSteps = 10, kRounds = 12;
  TrainData data = randomData(kBatch);
  std::vector<int64_t> samples = allSamples(data);
  std::vector<TrainedProgram> programs;
  programs.push_back(makeProgram(kDepth, kBatch, 1, 0, options.settings));
  uint64_t all = programs.front().arenaBytes;
  const std::vector<double> shares = {1, 0.7, 0.4};
  for (size_t i = 1; i < shares.size(); ++i)
    programs.push_back(makeProgram(kDepth, kBatch, 1, int64_t(double(all) * shares[i]), options.settings));
  // Equal numbers of steps, in turn; the fastest round of each.
  std::vector<double> best(programs.size(), 1e30);
  for (int64_t round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < programs.size(); ++i) {
      auto start = std::chrono::steady_clock::now();
      for (int64_t step = 0; step < kSteps; ++step) programs[i].program.step(data, samples);
      double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
      best[i] = std::min(best[i], us / double(kSteps));
    }
  report.table("remat", {"limit, bytes", "arena, bytes", "saved, %", "us a step", "times the time"});
  bool sameBits = true;
  double saved = 0, cost = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    double share = 100 * (1 - double(programs[i].arenaBytes) / double(all)), times = best[i] / best[0];
    report.row(
        {i ? Json(int64_t(double(all) * shares[i])) : Json("none"), programs[i].arenaBytes, share, best[i], times});
    sameBits &= bitsOf(programs[i].program) == bitsOf(programs[0].program);
    if (share > saved) saved = share, cost = times;
  }
  report.verdict("computed again or kept, every bit is the same", std::to_string(kRounds * kSteps) + " steps",
                 sameBits);
  report.verdict("computing again saves 30% of the memory", formatDouble(saved, 3) + "% less", saved >= 30);
  report.timed("that takes at most 35% more time", formatDouble(cost, 3) + " times the time", cost <= 1.35);
}

void benchAccumulation(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int64_t kDepth = 4, kBatch = 64, kPasses = 4, kSteps = 20;
  constexpr double kSlack = 1.05;
  TrainData data = randomData(kBatch);
  std::vector<int64_t> samples = allSamples(data);
  TrainedProgram whole = makeProgram(kDepth, kBatch, 1, 0, options.settings);
  TrainedProgram parts = makeProgram(kDepth, kBatch, kPasses, 0, options.settings);
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
    TrainedProgram program = makeProgram(kDepth, passes * pass, passes, 0, options.settings);
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
