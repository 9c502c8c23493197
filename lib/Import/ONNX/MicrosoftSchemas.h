// Schemas of the operators that ONNX Runtime's tools write: of domain com.microsoft, and a few of the default domain
// that ONNX itself has not, or not yet in these versions. For SchemaTable; ONNX's own library does not have them.
#pragma once
#include "onnx/defs/schema.h"
#include <string>

namespace sprig::onnximport {

inline constexpr const char *kMicrosoftDomain = "com.microsoft";

/// The schema of such an operator, or null. All came with version 1 of their domain.
const onnx::OpSchema *findMicrosoftSchema(const std::string &op, const std::string &domain);

} // namespace sprig::onnximport
