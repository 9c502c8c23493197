#include "lib/Loader/ArraySet.h"
#include "lib/Loader/Refuse.h"

namespace sprig::data {

ArraySet::ArraySet(std::vector<Samples> fields) {
  if (fields.empty()) badUse("data: a data set of no arrays");
  count = fields[0].count();
  for (Samples &samples : fields) {
    if (samples.count() != count)
      badInput(samples.name() + ": holds " + std::to_string(samples.count()) + " samples, " + fields[0].name() +
               " holds " + std::to_string(count));
    Intake intake{samples.dtype(), samples.sampleShape(), false};
    TensorType type = sampleType(samples);
    parts.push_back({samples, std::move(intake), type});
  }
}

std::vector<TensorType> ArraySet::types() const {
  std::vector<TensorType> result;
  for (const Part &part : parts) result.push_back(part.type);
  return result;
}

Sample ArraySet::get(int64_t index, Random &) const {
  Sample sample;
  for (const Part &part : parts) {
    const char *at = part.samples.bytes() + index * part.type.bytes();
    // Arrays of a mapped file lie where they lie.
    bool aligned = reinterpret_cast<uintptr_t>(at) % uintptr_t(sprig::size(part.type.dtype)) == 0;
    if (part.intake.dtype == part.samples.dtype() && aligned) {
      sample.push_back(Field::view(at, part.type, part.samples.owned()));
      continue;
    }
    Field field(part.type, Source());
    data::gather(part.samples, {&index, 1}, part.intake, field.editBytes());
    sample.push_back(std::move(field));
  }
  return sample;
}

void ArraySet::gather(std::span<const int64_t> indices, std::span<void *const> fields) const {
  for (size_t f = 0; f < parts.size(); ++f) data::gather(parts[f].samples, indices, parts[f].intake, fields[f]);
}

std::shared_ptr<const DatasetImpl> ArraySet::as(size_t field, const TensorType &type, bool scaleBytes) const {
  const Part &old = parts[field];
  // Two conversions in a row are not always one: let the second see what the first one made.
  if (old.intake.dtype != old.samples.dtype()) return nullptr;
  auto result = std::make_shared<ArraySet>(*this);
  Part &part = result->parts[field];
  part.intake = {fileType(type.dtype), type.shape.vector(), scaleBytes};
  part.type = type;
  checkFits(part.samples, part.intake, "field " + std::to_string(field));
  return result;
}

Dataset arrays(std::vector<Samples> fields) { return Dataset(std::make_shared<const ArraySet>(std::move(fields))); }

TensorDataset::TensorDataset(std::vector<Field> fields, Source at)
    : Dataset(located(at, [&] {
        std::vector<Samples> all;
        for (size_t f = 0; f < fields.size(); ++f) {
          Field &field = fields[f];
          std::string name = "array " + std::to_string(f);
          if (!field.defined() || field.shape().empty())
            badUse(
                "data: " + name + " of a data set " +
                (field.defined() ? "is a single number, expected samples along a first dimension" : "was never set"));
          auto kept = std::make_shared<const Field>(std::move(field));
          all.push_back(Samples::view(name, fileType(kept->dtype()), kept->shape().vector(), kept->bytes(), kept));
        }
        return arrays(std::move(all));
      })) {}

} // namespace sprig::data
