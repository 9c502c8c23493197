#include "lib/Frontend/Trainer/RankLoader.h"
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

RankLoader::RankLoader(data::Loader &given, const dist::Group *group, Source at, const std::vector<int64_t> &weights,
                       bool isScaled, int64_t passes)
    : given(given) {
  const data::LoaderOptions &options = given.options();
  const int rank = group ? group->rank() : 0, ranks = group ? group->size() : 1;
  if (isScaled) times = ranks;
  const bool isShare = options.ranks == ranks && options.rank == rank;
  if (times == 1 && isShare && (ranks == 1 || (options.weights == weights && options.passes == passes))) return;
  if (options.ranks > 1 && !isShare)
    fail(at, "Trainer",
         "expected a loader of all samples or one of rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
             ", found one of rank " + std::to_string(options.rank) + " of " + std::to_string(options.ranks));
  if (ranks > 1 && options.ranks > 1 && options.passes != passes)
    fail(at, "Trainer",
         "accumulate is " + std::to_string(passes) +
             ", and the loader deals batches to ranks itself; of each pass every rank has its share, so give a loader "
             "of all samples");
  data::LoaderOptions own = options;
  own.batch *= times;
  own.weights = ranks > 1 ? weights : std::vector<int64_t>();
  own.rank = rank;
  own.ranks = ranks;
  own.passes = ranks > 1 ? passes : 1;
  own.workers = (options.workers + ranks - 1) / ranks; // those of all ranks together
  if (own.shuffle) own.shuffle = std::optional(given.seed());
  if (!own.seed) own.seed = given.seed();
  share.emplace(given.dataset(), own, at);
  data::Loader::Position position = given.position();
  share->seek(position.epoch, position.batch / times, at);
}

RankLoader::~RankLoader() {
  if (!share) return;
  // Ranks that have it in common are all at the same place.
  data::Loader::Position position = share->position();
  given.seek(position.epoch, position.batch * times, Source());
}

} // namespace sprig::frontend
