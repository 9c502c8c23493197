// The data set of arrays in memory or in mapped files.
// For TensorDataset and the readers of files. A batch is gathered and converted in one pass.
#pragma once
#include "lib/Loader/Types.h"
#include "sprig/data/dataset.h"

namespace sprig::data {

class ArraySet final : public Dataset::Impl {
public:
  /// Throws Error (badInput) unless all have the same number of samples.
  explicit ArraySet(std::vector<Samples> fields);

  int64_t size() const override { return count; }
  Sample get(int64_t index, Random &random) const override;
  std::vector<TensorType> types() const override;
  void gather(std::span<const int64_t> indices, std::span<void *const> fields) const override;
  std::shared_ptr<const DatasetImpl> as(size_t field, const TensorType &type, bool scaleBytes) const override;

private:
  struct Part {
    Samples samples;
    Intake intake;
    TensorType type; ///< of a sample, as the intake makes it
  };
  std::vector<Part> parts;
  int64_t count = 0;
};

/// A data set of these arrays.
Dataset arrays(std::vector<Samples> fields);

} // namespace sprig::data
