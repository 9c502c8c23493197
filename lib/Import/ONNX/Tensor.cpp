#include "lib/Import/ONNX/Tensor.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Data/File.h"
#include "lib/Data/Packed.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include <cstring>
#include <filesystem>
#include <type_traits>
#include <utility>

using namespace mlir;

namespace sprig::onnximport {

namespace {
struct DataTypeRow {
  int dataType;
  const char *name, *schemaName;
};
constexpr DataTypeRow kDataTypes[] = {
    {onnx::TensorProto::FLOAT, "f32", "tensor(float)"},        {onnx::TensorProto::UINT8, "ui8", "tensor(uint8)"},
    {onnx::TensorProto::INT8, "i8", "tensor(int8)"},           {onnx::TensorProto::UINT16, "ui16", "tensor(uint16)"},
    {onnx::TensorProto::INT16, "i16", "tensor(int16)"},        {onnx::TensorProto::INT32, "i32", "tensor(int32)"},
    {onnx::TensorProto::INT64, "i64", "tensor(int64)"},        {onnx::TensorProto::BOOL, "i1", "tensor(bool)"},
    {onnx::TensorProto::FLOAT16, "f16", "tensor(float16)"},    {onnx::TensorProto::DOUBLE, "f64", "tensor(double)"},
    {onnx::TensorProto::UINT32, "ui32", "tensor(uint32)"},     {onnx::TensorProto::UINT64, "ui64", "tensor(uint64)"},
    {onnx::TensorProto::BFLOAT16, "bf16", "tensor(bfloat16)"},
};
} // namespace

Type elementType(MLIRContext *context, int dataType) {
  auto integer = [&](unsigned width, bool isSigned) -> Type {
    return IntegerType::get(context, width, isSigned ? IntegerType::Signless : IntegerType::Unsigned);
  };
  switch (dataType) {
  case onnx::TensorProto::FLOAT: return Float32Type::get(context);
  case onnx::TensorProto::DOUBLE: return Float64Type::get(context);
  case onnx::TensorProto::FLOAT16: return Float16Type::get(context);
  case onnx::TensorProto::BFLOAT16: return BFloat16Type::get(context);
  case onnx::TensorProto::BOOL: return integer(1, true);
  case onnx::TensorProto::INT8: return integer(8, true);
  case onnx::TensorProto::INT16: return integer(16, true);
  case onnx::TensorProto::INT32: return integer(32, true);
  case onnx::TensorProto::INT64: return integer(64, true);
  case onnx::TensorProto::UINT8: return integer(8, false);
  case onnx::TensorProto::UINT16: return integer(16, false);
  case onnx::TensorProto::UINT32: return integer(32, false);
  case onnx::TensorProto::UINT64: return integer(64, false);
  default: return {};
  }
}

int dataTypeOf(Type type) {
  for (const DataTypeRow &row : kDataTypes)
    if (elementType(type.getContext(), row.dataType) == type) return row.dataType;
  return 0;
}

std::string dataTypeName(int dataType) {
  for (const DataTypeRow &row : kDataTypes)
    if (row.dataType == dataType) return row.name;
  if (dataType == 0) return "undefined";
  std::string name = onnx::TensorProto::DataType_IsValid(dataType)
                         ? onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(dataType))
                         : "type " + std::to_string(dataType);
  for (char &c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::string schemaTypeName(Type type) {
  for (const DataTypeRow &row : kDataTypes)
    if (elementType(type.getContext(), row.dataType) == type) return row.schemaName;
  return "?";
}

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size == 0) return 0;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count;
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "a scalar" : text;
}

namespace {

class Reader {
public:
  Reader(MLIRContext *context, const Model &model, const onnx::TensorProto &tensor, const std::string &what,
         int64_t maxBytes)
      : context(context), model(model), tensor(tensor), what(what), maxBytes(maxBytes) {}

  RankedTensorType type() {
    int dataType = tensor.data_type();
    if (dataType == 0 || !onnx::TensorProto::DataType_IsValid(dataType))
      fail(ErrorKind::badInput, "has element type " + std::to_string(dataType) + " (" + dataTypeName(dataType) +
                                    "), which is no type of a tensor");
    shape.assign(tensor.dims().begin(), tensor.dims().end());
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] < 0)
        fail(ErrorKind::badInput, "has size " + std::to_string(shape[i]) + " in dimension " + std::to_string(i) +
                                      "; sizes are not negative");
    if (shape.size() > 64)
      fail(ErrorKind::unsupported, "has rank " + std::to_string(shape.size()) + "; the limit is 64");
    Type element = storageType(context, dataType);
    narrow = narrowType(dataType);
    if (!element)
      fail(ErrorKind::unsupported, "has element type " + dataTypeName(dataType) + ", which Sprig does not have");
    if (tensor.has_segment()) fail(ErrorKind::unsupported, "is a segment of a tensor");
    elementBytes = storageBytes(element);
    std::optional<int64_t> elements = countElements(shape);
    if (!elements || *elements > std::numeric_limits<int64_t>::max() / elementBytes)
      fail(ErrorKind::badInput, "has shape " + shapeText(shape) + ", whose size in bytes does not fit in 63 bits");
    count = *elements;
    bytes = narrow ? data::packedBytes(count, narrow->bits) : count * elementBytes;
    return RankedTensorType::get(shape, element);
  }

  ElementsAttr value(std::shared_ptr<const void> owner) {
    RankedTensorType tensorType = type();
    checkData();
    bool isBits = tensorType.getElementType().isInteger(1);
    bool isPacked = narrow && narrow->bits < 8;
    if (owner && tensor.has_raw_data() && !isBits && !isPacked)
      return ir::makeConstant(tensorType, llvm::ArrayRef(tensor.raw_data().data(), tensor.raw_data().size()),
                              std::move(owner));
    std::vector<char> data;
    if (isExternal())
      data = external();
    else if (tensor.has_raw_data())
      data.assign(tensor.raw_data().begin(), tensor.raw_data().end());
    else
      data = typed();
    if (isPacked) data = data::unpack(data, count, narrow->bits, narrow->isSigned);
    if (isBits)
      for (char &byte : data) byte = byte != 0;
    return ir::makeConstant(tensorType, std::move(data));
  }

  /// Checks that the data is there and has the type's size, without reading it.
  void checkData() {
    if (tensor.has_raw_data() && (isExternal() || typedFields() > 0))
      fail(ErrorKind::badInput, "has raw data and also other data");
    if (isExternal()) {
      locate();
    } else if (tensor.has_raw_data()) {
      checkBytes("raw data has ", int64_t(tensor.raw_data().size()));
    } else {
      if (typedFields() > 1) fail(ErrorKind::badInput, "has data in several fields");
      int64_t got = tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
                    tensor.double_data_size() + tensor.uint64_data_size() + tensor.string_data_size();
      if (got != fieldElements())
        fail(ErrorKind::badInput,
             "does not fit its data: " + need() + ", but it has " + std::to_string(got) + " elements");
      checkLimit();
    }
  }

private:
  [[noreturn]] void fail(ErrorKind kind, const std::string &text) { model.fail(kind, what + " " + text); }
  /// Typed fields have an element for each packed byte.
  int64_t fieldElements() const { return narrow && narrow->bits < 8 ? bytes : count; }
  bool isExternal() const { return tensor.data_location() == onnx::TensorProto::EXTERNAL; }

  std::string need() {
    return "shape " + shapeText(shape) + " of " + dataTypeName(tensor.data_type()) + " takes " + std::to_string(bytes) +
           " bytes (" + std::to_string(count) + " elements of " + std::to_string(elementBytes) + ")";
  }

  void checkBytes(const std::string &source, int64_t got) {
    if (got != bytes)
      fail(ErrorKind::badInput, "does not fit its data: " + need() + ", its " + source + std::to_string(got));
    checkLimit();
  }
  void checkLimit() {
    if (bytes > maxBytes)
      fail(ErrorKind::unsupported,
           "takes " + std::to_string(bytes) + " bytes; the limit is " + std::to_string(maxBytes));
  }

  int typedFields() {
    return (tensor.float_data_size() > 0) + (tensor.int32_data_size() > 0) + (tensor.int64_data_size() > 0) +
           (tensor.double_data_size() > 0) + (tensor.uint64_data_size() > 0) + (tensor.string_data_size() > 0);
  }

  template <typename Stored, typename Field> std::vector<char> convert(const Field &field, const char *name) {
    if (field.size() != fieldElements())
      fail(ErrorKind::badInput,
           "does not fit its data: " + need() + ", its " + name + " has " + std::to_string(field.size()) + " elements");
    std::vector<char> data(size_t(field.size()) * sizeof(Stored));
    char *out = data.data();
    for (auto element : field) {
      if constexpr (std::is_integral_v<Stored>)
        if (!std::in_range<Stored>(element))
          fail(ErrorKind::badInput, "has element " + std::to_string(element) + " in its " + name + ", which " +
                                        dataTypeName(tensor.data_type()) + " does not hold");
      Stored stored = static_cast<Stored>(element);
      std::memcpy(out, &stored, sizeof stored);
      out += sizeof stored;
    }
    return data;
  }

  std::vector<char> typed() {
    switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT: return convert<float>(tensor.float_data(), "float_data");
    case onnx::TensorProto::DOUBLE: return convert<double>(tensor.double_data(), "double_data");
    case onnx::TensorProto::INT64: return convert<int64_t>(tensor.int64_data(), "int64_data");
    case onnx::TensorProto::UINT64: return convert<uint64_t>(tensor.uint64_data(), "uint64_data");
    case onnx::TensorProto::UINT32: return convert<uint32_t>(tensor.uint64_data(), "uint64_data");
    case onnx::TensorProto::INT32: return convert<int32_t>(tensor.int32_data(), "int32_data");
    case onnx::TensorProto::INT16: return convert<int16_t>(tensor.int32_data(), "int32_data");
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16: return convert<uint16_t>(tensor.int32_data(), "int32_data");
    case onnx::TensorProto::INT8: return convert<int8_t>(tensor.int32_data(), "int32_data");
    default: return convert<uint8_t>(tensor.int32_data(), "int32_data");
    }
  }

  int64_t number(const std::string &key, const std::string &text) {
    int64_t value = 0;
    for (char c : text) {
      if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, c - '0', &value))
        fail(ErrorKind::badInput, "has external data with " + key + " '" + text + "', which is no number of bytes");
    }
    return value;
  }

  /// Where external data lies: path and first byte, checked against the file.
  std::pair<std::string, int64_t> locate() {
    std::string location;
    int64_t offset = 0;
    std::optional<int64_t> length;
    for (const auto &entry : tensor.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") offset = number("offset", entry.value());
      if (entry.key() == "length") length = number("length", entry.value());
    }
    if (location.empty()) fail(ErrorKind::badInput, "has external data without a location");
    // What opens files would read up to it.
    if (size_t at = location.find('\0'); at != std::string::npos)
      fail(ErrorKind::badInput, "has external data at a location with a NUL after '" + location.substr(0, at) + "'");
    std::string path = insideFolder(location);
    if (length) checkBytes("external data in '" + location + "' has ", *length);
    checkLimit();
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      fail(ErrorKind::badInput,
           "lies in '" + location + "', which is not a file in the model's folder '" + model.folder + "'");
    int64_t size = int64_t(std::filesystem::file_size(path, error));
    if (error) fail(ErrorKind::badInput, "lies in '" + location + "', which cannot be read: " + error.message());
    if (offset > size || bytes > size - offset)
      fail(ErrorKind::badInput, "takes " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                                    " of '" + location + "', which has " + std::to_string(size) + " bytes");
    return {path, offset};
  }

  std::vector<char> external() {
    auto [path, offset] = locate();
    try {
      return data::readPart(path, offset, bytes);
    } catch (const Error &error) {
      fail(ErrorKind::badInput, std::string("lies in a file that cannot be read: ") + error.what());
    }
  }

  /// The resolved path, every symbolic link followed: it lies in the model's folder, or in that of the file itself
  /// where the model is a link to it (caches keep models so), where it is looked for, too.
  std::string insideFolder(const std::string &location) {
    namespace fs = std::filesystem;
    if (model.folder.empty())
      fail(ErrorKind::badInput, "lies in '" + location + "', but a model from memory has no folder");
    std::error_code error, ignored;
    fs::path root = fs::weakly_canonical(model.folder, error);
    fs::path real = fs::canonical(root / fs::path(model.file).filename(), ignored).parent_path();
    fs::path target = error ? fs::path() : fs::weakly_canonical(root / location, error);
    if (error) fail(ErrorKind::badInput, "lies in '" + location + "', which cannot be resolved: " + error.message());
    if (!real.empty() && !fs::exists(target, ignored))
      if (fs::path beside = fs::canonical(real / location, ignored); !beside.empty()) target = beside;
    auto isIn = [&](const fs::path &folder) {
      return !folder.empty() &&
             std::mismatch(folder.begin(), folder.end(), target.begin(), target.end()).first == folder.end();
    };
    if (!isIn(root) && !isIn(real))
      fail(ErrorKind::badInput,
           "lies in '" + location + "', which is outside of the model's folder '" + model.folder + "'");
    return target.string();
  }

  MLIRContext *context;
  const Model &model;
  const onnx::TensorProto &tensor;
  const std::string &what;
  int64_t maxBytes;
  const NarrowType *narrow = nullptr;
  SmallVector<int64_t> shape;
  int64_t elementBytes = 0, count = 0, bytes = 0;
};

} // namespace

ElementsAttr readTensor(MLIRContext *context, const Model &model, const onnx::TensorProto &tensor,
                        const std::string &what, int64_t maxBytes, std::shared_ptr<const void> owner) {
  return Reader(context, model, tensor, what, maxBytes).value(std::move(owner));
}

std::shared_ptr<const void> ownerOf(const Model &model) {
  std::shared_ptr<const Model> self = model.self.lock();
  return self.get() == &model ? self : nullptr;
}

RankedTensorType readTensorType(MLIRContext *context, const Model &model, const onnx::TensorProto &tensor,
                                const std::string &what, int64_t maxBytes) {
  Reader reader(context, model, tensor, what, maxBytes);
  RankedTensorType type = reader.type();
  reader.checkData();
  return type;
}

} // namespace sprig::onnximport
