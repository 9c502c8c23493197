#include "lib/TrainLoop/MetricsFile.h"

namespace sprig::training {

MetricsFile::MetricsFile(Loop &loop, const std::filesystem::path &path, std::optional<int64_t> resumeStep)
    : loop(loop), writer(std::in_place, path, resumeStep), earlier(writer->kept()) {
  if (!earlier.empty()) loop.goOnAt(earlier.back().seconds);
}

} // namespace sprig::training
