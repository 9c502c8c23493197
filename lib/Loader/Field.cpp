#include "sprig/data/field.h"
#include "lib/Loader/Buffers.h"
#include "lib/Loader/Types.h"

namespace sprig::data {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(ErrorKind::usage, "data: " + text); }

} // namespace

Field::Field(const TensorType &type) : itsType(type), writable(true) {
  auto bytes = byteSize(fileType(type.dtype), type.shape.vector());
  if (!bytes) refuse("no array is " + sprig::describe(type));
  memory = allocateAligned(*bytes);
  capacity = paddedBytes(*bytes);
}

void Field::checkCount(int64_t count) const {
  if (count != numel())
    refuse(std::to_string(count) + " numbers for an array of " + sprig::describe(itsType) + ", which takes " +
           std::to_string(numel()));
}

void Field::checkType(sprig::DType type) const {
  if (!defined()) refuse("an array that was never set is read");
  if (type != itsType.dtype)
    refuse(std::string("numbers of ") + sprig::name(type) + " are asked for, the array is " + sprig::describe(itsType));
}

void Field::checkIndex(int64_t index) const {
  if (index < 0 || index >= numel())
    refuse("element " + std::to_string(index) + " of an array of " + std::to_string(numel()) + " (" +
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

Field Field::reshape(const Shape &shape) const {
  bool negative = false;
  for (int64_t size : shape) negative |= size < 0;
  if (negative || shape.elements() != numel())
    refuse("an array of " + sprig::describe(itsType) + " has " + std::to_string(numel()) + " elements, the shape " +
           sprig::describe(shape) + (negative ? " has a negative size" : " " + std::to_string(shape.elements())));
  Field result = *this;
  result.itsType.shape = shape;
  return result;
}

Field Field::to(sprig::DType type, bool scaleBytes) const {
  if (!defined()) refuse("an array that was never set is converted");
  if (type == dtype()) return *this;
  std::vector<int64_t> one = shape().vector();
  one.insert(one.begin(), 1);
  Samples source = Samples::view("an array", fileType(dtype()), one, bytes(), nullptr);
  Intake intake{fileType(type), shape().vector(), scaleBytes};
  checkFits(source, intake, "the conversion");
  Field result({type, shape()});
  int64_t index = 0;
  gather(source, {&index, 1}, intake, result.memory.get());
  return result;
}

void Sample::check(size_t index) const {
  if (index >= fields.size())
    refuse("field " + std::to_string(index) + " (from 0) of a sample that has " + std::to_string(fields.size()));
}

} // namespace sprig::data
