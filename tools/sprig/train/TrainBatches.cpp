#include "tools/sprig/train/TrainBatches.h"
#include "lib/Loader/ArraySet.h"

namespace sprig::cli {
namespace {

data::Dataset datasetOf(const TrainData &data, const std::vector<TensorSpec> &specs) {
  std::vector<data::Samples> fields = data.inputs;
  fields.push_back(*data.targets);
  data::Dataset set = data::arrays(std::move(fields));
  for (size_t i = 0; i < specs.size(); ++i)
    set = set.as(i, {data::tensorType(specs[i].dtype), specs[i].shape}, scalesBytes(i, specs.size()), Source());
  return set;
}

} // namespace

TrainBatches::TrainBatches(const TrainData &data, const std::vector<TensorSpec> &specs,
                           const data::LoaderOptions &options)
    : loader(datasetOf(data, specs), options, Source()) {}

const data::Batch &TrainBatches::next() {
  if (at) ++*at;
  if (!at || *at == loader.end()) {
    at.reset(); // ends its epoch before another begins
    at.emplace(loader.begin());
  }
  return **at;
}

} // namespace sprig::cli
