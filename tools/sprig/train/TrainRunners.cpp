#include "tools/sprig/train/TrainRunners.h"

namespace sprig::cli {

LoadedTraining loadTraining(const Model &model, TrainRequest request, int here, Settings settings,
                            RunnerOptions options, const std::vector<int> &threads) {
  auto takeThreads = [&](size_t rank) {
    if (!threads.empty()) settings.threads = options.threads = threads[rank];
  };
  takeThreads(0);
  LoadedTraining loaded{compileTraining(model, request, settings, {"native"}), {}};
  request.announce = false;
  request.bucketBytes = loaded.compiled.bucketBytes; // as the first one chose
  request.turn = loaded.compiled.turn;
  request.collectives = loaded.compiled.collectives;
  loaded.runners.push_back(Runner::load(std::move(loaded.compiled.package), model.path, options));
  bool isOfAnyRank = TrainProgram::isOfAnyRank(loaded.runners.front());
  while (int(loaded.runners.size()) < here) {
    ++request.rank;
    takeThreads(loaded.runners.size());
    options.pinBehind(loaded.runners.back().threads());
    loaded.runners.push_back(
        isOfAnyRank ? loaded.runners.front().another(options)
                    : Runner::load(compileTraining(model, request, settings, {"native"}).package, model.path, options));
  }
  return loaded;
}

void joinAsThreads(std::vector<Runner> &runners) {
  auto groups = threadsAsRanks(int(runners.size()));
  for (size_t rank = 0; rank < runners.size(); ++rank) runners[rank].join(groups[rank]);
}

} // namespace sprig::cli
