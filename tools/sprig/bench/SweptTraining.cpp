#include "tools/sprig/bench/SweptTraining.h"
#include "lib/TrainLoop/Progress.h"
#include "lib/Training/ReadTrainConfig.h"
#include "sprig/rt/memory.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/train/TrainRunners.h"
#include "tools/sprig/train/TrainSet.h"
#include <algorithm>

namespace sprig::cli {
double SweptRun::epochSeconds() const {
  const training::TimeSplit &time = outcome->time.total();
  return time.steps ? (time.waiting + time.computing) / double(time.steps) * double(stepsOfEpoch) : 0;
}

SweptTraining::Program &SweptTraining::programFor(int ranks, int64_t batch) {
  if (made && madeFor == std::pair(ranks, batch)) return *made;
  made.reset(); // gives its threads and memory back first
  TrainRequest request;
  request.steps = partSizes(sets.train.count(), batch, false);
  request.evaluations = partSizes(sets.test.count(), batch, false);
  std::vector<int64_t> passes = request.steps; // the whole ones and what is left over
  for (int64_t pass : request.evaluations)
    if (std::find(passes.begin(), passes.end(), pass) == passes.end()) passes.push_back(pass);
  TrainedNetwork network = make(passes, width);
  network.config.batch = batch;
  network.config.steps = std::nullopt;
  network.config.epochs = epochs;
  network.config.shuffle = true;
  network.config.evalEvery = 0;
  network.config.optimizer.momentum = 0;
  training::resolve(network.config, sets.train.count());
  request.config = network.config;
  request.samples = sets.train.count();
  request.withNorm = false;
  request.ranks = ranks;
  Settings own = settingsOfRank(settings, RankPlace{.ranks = ranks, .here = ranks});
  if (ranks > 1) request.link = linkOfThreads(ranks, std::max(1, own.laneCount()));
  RunnerOptions options{std::max(1, own.laneCount()), ""};
  if (ranks == 1 && !own.laneCount()) options.threads = 0;
  LoadedTraining loaded = loadTraining(network.model, request, ranks, own, options);
  auto program = std::make_unique<Program>();
  program->config = network.config;
  if (ranks == 1) {
    program->ranks = std::make_unique<TrainRanks>(std::move(loaded.runners.front()));
  } else {
    joinAsThreads(loaded.runners);
    program->ranks = std::make_unique<TrainRanks>(std::move(loaded.runners), RankShare{0, ranks, batch});
  }
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    program->starts.push_back(randomState(program->ranks->state().arrays, *network.config.trainable, seed));
  trainedNumbers = 0;
  for (const data::Array &array : program->starts.front())
    if (std::count(network.config.trainable->begin(), network.config.trainable->end(), array.name))
      trainedNumbers += array.elements();
  made = std::move(program);
  madeFor = {ranks, batch};
  return *made;
}

SweptRun SweptTraining::train(const SweepPoint &point, int64_t steps, bool evaluates) {
  Program &program = programFor(point.ranks, point.batch);
  program.ranks->restore(program.starts.at(point.seed - 1));
  program.ranks->start(point.rate, point.seed);
  training::TrainConfig config = program.config;
  config.optimizer.lr = point.rate;
  config.seed = point.seed;
  if (steps) config.steps = std::min(steps, *config.steps);
  SweptRun run{point, std::nullopt, {}, "", training::stepsPerEpoch(program.config, sets.train.count()), true};
  ProgramRunner runner(*program.ranks, sets.train, &sets.test, config);
  TrainSource source(program.ranks->first(), sets.train, config);
  training::LoopOptions options = loopOptions(config, evaluates);
  options.endsBySignal = false;
  training::Loop loop(runner, *source, &runner, options);
  training::RunHistory history;
  training::Progress progress(*config.steps, (*source).epoch(), *config.steps); // a line that stays for each run
  loop.add(history);
  if (!isQuiet()) loop.add(progress);
  try {
    run.outcome = loop.run();
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::runtime) throw; // else a loss that is not finite
    run.failure = std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
  }
  for (const training::StepMetrics &step : history.lines) run.losses.push_back(double(step.loss));
  try {
    program.ranks->checkReplicas();
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::internal) throw;
    run.areReplicas = false;
  }
  return run;
}

SweptRun SweptTraining::run(const SweepPoint &point) {
  sprig_rt_memory_reset_peak();
  SweptRun run = train(point, 0, true);
  run.memoryPeak = rt::memory::describe().peak;
  return run;
}

std::vector<double> SweptTraining::firstLosses(const SweepPoint &point, int64_t steps) {
  SweptRun run = train(point, steps, false);
  return run.outcome ? run.losses : std::vector<double>();
}

training::Evaluation SweptTraining::evaluate(int ranks, int64_t batch, const std::vector<data::Array> &state) {
  Program &program = programFor(ranks, batch);
  program.ranks->restore(state);
  return program.ranks->evaluate(sets.test);
}

} // namespace sprig::cli
