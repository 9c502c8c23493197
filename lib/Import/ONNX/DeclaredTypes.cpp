// What a file declares of its values (graph outputs, value_info) against what the import finds them to be.
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

/// "batchx10", as far as it is declared.
static std::string declaredText(const onnx::TensorShapeProto &shape) {
  if (shape.dim_size() == 0) return "a scalar";
  std::string text;
  for (const auto &dim : shape.dim()) {
    text += text.empty() ? "" : "x";
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      text += std::to_string(dim.dim_value());
    else
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text;
}

void Importer::checkDeclared(const onnx::ValueInfoProto &declared, const Item &item, const std::string &label) {
  if (!declared.type().has_tensor_type()) return;
  const auto &type = declared.type().tensor_type();
  bool isOutput = label.starts_with("output ");
  std::string place = model.file + (isOutput ? ": " : ":") + label + (isOutput ? " is" : ", which is");
  if (type.elem_type() != 0 && type.elem_type() != dataTypeOf(item))
    badInput(place + " declared as " + dataTypeName(type.elem_type()) + ", but the graph makes " + itemText(item));
  if (!type.has_shape()) return;
  // Symbols are names that exporters and people give; only sizes say something.
  IntsRef shape = Emit::shape(item.value);
  bool hasRank = size_t(type.shape().dim_size()) == shape.size(), fits = hasRank;
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const auto &dim = type.shape().dim(int(i));
    bool isOfData = item.counted && item.counted->axis == int64_t(i);
    fits = !dim.has_dim_value() || dim.dim_value() < 0 || dim.dim_value() == shape[i] || isOfData;
  }
  if (fits) return;
  std::string text = place + " declared as " + declaredText(type.shape()) + ", but the graph makes " + itemText(item);
  // Sizes are what tools for shape inference wrote, which are wrong about some pools, or those of the sizes that a
  // model was exported with. No dimensions at all is also how some files say that they do not know.
  if (!isOpen && !hasRank && type.shape().dim_size() > 0) badInput(text);
  if (warn && warned.insert(declared.name()).second) warn(text);
}

} // namespace sprig::onnximport
