#include "lib/Frontend/Trainer/Programs.h"
#include "lib/Data/Listed.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Engine/Variant.h"
#include "lib/Frontend/Record.h"
#include "lib/TrainLoop/Metrics.h"
#include "runtime/collective/Shares.h"
#include "sprig/grad.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include <algorithm>
#include <cctype>
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

/// Values and gradients of a step's passes.
struct Sums {
  std::vector<Tensor> values, gradients;

  void add(std::vector<Tensor> more, std::vector<Tensor> moreGradients, Source at) {
    if (values.empty()) {
      values = std::move(more);
      gradients = std::move(moreGradients);
      return;
    }
    for (auto [sums, terms] : {std::pair(&values, &more), {&gradients, &moreGradients}})
      for (size_t i = 0; i < sums->size(); ++i) (*sums)[i] = sprig::add({(*sums)[i], at}, {(*terms)[i], at});
  }
};

/// Metrics of a module's own as scalars, whose names are those of the first recording. `what` is "trainingStep".
std::vector<Tensor> metricsOf(const Scores &scores, ScoreLayout &layout, const char *what, Source at) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (auto &[name, value] : scores.metrics) {
    auto refuse = [&](const std::string &why) {
      fail(at, "Trainer", std::string(what) + ": metric '" + name + "' " + why);
    };
    auto isPlain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    };
    if (name.empty()) refuse("has no name");
    if (!std::all_of(name.begin(), name.end(), isPlain))
      refuse("has characters other than letters, digits, '_', '.' and '-'");
    if (name.starts_with("eval_")) refuse("starts with 'eval_', which evaluations put in front");
    if (training::isReservedMetric(name)) refuse("has a name that the trainer itself uses");
    if (std::find(names.begin(), names.end(), name) != names.end()) refuse("is there twice");
    if (!value.defined() || !isFloat(value.dtype()) || value.numel() != 1)
      refuse("is " + (value.defined() ? describe(value.type(at)) : "not defined") + ", expected a single float");
    names.push_back(name);
    values.push_back(reshape({value.detach(at), at}, Shape{}));
  }
  const bool hasHits = scores.hits.defined(), hasWeight = scores.weight.defined();
  if (!layout.isKnown)
    layout = {true, hasHits, hasWeight, names};
  else if (layout.names != names || layout.hasHits != hasHits || layout.hasWeight != hasWeight)
    fail(at, "Trainer",
         std::string(what) + " gives other metrics than before: found [" + data::listed(names, 8) + "], expected [" +
             data::listed(layout.names, 8) + "], and hits and weight as before");
  return values;
}

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

// Each pass gives means of its samples; its share of all samples makes the sums the means of all.
TrainingPrograms::StepBody TrainingPrograms::stepBody(const Training &training, const ProgramOptions &options,
                                                      std::shared_ptr<ScoreLayout> layout, Source at) {
  return [step = training.step, optimizer = training.optimizer, average = training.average, options, layout,
          at](const Fields &batch, int64_t samples) {
    const bool isOfRanks = ranksOf(options) > 1;
    const std::vector<int64_t> passes = passesOf(options, samples);
    if (isOfRanks)
      GlobalStep::begin({dist::endOf(*options.group),
                         {options.sharesState ? "zero1" : "data", passes, {}, options.allowGather},
                         options.shares,
                         options.norms});
    Sums sums;
    int64_t first = 0;
    for (int64_t rows : passes) {
      Fields fields = batch;
      if (rows < samples)
        for (Tensor &field : fields) field = slice({field, at}, 0, first, first + rows);
      first += rows;
      auto shareOfAll = [&](const Tensor &mean) {
        return rows < samples ? mul({mean, at}, {double(rows) / double(samples), at}) : mean;
      };
      Scores scores = step(fields);
      std::vector<Tensor> values{shareOfAll(scores.loss)};
      std::vector<Tensor> gradients = grad(values[0], optimizer.parameters(), {}, at);
      for (const Tensor &metric : metricsOf(scores, *layout, "trainingStep", at)) values.push_back(shareOfAll(metric));
      if (layout->hasWeight) values.push_back(scores.weight.detach(at));
      sums.add(std::move(values), std::move(gradients), at);
    }
    Fields results;
    for (const Tensor &value : sums.values) results.push_back(cast({value, at}, DType::f32));
    if (isOfRanks) {
      for (Tensor &result : results) result = result.detach(at);
      sums.gradients = GlobalStep::markGradients(std::move(sums.gradients), optimizer.parameters(), at);
      std::vector<std::string> names{"loss"};
      names.insert(names.end(), layout->names.begin(), layout->names.end());
      if (layout->hasWeight) names.emplace_back("weight");
      names.emplace_back("grad_norm");
      GlobalStep::nameResults(std::move(names));
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
                          stepBody(training, options, ofStep, at), options.compile, at)),
      evaluation(program({.name = "evaluation"},
                         Body([scores = training.scores, layout = ofEvaluation, at](const Fields &batch) {
                           NoGrad quiet;
                           Scores result = scores(batch);
                           Fields results{cast({result.loss, at}, DType::f64)};
                           for (const Tensor &metric : metricsOf(result, *layout, "validationStep", at))
                             results.push_back(cast({metric, at}, DType::f64));
                           if (layout->hasHits) results.push_back(cast({result.hits, at}, DType::i64));
                           if (layout->hasWeight) results.push_back(cast({result.weight, at}, DType::f64));
                           return results;
                         }),
                         options.compile, at)) {}

double TrainingPrograms::expectedSeconds(const Training &training, const ProgramOptions &options,
                                         std::span<const TensorType> fields, int64_t samples, int threads, Source at) {
  StepBody body = stepBody(training, options, std::make_shared<ScoreLayout>(), at);
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

StepTensors TrainingPrograms::given(const Fields &results) const {
  auto next = results.begin();
  StepTensors step{.loss = (next++)->detach(at)};
  for (size_t i = 0; i < ofStep->names.size(); ++i) step.metrics.push_back((next++)->detach(at));
  if (ofStep->hasWeight) step.weight = (next++)->detach(at);
  if (options.withNorm) step.norm = next->detach(at);
  return step;
}

bool TrainingPrograms::isEnough(int64_t samples) const { return haveAllSamples(options, samples); }

// Ranks divide a recorded step, compiled or not.
bool TrainingPrograms::runsOperations() const {
  return ranksOf(options) > 1 && !(stepProgram.enabled() && compilationIsOn());
}

StepTensors TrainingPrograms::step(const data::Batch &batch) const {
  std::optional<OperationScope> scope;
  if (runsOperations()) scope.emplace();
  return given(stepProgram(fieldsOf(batch, at), batch.samplesOfRanks()));
}

std::vector<StepTensors> TrainingPrograms::steps(std::span<const data::Batch> batches) const {
  std::vector<StepTensors> found;
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
  auto next = results.begin();
  Scores scores{.loss = *next++};
  for (const std::string &name : ofEvaluation->names) scores.metrics.emplace_back(name, *next++);
  if (ofEvaluation->hasHits) scores.hits = *next++;
  if (ofEvaluation->hasWeight) scores.weight = *next;
  return scores;
}

} // namespace sprig::frontend
