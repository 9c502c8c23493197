// What a model is: a package, ONNX, or MLIR text or bytecode. The content decides, not the file's name.
// For every door that takes models: the command line, whose first half has no compiler, and the JIT.
#pragma once
#include <string>
#include <string_view>

namespace sprig {

enum class ModelKind { package, onnx, mlir };

/// Whether a package begins like this; eight bytes are enough.
bool isPackage(std::string_view content);

/// Throws badInput, which `name` begins, for what is no model: nothing at all, a Git LFS pointer to one, text without
/// a function or a program. What is none of these is taken for ONNX, whose parser says what is wrong.
ModelKind modelKind(std::string_view content, const std::string &name);

/// Where the external data of a model file are: its folder.
std::string folderOfModel(const std::string &path);

} // namespace sprig
