#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/Trace.h"
#include <utility>

namespace sprig::frontend {

static thread_local const BatchScope *innermostScope = nullptr;

BatchScope::BatchScope(std::shared_ptr<RankEnd> given, int64_t samples, NormStatistics norms,
                       std::vector<int64_t> givenWeights, Source at)
    : end(std::move(given)), samples(samples), norms(norms), weights(std::move(givenWeights)),
      rows(rt::collective::shareOf(samples, uint32_t(end->group->ranks()), weights, uint32_t(end->group->rank()))),
      outer(innermostScope), within(Trace::currentFunction()) {
  if (GlobalStep::current()) fail(at, "BatchShare", "this step is of the whole batch; it has no shares of ranks");
  if (Trace *function = Trace::currentFunction()) function->samples.note(*this);
  innermostScope = this;
}
BatchScope::~BatchScope() { innermostScope = outer; }

// Another group of as many ranks is no other share: what meets it is recorded anew in any case.
static uint64_t readScope(const void *) {
  if (!innermostScope) return 0;
  uint64_t hash = 1;
  for (int64_t number : {innermostScope->rows.begin, innermostScope->rows.size(), innermostScope->samples,
                         int64_t(innermostScope->end->group->ranks()), int64_t(innermostScope->norms)})
    hash = (hash ^ uint64_t(number)) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash | 1;
}
static std::string textOfScope(const void *) {
  if (!innermostScope) return "a whole one";
  return "rows " + std::to_string(innermostScope->rows.begin) + " to " + std::to_string(innermostScope->rows.end) +
         " of " + std::to_string(innermostScope->samples) + " samples" +
         (innermostScope->norms == NormStatistics::replica ? ", with norms of its own" : "");
}
static const HostSetting kScopeOutside = {readScope, textOfScope};

const BatchScope *BatchScope::current() {
  if (Trace *function = Trace::currentFunction(); function && (!innermostScope || innermostScope->within != function))
    function->host.observe(kScopeOutside, nullptr, "the batch");
  return innermostScope;
}

void SamplesOfRanks::note(const BatchScope &scope) {
  differ |=
      end && (end != scope.end || rows != scope.rows.size() || samples != scope.samples || weights != scope.weights);
  weights = scope.weights;
  end = scope.end;
  rows = scope.rows.size();
  samples = scope.samples;
}

/// The scope of this thread where several ranks have samples to share.
static const BatchScope *sharedBatch() {
  const BatchScope *scope = BatchScope::current();
  return scope && scope->samples > 0 && scope->end->group->ranks() > 1 ? scope : nullptr;
}

static bool hasRows(const BatchScope &scope, const Shape &shape) {
  return !shape.empty() && shape[0] == scope.rows.size();
}

/// This rank's part of a function whose first inputs and results have the samples.
static std::vector<Tensor> partOf(const BatchScope &scope, std::span<const Tensor> inputs, size_t inputsOfSamples,
                                  size_t resultsOfSamples, const SampleFunction &f, Source at) {
  std::vector<TensorType> types;
  for (const Tensor &input : inputs) {
    types.push_back(input.type(at));
    if (types.size() <= inputsOfSamples) types.back().shape[0] = scope.samples;
  }
  std::vector<Tensor> all(inputs.begin(), inputs.end()), captured;
  Graph whole = traceRegion(types, f, captured, at);
  all.insert(all.end(), captured.begin(), captured.end());
  Hash key;
  key.mix(whole);
  for (int64_t number : {scope.samples, int64_t(inputsOfSamples), int64_t(resultsOfSamples)}) key.mix(uint64_t(number));
  for (int64_t weight : scope.weights) key.mix(uint64_t(weight));
  std::shared_ptr<const Graph> &part = scope.end->parts[key];
  if (!part) {
    Division division{"data", {scope.samples}};
    division.ofSamples.assign(all.size(), false);
    std::fill_n(division.ofSamples.begin(), inputsOfSamples, true);
    division.resultsOfSamples = resultsOfSamples;
    PlanRanks ranks{scope.end->group, scope.samples, scope.weights, {}, std::move(division)};
    part = std::make_shared<Graph>(partOfRank(whole, {}, segmentOptions(), "share of a batch", ranks, scope.end->mesh));
  }
  CreationScope there(inputs.empty() ? currentDevice() : *findDevice(deviceFor(inputs[0])));
  return replay(*part, all, at);
}

std::vector<Tensor> overSamples(const char *op, std::span<const Tensor> inputs, bool keepsSamples,
                                const SampleFunction &f, Source at) {
  const BatchScope *scope = sharedBatch();
  if (!scope) return f(inputs);
  if (const TensorType type = inputs[0].type(at); !hasRows(*scope, type.shape))
    fail(at, op,
         "looks at the samples of " + describe(type) + " as " + scope->end->text() + ", whose share of a batch has " +
             std::to_string(scope->rows.size()) + "; they have to be its first axis");
  return partOf(*scope, inputs, 1, keepsSamples, f, at);
}

Tensor drawForEach(std::span<const Tensor> inputs, const SampleFunction &f, Source at) {
  const BatchScope *scope = sharedBatch();
  if (!scope || !hasRows(*scope, inputs[0].shape(at))) return f(inputs)[0];
  return partOf(*scope, inputs, 1, 1, f, at)[0];
}

Tensor drawOfShape(const Shape &shape, const std::function<Tensor(const Shape &)> &f, Source at) {
  const BatchScope *scope = sharedBatch();
  if (!scope || !hasRows(*scope, shape)) return f(shape);
  Shape whole = shape;
  whole[0] = scope->samples;
  return partOf(*scope, {}, 0, 1, [&](std::span<const Tensor>) { return std::vector{f(whole)}; }, at)[0];
}

void refuseDrawOfAll(const char *op, int64_t rows, Source at) {
  const BatchScope *scope = sharedBatch();
  if (!scope || rows != scope->rows.size() || rows == scope->samples) return;
  fail(at, op,
       "draws for all samples of a batch together, of which " + scope->end->text() + " has " + std::to_string(rows) +
           " of " + std::to_string(scope->samples));
}

AttrList normGroups() {
  const BatchScope *scope = sharedBatch();
  const GlobalStep *step = GlobalStep::current();
  if ((scope ? scope->norms : step ? step->norms : NormStatistics::all) == NormStatistics::all) return {};
  return {Attr::unit("unbiased"), Attr::other("groups", "[\"data\"]")};
}

} // namespace sprig::frontend
