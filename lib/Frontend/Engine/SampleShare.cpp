#include "lib/Frontend/Engine/SampleShare.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include <utility>

namespace sprig::frontend {

static thread_local const SampleShare *innermost = nullptr;

SampleShare::SampleShare(std::shared_ptr<RankEnd> end, int64_t first, int64_t rows, int64_t samples)
    : end(std::move(end)), first(first), rows(rows), samples(samples), outer(std::exchange(innermost, this)) {
  if (Trace *function = Trace::currentFunction()) function->samples.note(*this);
}
SampleShare::~SampleShare() { innermost = outer; }

const SampleShare *SampleShare::current() { return innermost; }

void SamplesOfRanks::note(const SampleShare &share) {
  differ |= end && (end != share.end || rows != share.rows || samples != share.samples);
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
