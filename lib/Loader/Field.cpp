#include "sprig/data/field.h"
#include "lib/Loader/Buffers.h"
#include "lib/Loader/Refuse.h"
#include "lib/Loader/ArraySet.h"

namespace sprig::data {

Field::Field(const TensorType &type, Source at) : itsType(type), writable(true) {
  auto bytes = byteSize(fileType(type.dtype), type.shape.vector());
  if (!bytes) refuse(at, "no array is " + sprig::describe(type));
  memory = allocateAligned(*bytes);
  capacity = paddedBytes(*bytes);
}

void Field::checkCount(int64_t count, Source at) const {
  if (count != numel())
    refuse(at, std::to_string(count) + " numbers for an array of " + sprig::describe(itsType) + ", which takes " +
                   std::to_string(numel()));
}

void Field::checkType(sprig::DType type, Source at) const {
  if (!defined()) refuse(at, "an array that was never set is read");
  if (type != itsType.dtype)
    refuse(at,
           std::string("numbers of ") + sprig::name(type) + " are asked for, the array is " + sprig::describe(itsType));
}

void Field::checkIndex(int64_t index, Source at) const {
  if (index < 0 || index >= numel())
    refuse(at, "element " + std::to_string(index) + " of an array of " + std::to_string(numel()) + " (" +
                   sprig::describe(itsType) + ")");
}

void *Field::editBytes() {
  if (!writable || memory.use_count() != 1) {
    std::shared_ptr<void> copy = allocateAligned(itsType.bytes());
    if (itsType.bytes()) std::memcpy(copy.get(), memory.get(), size_t(itsType.bytes()));
    memory = std::move(copy);
    capacity = paddedBytes(itsType.bytes());
    writable = true;
  }
  return memory.get();
}

Field Field::reshape(const Shape &shape, Source at) const {
  bool negative = false;
  for (int64_t size : shape) negative |= size < 0;
  if (negative || shape.elements() != numel())
    refuse(at, "an array of " + sprig::describe(itsType) + " has " + std::to_string(numel()) + " elements, the shape " +
                   sprig::describe(shape) +
                   (negative ? " has a negative size" : " " + std::to_string(shape.elements())));
  Field result = *this;
  result.itsType.shape = shape;
  return result;
}

Field Field::to(sprig::DType type, bool scaleBytes, Source at) const {
  if (!defined()) refuse(at, "an array that was never set is converted");
  if (type == dtype()) return *this;
  std::vector<int64_t> one = shape().vector();
  one.insert(one.begin(), 1);
  Samples source = Samples::view("an array", fileType(dtype()), one, bytes(), nullptr);
  Intake intake{fileType(type), shape().vector(), scaleBytes};
  located(at, [&] { checkFits(source, intake, "the conversion"); });
  Field result({type, shape()}, at);
  int64_t index = 0;
  gather(source, {&index, 1}, intake, result.memory.get());
  return result;
}

void Sample::check(size_t index) const {
  if (index >= fields.size())
    refuse({}, "field " + std::to_string(index) + " (from 0) of a sample that has " + std::to_string(fields.size()));
}

} // namespace sprig::data
