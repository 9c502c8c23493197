// Data sets: anything that has a size and gives the sample at an index.
// For programs. A Dataset is a small handle; its samples are read from several threads at once, so get() must be const
// in fact. Nothing is read before it is asked for, except where a function says so.
#pragma once
#include "sprig/data/field.h"
#include "sprig/data/random.h"
#include <concepts>
#include <optional>
#include <string>

namespace sprig::data {

class Dataset;

/// What a data set is behind the handle; programs rather give any MapStyle class.
class SPRIG_API DatasetImpl {
public:
  virtual ~DatasetImpl();
  virtual int64_t size() const = 0;
  virtual Sample get(int64_t index, Random &random) const = 0;
  /// Types of a sample's fields where they are known without reading one; then gather() works.
  virtual std::vector<TensorType> types() const;
  /// Writes samples one after the other to the memory of each field.
  virtual void gather(std::span<const int64_t> indices, std::span<void *const> fields) const;
  /// Types other than those that it has, done where samples are read; null: it cannot, get()'s result is converted.
  virtual std::shared_ptr<const DatasetImpl> as(size_t field, const TensorType &type, bool scaleBytes) const;
};

/// A class that is a data set: `int64_t size() const` and `Sample get(int64_t) const`, or `get(int64_t, Random &)`.
template <typename T>
concept MapStyle = !std::derived_from<T, Dataset> && !std::derived_from<T, DatasetImpl> &&
                   requires(const T &set, int64_t index, Random &random) {
                     { set.size() } -> std::convertible_to<int64_t>;
                     requires requires {
                       { set.get(index) } -> std::convertible_to<Sample>;
                     } || requires {
                       { set.get(index, random) } -> std::convertible_to<Sample>;
                     };
                   };

class Dataset {
public:
  using Impl = DatasetImpl;
  explicit Dataset(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  template <MapStyle T> Dataset(T set) : Dataset(std::make_shared<const T>(std::move(set))) {}
  template <MapStyle T>
  Dataset(std::shared_ptr<T> set) : impl(std::make_shared<Held<std::remove_const_t<T>>>(std::move(set))) {}
  /// `get(index)` or `get(index, random)` gives what a Sample is made of.
  template <typename F>
    requires std::invocable<const F &, int64_t> || std::invocable<const F &, int64_t, Random &>
  Dataset(int64_t size, F get) : Dataset(Function<F>{size, std::move(get)}) {}

  int64_t size() const { return impl->size(); }
  /// Throws Error (usage) for an index out of range. Without `random`, what is random is that of seed 0, epoch 0.
  SPRIG_API Sample get(int64_t index, Source at = Source::here()) const;
  SPRIG_API Sample get(int64_t index, Random &random, Source at = Source::here()) const;

  /// These samples, in this order; indices may repeat. Throws Error (usage) for one out of range.
  SPRIG_API Dataset subset(std::vector<int64_t> indices, Source at = Source::here()) const;
  /// The samples from begin to before end.
  SPRIG_API Dataset slice(int64_t begin, int64_t end, Source at = Source::here()) const;
  /// Each sample through `transform(sample)` or `transform(sample, random)`.
  template <typename F> Dataset map(F transform) const {
    return Dataset(size(), [set = *this, transform = std::move(transform)](int64_t index, Random &random) -> Sample {
      if constexpr (std::invocable<const F &, Sample, Random &>)
        return transform(set.get(index, random, Source()), random);
      else
        return transform(set.get(index, random, Source()));
    });
  }
  /// A field in another element type, by the rules of Field::to, and in a shape of as many elements where one is given.
  SPRIG_API Dataset as(size_t field, sprig::DType type, bool scaleBytes = false, Source at = Source::here()) const;
  SPRIG_API Dataset as(size_t field, const TensorType &type, bool scaleBytes = false, Source at = Source::here()) const;

  const std::shared_ptr<const Impl> &raw() const { return impl; }

private:
  template <typename T> class Held final : public Impl {
  public:
    explicit Held(std::shared_ptr<const T> set) : set(std::move(set)) {}
    int64_t size() const override { return int64_t(set->size()); }
    Sample get(int64_t index, Random &random) const override {
      if constexpr (requires { set->get(index, random); })
        return set->get(index, random);
      else
        return set->get(index);
    }

  private:
    std::shared_ptr<const T> set;
  };
  template <typename F> struct Function {
    int64_t count;
    F call;
    int64_t size() const { return count; }
    Sample get(int64_t index, Random &random) const {
      if constexpr (std::invocable<const F &, int64_t, Random &>)
        return call(index, random);
      else
        return call(index);
    }
  };

  std::shared_ptr<const Impl> impl;
};

/// Arrays whose first dimension counts the samples, equal in number: tensors, or numbers with a shape.
class TensorDataset : public Dataset {
public:
  SPRIG_API explicit TensorDataset(std::vector<Field> fields, Source at = Source::here());
  TensorDataset(std::initializer_list<Field> fields, Source at = Source::here())
      : TensorDataset(std::vector<Field>(fields), at) {}
};

/// One data set after the other. At least one.
SPRIG_API Dataset concat(std::vector<Dataset> sets, Source at = Source::here());
/// Samples with the fields of all, side by side; equal sizes.
SPRIG_API Dataset zip(std::vector<Dataset> sets, Source at = Source::here());
/// As many samples each, in total at most all; taken in an order that the seed decides, or in order.
SPRIG_API std::vector<Dataset> split(const Dataset &set, const std::vector<int64_t> &counts,
                                     std::optional<uint64_t> seed = std::nullopt, Source at = Source::here());
/// A part (0 to 1, rounded down) and the rest: `auto [train, test] = data::split(set, 0.8, 7);`
SPRIG_API std::pair<Dataset, Dataset> split(const Dataset &set, double first,
                                            std::optional<uint64_t> seed = std::nullopt, Source at = Source::here());

} // namespace sprig::data
