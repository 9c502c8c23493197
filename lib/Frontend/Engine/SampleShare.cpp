#include "lib/Frontend/Engine/SampleShare.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/collective/Shares.h"
#include <utility>

namespace sprig::frontend {

static thread_local const SampleShare *innermostShare = nullptr;

/// Whether some rank has no sample of a batch.
static bool isShort(int64_t samples, uint32_t ranks, const std::vector<int64_t> &weights) {
  for (uint32_t rank = 0; rank < ranks; ++rank)
    if (rt::collective::shareOf(samples, ranks, weights, rank).size() == 0) return true;
  return false;
}

SampleShare::SampleShare(std::shared_ptr<RankEnd> given, int64_t first, int64_t rows, int64_t samples,
                         NormStatistics norms, std::vector<int64_t> weights)
    : end(std::move(given)), first(first), rows(rows), samples(samples), norms(norms), weights(std::move(weights)),
      leavesOut(isShort(samples, uint32_t(end->group->ranks()), this->weights)),
      outer(std::exchange(innermostShare, this)), within(Trace::currentFunction()) {
  if (Trace *function = Trace::currentFunction()) function->samples.note(*this);
}
SampleShare::~SampleShare() { innermostShare = outer; }

// Another group of as many ranks is no other share: what meets it is recorded anew in any case.
static uint64_t readShare(const void *) {
  if (!innermostShare) return 0;
  uint64_t hash = 1;
  for (int64_t number : {innermostShare->first, innermostShare->rows, innermostShare->samples,
                         int64_t(innermostShare->end->group->ranks()), int64_t(innermostShare->norms)})
    hash = (hash ^ uint64_t(number)) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash | 1;
}
static std::string textOfShare(const void *) {
  if (!innermostShare) return "a whole one";
  return "rows " + std::to_string(innermostShare->first) + " to " +
         std::to_string(innermostShare->first + innermostShare->rows) + " of " +
         std::to_string(innermostShare->samples) + " samples" +
         (innermostShare->norms == NormStatistics::replica ? ", with norms of its own" : "");
}
static const HostSetting kShareOutside = {readShare, textOfShare};

const SampleShare *SampleShare::current() {
  if (Trace *function = Trace::currentFunction(); function && (!innermostShare || innermostShare->within != function))
    function->host.observe(kShareOutside, nullptr, "the batch");
  return innermostShare;
}

std::string SampleShare::whyNotOfAll() const {
  if (!leavesOut) return {};
  return "of " + std::to_string(samples) + " samples over " + std::to_string(end->group->ranks()) +
         " ranks some have none";
}

void SampleShare::refuseDraw(const char *op, const TensorType &type, Source at) {
  const SampleShare *share = current();
  if (!share || share->rows == share->samples) return;
  fail(at, op,
       "draws " + describe(type) + " on rank " + std::to_string(share->end->group->rank()) + " of " +
           std::to_string(share->end->group->ranks()) + ", which has " + std::to_string(share->rows) + " of " +
           std::to_string(share->samples) +
           " samples: every rank would draw the same numbers for samples that are not the same; draw them with the "
           "data, "
           "as a field of the batch, or train on one rank");
}

void SamplesOfRanks::note(const SampleShare &share) {
  differ |= end && (end != share.end || rows != share.rows || samples != share.samples || weights != share.weights);
  weights = share.weights;
  end = share.end;
  rows = share.rows;
  samples = share.samples;
}

Tensor SampleShare::sum(const Tensor &x, Source at) const {
  if (end->group->ranks() == 1) return x;
  constexpr auto kind = rt::collective::Kind::allReduce;
  return record(collectiveName(kind), {x}, collectiveAttrs(*end, kind, rt::comm::Reduction::sum), x.type(at), at);
}

} // namespace sprig::frontend
