// Models of the corpus as protobuf messages.
#pragma once
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"
#include <string>

namespace sprig::fuzz {

/// Whether the bytes are a model, in ONNX's text form or binary.
inline bool readModel(const std::string &bytes, onnx::ModelProto &model) {
  if (!bytes.starts_with("<")) return model.ParseFromString(bytes);
  onnx::OnnxParser parser(bytes.c_str());
  return parser.Parse(model).IsOK();
}

} // namespace sprig::fuzz
