#include "tools/sprig/profile/StepLoader.h"
#include <algorithm>

namespace sprig::cli {
namespace {

// An epoch begins with a wait; a long one has few.
constexpr int64_t kBatches = 1024, kMaxLoadedSamples = 1 << 20;

} // namespace

StepLoader::StepLoader(const LoaderFlags &flags, const std::map<std::string, data::Array> &arrays) {
  std::optional<int64_t> batch;
  for (const auto &[name, array] : arrays)
    if (!array.shape.empty() && !batch) batch = array.shape[0];
  std::vector<data::Field> fields;
  for (const auto &[name, array] : arrays) {
    if (array.shape.empty() || array.shape[0] != *batch || *batch == 0) continue;
    names.push_back(name);
    auto kept = std::make_shared<const data::Array>(array);
    fields.push_back(data::Field::view(kept->bytes.data(), {sprig::DType(array.dtype), array.shape}, kept));
  }
  if (fields.empty()) badUse("--workers, --prefetch, --io-delay: the entry has no input with samples to load");
  std::vector<int64_t> order(
      size_t(std::max<int64_t>(*batch, std::min(*batch * kBatches, kMaxLoadedSamples / *batch * *batch))));
  for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(i) % *batch;
  data::LoaderOptions chosen = loaderOptions(flags);
  chosen.batch = *batch;
  loader =
      std::make_unique<data::Loader>(data::TensorDataset(std::move(fields)).subset(std::move(order)), chosen, Source());
}

void StepLoader::next(PreparedCall &call) {
  if (at) ++*at;
  if (!at || *at == loader->end()) at.emplace(loader->begin());
  const data::Batch &batch = **at;
  for (size_t i = 0; i < names.size(); ++i) call.read(names[i], batch.host(i).bytes());
}

int64_t StepLoader::ahead() const {
  const data::LoaderOptions &options = loader->options();
  return int64_t(options.workers) * options.prefetch + 1;
}

} // namespace sprig::cli
