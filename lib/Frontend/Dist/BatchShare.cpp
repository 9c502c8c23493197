#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/SampleShare.h"
#include "lib/Frontend/Record.h"

namespace sprig::dist {

struct BatchShare::Impl : frontend::SampleShare {
  using SampleShare::SampleShare;
};

BatchShare::BatchShare(Group &group, int64_t samples, NormStatistics norms, Source at) {
  if (samples < 0)
    frontend::fail(at, "BatchShare", "expected a batch of 0 samples or more, found " + std::to_string(samples));
  group.own("BatchShare", at);
  auto [begin, end] = group.rowsOf(samples);
  impl = std::make_unique<Impl>(endOf(group), begin, end - begin, samples, norms);
}

BatchShare::~BatchShare() = default;

std::shared_ptr<frontend::RankEnd> endOf(const Group &group) { return group.impl->end; }

} // namespace sprig::dist
