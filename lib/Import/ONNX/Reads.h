// What a node reads.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "onnx/onnx_pb.h"
#include <string>

namespace sprig::onnximport {

/// Calls `visit` with every name that the node reads, those of the graphs in its attributes included when they come
/// from outside of them.
void forEachRead(const onnx::NodeProto &node, llvm::function_ref<void(const std::string &)> visit);

} // namespace sprig::onnximport
