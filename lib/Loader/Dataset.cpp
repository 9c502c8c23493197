#include "sprig/data/dataset.h"
#include "lib/Data/Batches.h"
#include "lib/Loader/Refuse.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <numeric>

namespace sprig::data {

using Impl = Dataset::Impl;
using ImplPtr = std::shared_ptr<const Impl>;

namespace {

class Subset final : public Impl {
public:
  Subset(ImplPtr set, std::vector<int64_t> chosen) : set(std::move(set)), chosen(std::move(chosen)) {}
  int64_t size() const override { return int64_t(chosen.size()); }
  Sample get(int64_t index, Random &random) const override { return set->get(chosen[size_t(index)], random); }
  std::vector<TensorType> types() const override { return set->types(); }
  void gather(std::span<const int64_t> indices, std::span<void *const> fields) const override {
    std::vector<int64_t> inner;
    for (int64_t index : indices) inner.push_back(chosen[size_t(index)]);
    set->gather(inner, fields);
  }
  ImplPtr as(size_t field, const TensorType &type, bool scaleBytes) const override {
    ImplPtr inner = set->as(field, type, scaleBytes);
    return inner ? std::make_shared<const Subset>(inner, chosen) : nullptr;
  }

private:
  ImplPtr set;
  std::vector<int64_t> chosen;
};

class Concat final : public Impl {
public:
  explicit Concat(std::vector<ImplPtr> sets) : sets(std::move(sets)) {
    for (const ImplPtr &set : this->sets) ends.push_back((ends.empty() ? 0 : ends.back()) + set->size());
  }
  int64_t size() const override { return ends.back(); }
  Sample get(int64_t index, Random &random) const override {
    size_t part = partOf(index);
    return sets[part]->get(index - begin(part), random);
  }
  std::vector<TensorType> types() const override {
    std::vector<TensorType> all = sets[0]->types();
    for (const ImplPtr &set : sets)
      if (set->types() != all) return {};
    return all;
  }
  void gather(std::span<const int64_t> indices, std::span<void *const> fields) const override {
    std::vector<TensorType> all = types();
    std::vector<void *> at(fields.begin(), fields.end());
    std::vector<int64_t> inner;
    for (size_t i = 0; i < indices.size(); i += inner.size()) {
      size_t part = partOf(indices[i]);
      inner.clear();
      for (size_t j = i; j < indices.size() && partOf(indices[j]) == part; ++j)
        inner.push_back(indices[j] - begin(part));
      sets[part]->gather(inner, at);
      for (size_t f = 0; f < at.size(); ++f)
        at[f] = static_cast<char *>(at[f]) + int64_t(inner.size()) * all[f].bytes();
    }
  }
  ImplPtr as(size_t field, const TensorType &type, bool scaleBytes) const override {
    std::vector<ImplPtr> inner;
    for (const ImplPtr &set : sets) {
      inner.push_back(set->as(field, type, scaleBytes));
      if (!inner.back()) return nullptr;
    }
    return std::make_shared<const Concat>(std::move(inner));
  }

private:
  std::vector<ImplPtr> sets;
  std::vector<int64_t> ends;
  size_t partOf(int64_t index) const {
    return size_t(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
  }
  int64_t begin(size_t part) const { return part ? ends[part - 1] : 0; }
};

class Zip final : public Impl {
public:
  explicit Zip(std::vector<ImplPtr> sets) : sets(std::move(sets)) {}
  int64_t size() const override { return sets[0]->size(); }
  Sample get(int64_t index, Random &random) const override {
    Sample sample;
    for (const ImplPtr &set : sets)
      for (const Field &field : set->get(index, random)) sample.push_back(field);
    return sample;
  }
  std::vector<TensorType> types() const override {
    std::vector<TensorType> all;
    for (const ImplPtr &set : sets) {
      std::vector<TensorType> these = set->types();
      if (these.empty()) return {};
      all.insert(all.end(), these.begin(), these.end());
    }
    return all;
  }
  void gather(std::span<const int64_t> indices, std::span<void *const> fields) const override {
    size_t first = 0;
    for (const ImplPtr &set : sets) {
      size_t count = set->types().size();
      set->gather(indices, fields.subspan(first, count));
      first += count;
    }
  }
  ImplPtr as(size_t field, const TensorType &type, bool scaleBytes) const override {
    for (size_t s = 0; s < sets.size(); ++s) {
      size_t count = sets[s]->types().size();
      if (count == 0) return nullptr; // which set has this field is not known without a sample
      if (field < count) {
        std::vector<ImplPtr> inner = sets;
        inner[s] = sets[s]->as(field, type, scaleBytes);
        return inner[s] ? std::make_shared<const Zip>(std::move(inner)) : nullptr;
      }
      field -= count;
    }
    return nullptr;
  }

private:
  std::vector<ImplPtr> sets;
};

// Converts what any other data set gives.
class Converted final : public Impl {
public:
  Converted(ImplPtr set, size_t field, sprig::DType type, std::optional<Shape> shape, bool scaleBytes)
      : set(std::move(set)), field(field), type(type), shape(shape), scaleBytes(scaleBytes) {}
  int64_t size() const override { return set->size(); }
  Sample get(int64_t index, Random &random) const override {
    Sample sample = set->get(index, random);
    Field converted = sample[field].to(type, scaleBytes, Source());
    sample[field] = shape ? converted.reshape(*shape, Source()) : converted;
    return sample;
  }

private:
  ImplPtr set;
  size_t field;
  sprig::DType type;
  std::optional<Shape> shape;
  bool scaleBytes;
};

Dataset converted(const ImplPtr &set, size_t field, sprig::DType type, std::optional<Shape> shape, bool scaleBytes,
                  Source at) {
  std::vector<TensorType> types = set->types();
  if (!types.empty()) {
    if (field >= types.size())
      refuse(at, "field " + std::to_string(field) + " (from 0) of samples that have " + std::to_string(types.size()));
    ImplPtr inner = located(at, [&] { return set->as(field, {type, shape.value_or(types[field].shape)}, scaleBytes); });
    if (inner) return Dataset(inner);
  }
  return Dataset(std::make_shared<const Converted>(set, field, type, shape, scaleBytes));
}

std::vector<ImplPtr> implsOf(const std::vector<Dataset> &sets, const char *what, Source at) {
  if (sets.empty()) refuse(at, std::string(what) + " of no data sets");
  std::vector<ImplPtr> impls;
  for (const Dataset &set : sets) impls.push_back(set.raw());
  return impls;
}

} // namespace

DatasetImpl::~DatasetImpl() = default;
std::vector<TensorType> DatasetImpl::types() const { return {}; }
void DatasetImpl::gather(std::span<const int64_t>, std::span<void *const>) const {
  internalError("data: a data set of unknown types was asked for several samples at once");
}
ImplPtr DatasetImpl::as(size_t, const TensorType &, bool) const { return nullptr; }

Sample Dataset::get(int64_t index, Source at) const {
  Random random(0, 0, index);
  return get(index, random, at);
}

Sample Dataset::get(int64_t index, Random &random, Source at) const {
  if (index < 0 || index >= size())
    refuse(at, "sample " + std::to_string(index) + " of a data set of " + std::to_string(size()));
  return impl->get(index, random);
}

Dataset Dataset::subset(std::vector<int64_t> indices, Source at) const {
  int64_t count = size();
  for (int64_t index : indices)
    if (index < 0 || index >= count)
      refuse(at, "subset: sample " + std::to_string(index) + " of a data set of " + std::to_string(count));
  return Dataset(std::make_shared<const Subset>(impl, std::move(indices)));
}

Dataset Dataset::slice(int64_t begin, int64_t end, Source at) const {
  if (begin < 0 || end < begin || end > size())
    refuse(at, "slice: samples " + std::to_string(begin) + " to " + std::to_string(end) + " of a data set of " +
                   std::to_string(size()));
  std::vector<int64_t> indices(size_t(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return subset(std::move(indices), at);
}

Dataset Dataset::as(size_t field, sprig::DType type, bool scaleBytes, Source at) const {
  return converted(impl, field, type, std::nullopt, scaleBytes, at);
}
Dataset Dataset::as(size_t field, const TensorType &type, bool scaleBytes, Source at) const {
  return converted(impl, field, type.dtype, type.shape, scaleBytes, at);
}

Dataset concat(std::vector<Dataset> sets, Source at) {
  return Dataset(std::make_shared<const Concat>(implsOf(sets, "concat", at)));
}

Dataset zip(std::vector<Dataset> sets, Source at) {
  std::vector<ImplPtr> impls = implsOf(sets, "zip", at);
  for (size_t i = 1; i < impls.size(); ++i)
    if (impls[i]->size() != impls[0]->size())
      refuse(at, "zip: data set " + std::to_string(i) + " has " + std::to_string(impls[i]->size()) +
                     " samples, data set 0 has " + std::to_string(impls[0]->size()));
  return Dataset(std::make_shared<const Zip>(std::move(impls)));
}

std::vector<Dataset> split(const Dataset &set, const std::vector<int64_t> &counts, std::optional<uint64_t> seed,
                           Source at) {
  int64_t total = 0;
  for (int64_t count : counts) {
    if (count < 0 || count > set.size() - total)
      refuse(at, "split: parts of " + std::to_string(total) + " and " + std::to_string(count) +
                     " samples of a data set of " + std::to_string(set.size()));
    total += count;
  }
  std::vector<int64_t> order(size_t(set.size()));
  if (seed)
    shuffledOrder(*seed, 0, order);
  else
    std::iota(order.begin(), order.end(), int64_t(0));
  std::vector<Dataset> parts;
  auto next = order.begin();
  for (int64_t count : counts) {
    parts.push_back(set.subset({next, next + count}, at));
    next += count;
  }
  return parts;
}

std::pair<Dataset, Dataset> split(const Dataset &set, double first, std::optional<uint64_t> seed, Source at) {
  if (!(first >= 0 && first <= 1)) refuse(at, "split: a part of " + decimal::shortest(first) + ", expected 0 to 1");
  auto count = int64_t(first * double(set.size()) + 1e-6); // 0.29 of 100 are 29
  std::vector<Dataset> parts = split(set, {count, set.size() - count}, seed, at);
  return {parts[0], parts[1]};
}

} // namespace sprig::data
