#include "lib/Frontend/Trainer/Programs.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/SampleShare.h"
#include "lib/Frontend/Engine/Variant.h"
#include "lib/Frontend/Trainer/DividedState.h"
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

/// The last parameters' go first, as a backward pass makes them.
std::vector<Tensor> sumOverRanks(dist::Group &group, std::vector<Tensor> gradients, Source at) {
  std::reverse(gradients.begin(), gradients.end());
  gradients = group.allReduceAsync(gradients, dist::Reduce::sum, dist::Algorithm::automatic, at);
  std::reverse(gradients.begin(), gradients.end());
  return gradients;
}

std::vector<Shape> shapesOf(const optim::Optimizer &optimizer) {
  std::vector<Shape> shapes;
  for (const Parameter &parameter : optimizer.parameters()) shapes.push_back(parameter.type().shape);
  return shapes;
}

rt::collective::Range pieceOf(int64_t rows, int64_t pieces, int64_t piece) {
  return rt::collective::pieceOf(rows, uint32_t(pieces), uint32_t(piece));
}

/// Of a batch of so many samples.
rt::collective::Range shareOf(const ProgramOptions &options, int64_t samples, int64_t rank) {
  return rt::collective::shareOf(samples, uint32_t(options.group ? options.group->size() : 1), options.shares,
                                 uint32_t(rank));
}

/// Whether each pass of a batch of so many samples of all ranks has some on every rank.
bool haveAllSamples(const ProgramOptions &options, int64_t samples) {
  for (int rank = 0; rank < (options.group ? options.group->size() : 1); ++rank)
    if (shareOf(options, samples, rank).size() < options.accumulate) return false;
  return true;
}

} // namespace

// Each pass gives the mean loss of its samples; its share of all samples makes the sum the mean of all.
TrainingPrograms::StepBody TrainingPrograms::stepBody(const Training &training, const ProgramOptions &options,
                                                      Source at) {
  return [loss = training.loss, optimizer = training.optimizer, options, at](const Fields &batch, int64_t samples) {
    dist::Group *group = options.group;
    const int64_t ranks = group ? group->size() : 1, rank = group ? group->rank() : 0;
    const rt::collective::Range own = shareOf(options, samples, rank);
    Sums sums;
    for (int64_t pass = 0; pass < options.accumulate; ++pass) {
      const rt::collective::Range rows = pieceOf(own.size(), options.accumulate, pass);
      int64_t together = 0; // of this pass, of all ranks
      bool leavesOut = false;
      for (int64_t r = 0; r < ranks; ++r) {
        const int64_t piece = pieceOf(shareOf(options, samples, r).size(), options.accumulate, pass).size();
        together += piece;
        leavesOut |= piece == 0;
      }
      if (!rows.size()) continue;
      Fields fields = batch;
      if (rows.size() < own.size())
        for (Tensor &field : fields) field = slice({field, at}, 0, rows.begin, rows.end);
      std::optional<SampleShare> share;
      if (group)
        share.emplace(dist::endOf(*group), own.begin + rows.begin, rows.size(), together, options.norms, options.shares,
                      leavesOut);
      Tensor value = loss(fields);
      if (rows.size() < samples) value = mul({value, at}, {double(rows.size()) / double(samples), at});
      share.reset(); // what gradients need is known
      std::vector<Tensor> gradients = grad(value, optimizer.parameters(), {}, at);
      sums.add(std::move(value), std::move(gradients), at);
    }
    if (!sums.loss.defined()) { // there are fewer samples than ranks
      sums.loss = zeros({}, DType::f32, at);
      for (const Parameter &parameter : optimizer.parameters())
        sums.gradients.push_back(zeros(parameter.value(at).shape(), parameter.value(at).dtype(), at));
    }
    Fields results{cast({sums.loss, at}, DType::f32)};
    std::shared_ptr<const optim::StateShares> shares = options.sharesState ? stateSharesOf(*group) : nullptr;
    // Of a rank without samples the program is another.
    LateCollectives late(shares && haveAllSamples(options, samples));
    if (shares)
      sums.gradients = shares->sums(std::move(sums.gradients), at);
    else if (group)
      sums.gradients = sumOverRanks(*group, std::move(sums.gradients), at);
    if (group)
      results[0] = group->allReduceAsync(results[0].detach(at), dist::Reduce::sum, dist::Algorithm::automatic, at);
    if (options.withNorm)
      results.push_back(shares ? shares->norm(sums.gradients, shapesOf(optimizer), at)
                               : optim::gradNorm(sums.gradients, at));
    optimizer.update(sums.gradients, at);
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
  PlanRanks ranks;
  if (step->ranks) {
    ranks = {step->ranks->group, step->samples.samples, step->samples.weights, {}};
    ranks.buckets.link = machine::linkOfThreads(ranks.group->ranks(), /*isApart=*/false);
    if (options.accumulate == 1) compile.factors = options.factors;
  }
  return frontend::expectedSeconds(step->graph, step->slots, compile, step->name, ranks, threads);
}

std::pair<Tensor, Tensor> TrainingPrograms::given(const Fields &results) const {
  return {results[0].detach(at), options.withNorm ? results[1].detach(at) : Tensor()};
}

bool TrainingPrograms::isEnough(int64_t samples) const { return haveAllSamples(options, samples); }

/// Which rank has the most.
static int rankWithMost(const ProgramOptions &options, int64_t samples) {
  int most = 0;
  for (int rank = 1; rank < options.group->size(); ++rank)
    if (shareOf(options, samples, rank).size() > shareOf(options, samples, most).size()) most = rank;
  return most;
}

std::pair<Tensor, Tensor> TrainingPrograms::step(const data::Batch &batch) const {
  Fields results = stepProgram(fieldsOf(batch, at), batch.samplesOfRanks());
  // A pass without samples has drawn nothing and left the module's buffers alone; who has the most has been in most.
  if (options.group && !isEnough(batch.samplesOfRanks())) {
    const int root = rankWithMost(options, batch.samplesOfRanks());
    RandomState now = randomState();
    Tensor first = options.group->broadcast(Tensor({int64_t(now.seed), int64_t(now.draws)}), root, at);
    setRandomState({now.seed, uint64_t(first.data<int64_t>(at)[1])});
    NoGrad quiet;
    for (const Parameter &buffer : training.module->buffers())
      buffer.set(options.group->broadcast(buffer.value(at).detach(at), root, at), at);
  }
  return given(results);
}

std::vector<std::pair<Tensor, Tensor>> TrainingPrograms::steps(std::span<const data::Batch> batches) const {
  std::vector<std::tuple<Fields, int64_t>> calls;
  for (const data::Batch &batch : batches) calls.emplace_back(fieldsOf(batch, at), batch.samplesOfRanks());
  std::vector<std::pair<Tensor, Tensor>> found;
  for (const Fields &results : stepProgram.together(calls)) found.push_back(given(results));
  return found;
}

Scores TrainingPrograms::evaluate(const data::Batch &batch) const {
  // What draws numbers for the samples is refused here, too.
  std::optional<SampleShare> share;
  if (options.group) share.emplace(dist::endOf(*options.group), 0, batch.size(), batch.samplesOfRanks());
  Fields results = evaluation(fieldsOf(batch, at));
  Scores scores{results[0]};
  for (size_t i = 1; i < results.size(); ++i)
    (results[i].dtype() == DType::i64 ? scores.hits : scores.weight) = results[i];
  return scores;
}

} // namespace sprig::frontend
