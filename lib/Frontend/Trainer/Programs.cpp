#include "lib/Frontend/Trainer/Programs.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Engine/Variant.h"
#include "runtime/collective/Shares.h"
#include "sprig/grad.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include <algorithm>
#include <optional>

namespace sprig::frontend {

static std::vector<Tensor> fieldsOf(const data::Batch &batch, Source at) {
  std::vector<Tensor> fields;
  for (size_t i = 0; i < batch.fields(); ++i) fields.push_back(batch[{i, at}]);
  return fields;
}

template <typename Body> static Function<Body> program(FunctionOptions options, Body body, bool compile, Source at) {
  options.report = [](const std::string &) {}; // an epoch's last batch may be smaller, which is no news to anybody
  Function<Body> result = sprig::compile(std::move(body), std::move(options), at);
  result.enable(compile);
  return result;
}

namespace {

/// Loss and gradients of a step's passes.
struct Sums {
  Tensor loss;
  std::vector<Tensor> gradients;

  void add(Tensor more, std::vector<Tensor> moreGradients, Source at) {
    if (!loss.defined()) {
      loss = std::move(more);
      gradients = std::move(moreGradients);
      return;
    }
    loss = sprig::add({loss, at}, {more, at});
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i] = sprig::add({gradients[i], at}, {moreGradients[i], at});
  }
};

int ranksOf(const ProgramOptions &options) { return options.group ? options.group->size() : 1; }

/// Of a pass of so many samples.
rt::collective::Range shareOf(const ProgramOptions &options, int64_t samples, int rank) {
  return rt::collective::shareOf(samples, uint32_t(ranksOf(options)), options.shares, uint32_t(rank));
}

/// Samples of each pass of a batch, of all ranks together.
std::vector<int64_t> passesOf(const ProgramOptions &options, int64_t samples) {
  std::vector<int64_t> passes;
  const auto count = uint32_t(std::min(options.accumulate, samples));
  for (uint32_t pass = 0; pass < count; ++pass) passes.push_back(rt::collective::pieceOf(samples, count, pass).size());
  return passes;
}

/// Whether each pass of a batch of so many samples of all ranks has some on every rank.
bool haveAllSamples(const ProgramOptions &options, int64_t samples) {
  if (samples < options.accumulate) return false;
  for (int64_t pass : passesOf(options, samples))
    for (int rank = 0; rank < ranksOf(options); ++rank)
      if (shareOf(options, pass, rank).size() == 0) return false;
  return true;
}

} // namespace

// Each pass gives the mean loss of its samples; its share of all samples makes the sum the mean of all.
TrainingPrograms::StepBody TrainingPrograms::stepBody(const Training &training, const ProgramOptions &options,
                                                      Source at) {
  return [loss = training.loss, optimizer = training.optimizer, average = training.average, options,
          at](const Fields &batch, int64_t samples) {
    const bool isOfRanks = ranksOf(options) > 1;
    const std::vector<int64_t> passes = passesOf(options, samples);
    if (isOfRanks)
      GlobalStep::begin({dist::endOf(*options.group),
                         {options.sharesState ? "zero1" : "data", passes, {"loss", "grad_norm"}, options.allowGather},
                         options.shares,
                         options.norms});
    Sums sums;
    int64_t first = 0;
    for (int64_t rows : passes) {
      Fields fields = batch;
      if (rows < samples)
        for (Tensor &field : fields) field = slice({field, at}, 0, first, first + rows);
      first += rows;
      Tensor value = loss(fields);
      if (rows < samples) value = mul({value, at}, {double(rows) / double(samples), at});
      std::vector<Tensor> gradients = grad(value, optimizer.parameters(), {}, at);
      sums.add(std::move(value), std::move(gradients), at);
    }
    Fields results{cast({sums.loss, at}, DType::f32)};
    if (isOfRanks) {
      results[0] = results[0].detach(at);
      sums.gradients = GlobalStep::markGradients(std::move(sums.gradients), optimizer.parameters(), at);
    }
    if (options.withNorm) results.push_back(optim::gradNorm(sums.gradients, at));
    optimizer.update(sums.gradients, at);
    if (average) average->update(at);
    return results;
  };
}

TrainingPrograms::TrainingPrograms(Training given, const ProgramOptions &options, Source at)
    : training(std::move(given)), options(options), at(at),
      stepProgram(program({.name = "training step",
                           .factors = options.accumulate == 1 ? options.factors : FactorPolicy::never,
                           .bucketBytes = options.bucketBytes},
                          stepBody(training, options, at), options.compile, at)),
      evaluation(program({.name = "evaluation"}, Body([scores = training.scores, at](const Fields &batch) {
                           NoGrad quiet;
                           Scores result = scores(batch);
                           Fields results{cast({result.loss, at}, DType::f64)};
                           if (result.hits.defined()) results.push_back(cast({result.hits, at}, DType::i64));
                           if (result.weight.defined()) results.push_back(cast({result.weight, at}, DType::f64));
                           return results;
                         }),
                         options.compile, at)) {}

double TrainingPrograms::expectedSeconds(const Training &training, const ProgramOptions &options,
                                         std::span<const TensorType> fields, int64_t samples, int threads, Source at) {
  StepBody body = stepBody(training, options, at);
  auto recorded = [&](std::span<const Tensor> batch) { return body(Fields(batch.begin(), batch.end()), samples); };
  std::shared_ptr<Variant> step = Variant::record(fields, recorded, "training step", at);
  CompileOptions compile = segmentOptions();
  RankBuckets buckets;
  if (step->ranks) {
    buckets.link = machine::linkOfThreads(step->ranks->group->ranks(), /*isApart=*/false);
    if (options.accumulate == 1) compile.factors = options.factors;
  }
  return frontend::expectedSeconds(step->graph, step->slots, compile, step->name, step->planRanks(buckets), threads);
}

std::pair<Tensor, Tensor> TrainingPrograms::given(const Fields &results) const {
  return {results[0].detach(at), options.withNorm ? results[1].detach(at) : Tensor()};
}

bool TrainingPrograms::isEnough(int64_t samples) const { return haveAllSamples(options, samples); }

// Ranks divide a recorded step, compiled or not.
bool TrainingPrograms::runsOperations() const {
  return ranksOf(options) > 1 && !(stepProgram.enabled() && compilationIsOn());
}

std::pair<Tensor, Tensor> TrainingPrograms::step(const data::Batch &batch) const {
  std::optional<OperationScope> scope;
  if (runsOperations()) scope.emplace();
  return given(stepProgram(fieldsOf(batch, at), batch.samplesOfRanks()));
}

std::vector<std::pair<Tensor, Tensor>> TrainingPrograms::steps(std::span<const data::Batch> batches) const {
  std::vector<std::pair<Tensor, Tensor>> found;
  if (runsOperations()) {
    for (const data::Batch &batch : batches) found.push_back(step(batch));
    return found;
  }
  std::vector<std::tuple<Fields, int64_t>> calls;
  for (const data::Batch &batch : batches) calls.emplace_back(fieldsOf(batch, at), batch.samplesOfRanks());
  for (const Fields &results : stepProgram.together(calls)) found.push_back(given(results));
  return found;
}

Scores TrainingPrograms::evaluate(const data::Batch &batch) const {
  std::optional<BatchScope> share;
  if (options.group)
    share.emplace(dist::endOf(*options.group), batch.samplesOfRanks(), NormStatistics::all, options.shares, at);
  Fields results = evaluation(fieldsOf(batch, at));
  Scores scores{results[0]};
  for (size_t i = 1; i < results.size(); ++i)
    (results[i].dtype() == DType::i64 ? scores.hits : scores.weight) = results[i];
  return scores;
}

} // namespace sprig::frontend
