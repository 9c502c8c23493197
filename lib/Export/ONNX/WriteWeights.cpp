#include "lib/Export/ONNX/WriteWeights.h"
#include "lib/Data/File.h"
#include "onnx/onnx_pb.h"
#include "sprig/error.h"
#include <filesystem>
#include <map>

namespace sprig {
namespace {

[[noreturn]] void fail(const std::string &text) { badInput(text); }

const std::string *externalField(const onnx::TensorProto &tensor, const std::string &key) {
  for (const auto &entry : tensor.external_data())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

/// Data of other initializers that lie in a file of their own: the result stands alone.
void takeIn(onnx::TensorProto &tensor, const std::string &file, const std::string &folder) {
  const std::string *location = externalField(tensor, "location");
  if (!location) fail(file + ": initializer '" + tensor.name() + "' has external data without a location");
  auto number = [&](const char *key) {
    const std::string *text = externalField(tensor, key);
    return text ? std::stoll(*text) : -1;
  };
  int64_t offset = std::max<int64_t>(number("offset"), 0), length = number("length");
  // The importer has checked that the file lies in the model's folder.
  std::filesystem::path path = std::filesystem::path(folder) / *location;
  if (length < 0) {
    std::error_code error;
    length = int64_t(std::filesystem::file_size(path, error)) - offset;
  }
  std::vector<char> bytes = data::readPart(path, offset, length);
  tensor.set_raw_data(bytes.data(), bytes.size());
}

void clearData(onnx::TensorProto &tensor) {
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

void replace(onnx::TensorProto &tensor, const data::Array &array, const std::string &file) {
  std::vector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (shape != array.shape)
    fail(file + ": initializer '" + tensor.name() + "' is " + data::describe(array.dtype, shape) +
         " and its new value is " + data::describe(array));
  clearData(tensor);
  tensor.set_raw_data(array.bytes.data(), array.bytes.size());
}

} // namespace

std::string withWeights(std::string_view bytes, const std::string &file, const std::string &folder,
                        std::span<const data::Array> weights) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), int(bytes.size()))) fail(file + ": is no ONNX model");
  std::map<std::string, const data::Array *> byName;
  for (const data::Array &array : weights) byName[array.name] = &array;
  for (onnx::TensorProto &tensor : *model.mutable_graph()->mutable_initializer()) {
    auto found = byName.find(tensor.name());
    if (found != byName.end()) {
      replace(tensor, *found->second, file);
      byName.erase(found);
    } else if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      takeIn(tensor, file, folder);
      tensor.clear_external_data();
      tensor.clear_data_location();
    }
  }
  if (!byName.empty()) fail(file + ": has no initializer '" + byName.begin()->first + "' to take the new value");
  std::string result;
  if (!model.SerializeToString(&result))
    runtimeError(file + ": with its new weights the model is larger than ONNX files can be");
  return result;
}

} // namespace sprig
