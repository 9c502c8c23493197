// The schemas of ONNX's operators, made when they are asked for.
// For the importer. The library's own registry makes all versions of all operators at its first use, which takes longer
// than compiling a small model.
#pragma once
#include "onnx/defs/schema.h"
#include <string>

namespace sprig::onnximport {

/// The newest schema of an operator that is not newer than the opset; null when there is none. Safe for all threads;
/// schemas live as long as the process.
const onnx::OpSchema *findSchema(const std::string &op, int opset, const std::string &domain);

/// Whether there are operators of a domain at all.
bool isKnownDomain(const std::string &domain);

} // namespace sprig::onnximport
