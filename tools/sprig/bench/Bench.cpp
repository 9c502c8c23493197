// sprig bench: steady-state time per call, in rounds.
#include "tools/sprig/Command.h"
#include "lib/Data/Listed.h"
#include "lib/Data/Suggestion.h"
#include "lib/Machine/MachineModel.h"
#include "tools/sprig/bench/BenchRanks.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Timing.h"
#include "tools/sprig/inspect/MachineFile.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/profile/CommandLimits.h"
#include "tools/sprig/run/RandomInputs.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include "tools/sprig/WrongUse.h"
#include "sprig/rt/memory.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>

namespace sprig::cli {
namespace {

struct BenchOptions : ExperimentOptions {
  CommonOptions common;
  std::string model; ///< or the name of an experiment
  std::vector<std::string> inputs;
  double seconds = 1;
  uint64_t seed = 1;
  MeshFlags mesh;
};

struct Measured {
  std::string name;
  std::vector<double> samples; ///< ns of single calls, or of short runs of calls where one is too quick for the clock
  double flops = 0, bytes = 0;
  uint32_t entry = 0;
  double min() const { return samples.front(); }
  double median() const { return samples[samples.size() / 2]; }
  double p99() const { return samples[size_t(double(samples.size() - 1) * 0.99)]; }
};

// Calls that one sample covers, so that reading the clock stays below a percent.
int64_t callsPerSample(PreparedCall &call) {
  double ns = 0;
  int64_t calls = 1;
  for (; calls < (1 << 16); calls *= 2) {
    auto start = Clock::now();
    for (int64_t i = 0; i < calls; ++i) call.invoke();
    ns = nsSince(start);
    if (ns > 3000) break;
  }
  return calls;
}

// The least time that the larger of work and traffic takes at this machine's rates.
double rooflineNs(const Measured &m, CommandLimits &limits, const machine::MachineModel &model, int threads) {
  return std::max(limits.entryFlopsNs(m.entry, threads),
                  m.bytes / model.readRate(int64_t(m.bytes), threads) * 1e9 + limits.entryAccessNs(m.entry, threads));
}

void refuseLoaderOptions(const BenchOptions &options) {
  if (!options.workers.empty() || !options.ioDelay.empty())
    badUse("--workers, --io-delay: go with the experiment loader");
}

// Whose --ranks are theirs.
const std::string kOfRanks[] = {"allreduce", "exposure", "sampler", "scaling", "sweep"};

bool isOneOf(std::span<const std::string> names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void refuseRankOptions(const BenchOptions &options, const std::string &experiment) {
  bool isOfRanks = isOneOf(kOfRanks, experiment);
  if ((options.ranks && !isOfRanks) || (!options.algorithms.empty() && experiment != "allreduce"))
    badUse("--ranks, --algo: go with the experiment allreduce, --ranks with scaling, exposure, sampler and sweep, too");
  if (options.ranks == 1 && experiment != "sampler" && experiment != "sweep")
    badUse("--ranks 1: bench " + experiment + " takes 2 or more");
}

// Whose --n are bytes.
const std::string kOfBytes[] = {"allreduce", "sums", "rings", "aggregation"};

int runExperiment(const BenchOptions &options, const Experiment &experiment) {
  auto refuse = [&](const std::string &why) { badUse("bench " + experiment.name + ": " + why); };
  bool isOnGpu = experiment.runOnGpu && options.settings.namesGpus();
  std::vector<rt::core::GivenDevice> devices = options.settings.parsedDevices().list;
  if (isOnGpu && devices.size() != 1)
    refuse("is an experiment on one GPU: no --devices " + options.settings.givenDevices());
  for (const rt::core::GivenDevice &device : devices)
    if (device.kind != "cpu" && !isOnGpu)
      refuse("is an experiment on the processor: no --devices " + options.settings.givenDevices());
  options.settings.checkDeviceNames();
  if (!options.settings.dims.empty() || !options.settings.shapes.empty() || !options.inputs.empty())
    refuse("is an experiment, which has no --dim, --shape or --input");
  if (!options.settings.compileDevices().empty() || options.settings.explainPlacement)
    refuse("is an experiment, which chooses its devices: no list of --devices, no --explain-placement");
  if (options.settings.pin) refuse("is an experiment, which takes no --pin");
  if (!options.settings.links.empty() && experiment.name != "overlap" && experiment.name != "split")
    refuse("takes no --link, which the experiments overlap and split do");
  if (experiment.name != "loader") refuseLoaderOptions(options);
  refuseRankOptions(options, experiment.name);
  options.sweep.checkFor(experiment.name);
  bool isOfSums = isOneOf(kOfBytes, experiment.name), isOfBytes = isOfSums || experiment.name == "comm";
  int64_t least = isOfSums ? 4 : experiment.name == "sampler" ? 64 : 1, most = isOfBytes ? int64_t(1) << 30 : 16384;
  if (options.n && (options.n < least || options.n > most))
    badUse("--n: bench " + experiment.name + " takes " + std::to_string(least) + " to " + std::to_string(most) +
           ", found " + std::to_string(options.n));
  if (experiment.name != "hybridize" && (options.runs || (!options.of.empty() && experiment.name != "sweep")))
    refuse("takes no model and no --runs, which hybridize does");
  ExperimentReport report;
  ExperimentOptions given = options;
  given.threads = options.settings.laneCount() ? options.settings.laneCount() : sprig_rt_default_threads();
  (isOnGpu ? experiment.runOnGpu : experiment.run)(given, report);
  if (report.isEmpty()) return kDone;
  if (options.common.json())
    std::cout << toText(report.toJson(experiment.name)) << '\n';
  else
    report.print();
  return report.holds() ? kDone : kCheckFailed;
}

// A word that is no file was meant as an experiment.
void refuseUnknownName(const std::string &name) {
  std::error_code error;
  if (name == "-" || name.find_first_of("/.") != std::string::npos || std::filesystem::exists(name, error)) return;
  std::vector<std::string> names;
  for (const Experiment &experiment : experiments()) names.push_back(experiment.name);
  badInput(name + ": there is no such file and no experiment of this name" + data::suggestion(name, names) +
           "\nexperiments are " + data::listed(names, names.size()) + "; 'sprig bench --help' says what each is");
}

int bench(BenchOptions &options) {
  for (const Experiment &experiment : experiments()) {
    if (options.model != experiment.name) continue;
    if (!options.mesh.mesh.empty() || options.mesh.splitsModel())
      badUse("bench " + experiment.name + ": is an experiment, which takes no --mesh or --shard");
    std::error_code error;
    if (std::filesystem::exists(options.model, error))
      inform("'" + options.model + "' is taken as the experiment; ./" + options.model + " is the file");
    if (!options.settings.topology.empty() && experiment.name != "allreduce" && experiment.name != "scaling")
      badUse("bench " + experiment.name + ": is an experiment, which takes no --topology");
    return runExperiment(options, experiment);
  }
  refuseUnknownName(options.model);
  refuseLoaderOptions(options);
  refuseRankOptions(options, "");
  options.sweep.checkFor("");
  if (options.n)
    badUse("--n: goes with the experiments matmul, threads, lanes, devices, bottlenecks, overlap, split, pipeline, "
           "convolution, dtypes, async, allreduce, sums, rings, aggregation, buckets, scaling, sampler and comm");
  if (options.runs) badUse("--runs: goes with the experiment hybridize");
  if (!options.of.empty()) badUse(options.of + ": a second model goes with the experiment hybridize");
  options.settings.checkDevices();
  takeTopology(options.settings);
  if (!(options.seconds > 0) || options.seconds > 3600) badUse("--seconds: expected more than 0, at most 3600");
  Model model = openModel(options.model);
  BenchedRanks ranked{options.mesh, options.inputs, options.seconds, options.seed, options.common.json()};
  if (RankedModel::isOf(model, options.mesh, options.settings)) return benchRanks(model, options.settings, ranked);
  RankedModel::refuseRanksOf(model, options.mesh, options.settings);
  auto start = Clock::now();
  std::vector<PhaseTime> phases;
  std::optional<Runner> loaded;
  if (model.kind == ModelKind::package) {
    loaded = compileAndLoad(model, {}, options.settings);
    if (RankedModel::isIn(*loaded)) return benchRanks(model, options.settings, ranked);
  }
  auto given = loaded ? inputsOfCalls(*loaded, model, options.settings)
                      : inputsOfCalls(model, options.settings, /*isOpen=*/true);
  double loadMs = nsSince(start) / 1e6, compileMs = 0;
  std::vector<BoundInputs> entries = bindEntries(given, options.inputs, options.settings);
  start = Clock::now();
  if (!loaded) loaded = compileAndLoad(model, requestsOf(entries), options.settings, &phases);
  loadMs += nsSince(start) / 1e6;
  for (const PhaseTime &phase : phases) compileMs += phase.milliseconds;

  std::vector<PreparedCall> calls;
  std::vector<Measured> results;
  std::vector<int64_t> chunk;
  for (auto &[specs, arrays, entry] : entries) {
    fillRandom(*loaded, specs, options.seed, entry.dims, arrays);
    calls.push_back(loaded->prepare(arrays));
    arrays.clear(); // the call has its own
    calls.back().invoke();
    sprig_rt_entry_info info = loaded->entryInfo(loaded->lastRun().entry);
    std::string name;
    for (auto &[symbol, size] : entry.dims) name += (name.empty() ? "" : " ") + symbol + "=" + std::to_string(size);
    results.push_back(
        {name.empty() ? info.name : name, {}, double(info.flops), double(info.bytes), loaded->lastRun().entry});
    chunk.push_back(callsPerSample(calls.back()));
  }
  // Rounds in turn over the entries, so that a slow moment of the machine hits all of them.
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < calls.size(); ++i) {
      auto roundStart = Clock::now();
      do {
        auto sampleStart = Clock::now();
        for (int64_t c = 0; c < chunk[i]; ++c) calls[i].invoke();
        results[i].samples.push_back(nsSince(sampleStart) / double(chunk[i]));
      } while (nsSince(roundStart) < options.seconds * 1e9 / kRounds / double(calls.size()));
    }
  for (Measured &m : results) std::sort(m.samples.begin(), m.samples.end());

  machine::ProductRates rates(calibration(machine::readCpu()));
  int threads = options.settings.laneCount() ? options.settings.laneCount() : sprig_rt_default_threads();
  CommandLimits limits(*loaded, rates);
  double peakBytes = double(peakMemory());
  sprig_rt_memory_info memory = rt::memory::describe();

  Json list = Json::array();
  Table table({"entry", "min us", "median us", "p99 us", "calls/s", "GFLOP/s", "% of roofline"});
  for (const Measured &m : results) {
    double share = 100 * rooflineNs(m, limits, rates.model(), threads) / m.median();
    auto us = [](double ns) { return formatDouble(ns / 1e3, 4); };
    table.add({m.name, us(m.min()), us(m.median()), us(m.p99()), formatDouble(std::round(1e9 / m.median()), 6),
               formatDouble(m.flops / m.median(), 4), formatDouble(share, 3)});
    list.push_back({{"entry", m.name},
                    {"min_us", m.min() / 1e3},
                    {"median_us", m.median() / 1e3},
                    {"p99_us", m.p99() / 1e3},
                    {"calls_per_second", 1e9 / m.median()},
                    {"gflops", m.flops / m.median()},
                    {"percent_of_roofline", share},
                    {"flops", m.flops},
                    {"bytes", m.bytes}});
  }
  if (options.common.json()) {
    Json document = {{"threads", threads},
                     {"pinned", options.settings.pin},
                     {"entries", list},
                     {"compile_ms", compileMs},
                     {"load_ms", loadMs - compileMs},
                     {"peak_memory_bytes", peakBytes},
                     {"runtime_memory_bytes", memory.allocated},
                     {"runtime_memory_peak_bytes", memory.peak}};
    explainPlacement(options.settings, *loaded, &document);
    std::cout << toText(document) << '\n';
    return kDone;
  }
  explainPlacement(options.settings, *loaded);
  table.print();
  std::cout << threads << (threads == 1 ? " thread" : " threads") << (options.settings.pin ? ", pinned" : "");
  if (!phases.empty()) std::cout << ", compiled in " << formatNanoseconds(compileMs * 1e6);
  std::cout << ", read and loaded in " << formatNanoseconds((loadMs - compileMs) * 1e6) << ", peak memory "
            << formatBytes(peakBytes) << ", of it the runtime's " << formatBytes(double(memory.peak)) << '\n';
  if (isVerbose()) inform(loaded->describeLastRun());
  return kDone;
}

} // namespace

void addBench(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = addCommand(
      app, "bench",
      "Times a model: steady-state calls, on random inputs where none are given, in rounds; or runs an experiment",
      "  sprig bench examples/digits/model.onnx --dim batch=1,64\n"
      "  sprig bench examples/digits/model.onnx --dim batch=8 --threads 1 --seconds 3 --format json",
      options->common);
  std::string names = "an ONNX file, MLIR in the nn dialect, a package, or the name of an experiment:";
  for (const Experiment &experiment : experiments()) names += "\n" + experiment.name + ": " + experiment.summary;
  command->add_option("MODEL", options->model, names)->required();
  command->add_option("OF", options->of,
                      "the model that hybridize runs, instead of its own networks; what sweep goes over: ranks, "
                      "batches, rates or evaluation");
  command
      ->add_option(
          "--n", options->n,
          "side of the cube that memory allocates on a GPU (1000); size of the matrices of matmul (default 4096), "
          "threads (1000), devices (768), bottlenecks (768), overlap (512, on a GPU 2048), convolution (100), dtypes "
          "(1024) and async (1000), and the largest of lanes (1000) and of the batches of split (256, of the mlp "
          "1024); the batch of pipeline (256); the bytes of allreduce, the most of threads (16777216) or those of a "
          "--topology (100000000), of sums and rings (100000000) and aggregation (187060000); the batch of each rank "
          "of scaling (256) and buckets (128); the samples of sampler (1001); the most bytes of comm (67108864)")
      ->check(positiveNumber());
  command->add_option("--workers", options->workers, "threads that loader tries (default 0,1,2,4,8)")
      ->delimiter(',')
      ->check(CLI::Range(0, 256));
  command->add_option("--io-delay", options->ioDelay,
                      "storage that loader simulates: hdd, hdd:RPM, ssd, nvme, or the time of a sample (default 2ms)");
  command
      ->add_option("--ranks", options->ranks,
                   "ranks of allreduce (default 2, or all devices of a --topology), of scaling (16), exposure (4) and "
                   "sampler (4), and the most of sweep (2; resnet18 over ranks 8; evaluation 4)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--algo", options->algorithms, "algorithms of allreduce (default all)")->delimiter(',');
  command->add_option("--runs", options->runs, "calls that hybridize times together (default 10 to 100)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seconds", options->seconds, "how long to measure")->capture_default_str();
  addInputs(*command, options->inputs);
  command->add_option("--random-inputs", options->seed, "seed of the inputs that are not given")->capture_default_str();
  addSweepFlags(*command, options->sweep);
  addSettings(*command, options->settings);
  addPin(*command, options->settings);
  addSplit(*command, options->mesh);
  addLinks(*command, options->settings);
  onRun(*command, invocation, [=] { return bench(*options); });
}

} // namespace sprig::cli
