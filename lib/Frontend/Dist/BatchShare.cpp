#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/BatchScope.h"

namespace sprig::dist {

struct BatchShare::Impl : frontend::BatchScope {
  using BatchScope::BatchScope;
};

BatchShare::BatchShare(Group &group, int64_t samples, NormStatistics norms, Source at) {
  if (samples < 0)
    frontend::fail(at, "BatchShare", "expected a batch of 0 samples or more, found " + std::to_string(samples));
  group.own("BatchShare", at);
  impl = std::make_unique<Impl>(endOf(group), samples, norms, std::vector<int64_t>(), at);
}

BatchShare::~BatchShare() = default;

std::shared_ptr<frontend::RankEnd> endOf(const Group &group) { return group.impl->end; }

} // namespace sprig::dist
