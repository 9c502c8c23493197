#include "test/unit/Frontend/OnnxModels.h"
#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"

namespace sprig::onnxexport::test {

onnx::ModelProto parsed(std::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), int(bytes.size()))) throw std::runtime_error("is no ModelProto");
  return model;
}

std::string complaintsOf(const onnx::ModelProto &model) {
  try {
    onnx::checker::check_model(model);
    onnx::ModelProto copy = model;
    onnx::shape_inference::InferShapes(copy, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1,
                                                                   /*data_prop=*/true));
    return "";
  } catch (const std::exception &error) {
    return error.what();
  }
}

std::string operatorsOf(const onnx::ModelProto &model) {
  std::string text;
  for (const auto &node : model.graph().node())
    if (node.op_type() != "Constant") text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

} // namespace sprig::onnxexport::test
