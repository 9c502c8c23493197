// ONNX's own judgement of a model, for tests of what is exported.
#pragma once
#include "onnx/onnx_pb.h"
#include <string>
#include <string_view>

namespace sprig::onnxexport::test {

onnx::ModelProto parsed(std::string_view bytes);
/// What ONNX's checker and its strict shape inference (with types checked and data propagated) say; empty when both
/// accept the model.
std::string complaintsOf(const onnx::ModelProto &model);
/// The operators of the main graph, in order, without constants.
std::string operatorsOf(const onnx::ModelProto &model);

} // namespace sprig::onnxexport::test
