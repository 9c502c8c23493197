// ONNX TensorProto, SequenceProto and OptionalProto files, as the ONNX project's test data stores inputs and outputs.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/Holders.h"
#include "lib/Data/Packed.h"
#include <cstring>
#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>
#include <optional>
#include <type_traits>

namespace sprig::data {
namespace {

using onnx::TensorProto;
constexpr std::pair<int, DType> kProtoTypes[] = {
    {TensorProto::DOUBLE, DType::f64},    {TensorProto::FLOAT, DType::f32},  {TensorProto::FLOAT16, DType::f16},
    {TensorProto::BFLOAT16, DType::bf16}, {TensorProto::INT64, DType::i64},  {TensorProto::INT32, DType::i32},
    {TensorProto::INT16, DType::i16},     {TensorProto::INT8, DType::i8},    {TensorProto::UINT64, DType::u64},
    {TensorProto::UINT32, DType::u32},    {TensorProto::UINT16, DType::u16}, {TensorProto::UINT8, DType::u8},
    {TensorProto::BOOL, DType::i1}};

// Types that Sprig only stores: bytes of codes, or of values where they are signed.
struct NarrowRow {
  int code;
  DType dtype;
  unsigned bits;
};
constexpr NarrowRow kNarrowTypes[] = {
    {TensorProto::FLOAT8E4M3FN, DType::u8, 8}, {TensorProto::FLOAT8E4M3FNUZ, DType::u8, 8},
    {TensorProto::FLOAT8E5M2, DType::u8, 8},   {TensorProto::FLOAT8E5M2FNUZ, DType::u8, 8},
    {TensorProto::FLOAT8E8M0, DType::u8, 8},   {TensorProto::FLOAT4E2M1, DType::u8, 4},
    {TensorProto::UINT4, DType::u8, 4},        {TensorProto::INT4, DType::i8, 4},
    {TensorProto::UINT2, DType::u8, 2},        {TensorProto::INT2, DType::i8, 2}};

// The bytes of a narrow tensor, a byte for each element.
std::vector<char> readNarrow(const TensorProto &proto, const NarrowRow &row, int64_t count, const std::string &what) {
  std::string packed = proto.raw_data();
  if (!proto.has_raw_data())
    for (int value : proto.int32_data()) {
      if (value < 0 || value > 255) badInput(what + " has an element beyond a byte");
      packed.push_back(char(value));
    }
  if (int64_t(packed.size()) != packedBytes(count, row.bits))
    badInput(what + " takes " + std::to_string(packedBytes(count, row.bits)) + " bytes, has " +
             std::to_string(packed.size()));
  return unpack({packed.data(), packed.size()}, count, row.bits, row.dtype == DType::i8);
}

// Typed fields hold small types in wider elements; the first that its own type does not hold.
template <typename Wide> std::optional<int> narrow(const google::protobuf::RepeatedField<Wide> &field, Array &array) {
  int64_t step = size(array.dtype), bits = 8 * step;
  bool isSigned = array.dtype == DType::i32 || array.dtype == DType::i16 || array.dtype == DType::i8;
  for (int i = 0; i < field.size(); ++i) {
    Wide value = field[i];
    if constexpr (std::is_integral_v<Wide>)
      if (bits < int64_t(8 * sizeof(Wide))) {
        Wide least = isSigned ? Wide(-(Wide(1) << (bits - 1))) : 0, count = Wide(1) << (bits - isSigned);
        if (value < least || value >= count) return i;
      }
    std::memcpy(array.bytes.data() + i * step, &value, size_t(step));
  }
  return std::nullopt;
}

Array arrayOf(const TensorProto &proto, const std::string &file) {
  auto fail = [&](const std::string &what) { badInput(file + ": " + what); };
  Array array;
  array.name = proto.name();
  const auto *type = std::find_if(std::begin(kProtoTypes), std::end(kProtoTypes),
                                  [&](auto &t) { return t.first == proto.data_type(); });
  const auto *narrowed = std::find_if(std::begin(kNarrowTypes), std::end(kNarrowTypes),
                                      [&](auto &row) { return row.code == proto.data_type(); });
  bool isNarrow = narrowed != std::end(kNarrowTypes);
  if (type == std::end(kProtoTypes) && !isNarrow) {
    std::string typeName = TensorProto::DataType_IsValid(proto.data_type())
                               ? TensorProto::DataType_Name(TensorProto::DataType(proto.data_type()))
                               : std::to_string(proto.data_type());
    unsupported(file + ": tensor '" + proto.name() + "' has the element type " + typeName +
                ", which Sprig does not support");
  }
  if (proto.data_location() == TensorProto::EXTERNAL)
    fail("tensor '" + proto.name() + "' keeps its data in another file");
  array.dtype = isNarrow ? narrowed->dtype : type->second;
  array.shape.assign(proto.dims().begin(), proto.dims().end());
  auto expected = byteSize(array.dtype, array.shape);
  if (!expected) fail("tensor '" + proto.name() + "' has the impossible shape " + describe(array));
  if (isNarrow) {
    array.bytes =
        readNarrow(proto, *narrowed, *expected, file + ": tensor '" + proto.name() + "' of " + describe(array));
    return array;
  }
  auto check = [&](int64_t got) {
    if (got != *expected / size(array.dtype))
      fail("tensor '" + proto.name() + "' of " + describe(array) + " has " + std::to_string(got) + " elements");
  };
  if (proto.has_raw_data()) {
    if (int64_t(proto.raw_data().size()) != *expected)
      fail("tensor '" + proto.name() + "' of " + describe(array) + " takes " + std::to_string(*expected) +
           " bytes, has " + std::to_string(proto.raw_data().size()));
    array.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
    makeBooleans(array);
    return array;
  }
  int64_t count = array.dtype == DType::f64                                ? proto.double_data_size()
                  : array.dtype == DType::f32                              ? proto.float_data_size()
                  : array.dtype == DType::i64                              ? proto.int64_data_size()
                  : array.dtype == DType::u64 || array.dtype == DType::u32 ? proto.uint64_data_size()
                                                                           : proto.int32_data_size();
  check(count);
  array.bytes.resize(size_t(*expected));
  std::optional<int> wrong;
  switch (array.dtype) {
  case DType::f64: wrong = narrow(proto.double_data(), array); break;
  case DType::f32: wrong = narrow(proto.float_data(), array); break;
  case DType::i64: wrong = narrow(proto.int64_data(), array); break;
  case DType::u64:
  case DType::u32: wrong = narrow(proto.uint64_data(), array); break;
  default: wrong = narrow(proto.int32_data(), array); break;
  }
  if (wrong)
    fail("tensor '" + proto.name() + "' of " + describe(array) + ": element " + std::to_string(*wrong) +
         " is beyond its type");
  makeBooleans(array);
  return array;
}

template <typename Proto> bool parse(std::span<const char> bytes, Proto &proto) {
  return bytes.size() <= INT32_MAX && proto.ParseFromArray(bytes.data(), int(bytes.size()));
}

} // namespace

Array parseTensorProto(std::span<const char> bytes, const std::string &file) {
  TensorProto proto;
  if (!parse(bytes, proto) || proto.data_type() == 0)
    badInput(file + ": not an array: neither .npy, .npz, safetensors, IDX, CSV nor an ONNX TensorProto");
  return arrayOf(proto, file);
}

Stored parseStored(std::span<const char> bytes, Holder holder, const std::string &file) {
  auto fail = [&](const std::string &what) {
    badInput(file + ": " + what + "; expected an ONNX " + (isOptional(holder) ? "OptionalProto" : "SequenceProto") +
             " with " + (isSequence(holder) ? "tensors" : "a tensor"));
  };
  Stored stored;
  auto takeAll = [&](const onnx::SequenceProto &sequence) {
    using onnx::SequenceProto;
    if (sequence.elem_type() != SequenceProto::TENSOR && sequence.elem_type() != SequenceProto::UNDEFINED)
      fail("holds a sequence of other things than tensors");
    for (const TensorProto &tensor : sequence.tensor_values()) stored.arrays.push_back(arrayOf(tensor, file));
  };
  if (!isOptional(holder)) {
    onnx::SequenceProto sequence;
    if (!parse(bytes, sequence)) fail("is no such message");
    takeAll(sequence);
    return stored;
  }
  onnx::OptionalProto optional;
  if (!parse(bytes, optional)) fail("is no such message");
  if (optional.elem_type() == onnx::OptionalProto::UNDEFINED) {
    stored.isPresent = false;
  } else if (isSequence(holder)) {
    if (!optional.has_sequence_value()) fail("holds no sequence");
    takeAll(optional.sequence_value());
  } else {
    if (!optional.has_tensor_value()) fail("holds no tensor");
    stored.arrays.push_back(arrayOf(optional.tensor_value(), file));
  }
  return stored;
}

std::vector<char> formatTensorProto(const Array &array) {
  TensorProto proto;
  proto.set_name(array.name);
  for (auto &[code, dtype] : kProtoTypes)
    if (dtype == array.dtype) proto.set_data_type(code);
  for (int64_t dim : array.shape) proto.add_dims(dim);
  proto.set_raw_data(array.bytes.data(), array.bytes.size());
  std::string text = proto.SerializeAsString();
  return {text.begin(), text.end()};
}

} // namespace sprig::data
