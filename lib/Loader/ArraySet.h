// The data set of arrays in memory or in mapped files.
// For TensorDataset and the readers of files. A batch is gathered and converted in one pass.
#pragma once
#include "sprig/data/dataset.h"
#include "lib/Data/Samples.h"
#include "sprig/dtype.h"

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

// Element types of include/sprig and of lib/Data: the same numbers under two names.
static_assert(int(sprig::DType::boolean) == int(DType::i1) && int(sprig::DType::u8) == int(DType::u8) &&
              int(sprig::DType::f64) == int(DType::f64));

inline DType fileType(sprig::DType type) { return DType(int(type)); }
inline sprig::DType tensorType(DType type) { return sprig::DType(int(type)); }

/// The type of one sample, which has one dimension less than all have.
inline TensorType sampleType(const Samples &samples) {
  return {tensorType(samples.dtype()), Shape(samples.sampleShape())};
}

} // namespace sprig::data
