// Arrays from and to files: .npy, .npz, .safetensors, and ONNX TensorProto (.pb).
// For the command line and tests. The content decides the format, not the name. Every function throws sprig::Error
// (badInput for what is malformed or missing, runtime for what cannot be written) that names the file.
#pragma once
#include "lib/Data/Array.h"
#include <filesystem>
#include <span>

namespace sprig::data {

/// All arrays of a file. Those of .npy files have no name; a .pb tensor has the name that it holds.
std::vector<Array> readArrays(const std::filesystem::path &path);

/// The one array of a file, or the one called `name` where the file holds several.
Array readArray(const std::filesystem::path &path, const std::string &name = "");

/// Writes the format of the name's ending (.npy one array, .npz, .safetensors, .pb one array), whole or not at all.
void writeArrays(const std::filesystem::path &path, std::span<const Array> arrays);

/// Format of NumPy's .npy files, version 1.0 to 3.0 (numpy.lib.format).
Array parseNpy(std::span<const char> bytes, const std::string &file);
std::vector<char> formatNpy(const Array &array);

/// https://github.com/huggingface/safetensors#format
std::vector<Array> parseSafetensors(std::span<const char> bytes, const std::string &file);
std::vector<char> formatSafetensors(std::span<const Array> arrays);

std::vector<Array> parseNpz(std::span<const char> bytes, const std::string &file);
std::vector<char> formatNpz(std::span<const Array> arrays);

/// A serialized onnx.TensorProto with its data inside.
Array parseTensorProto(std::span<const char> bytes, const std::string &file);
std::vector<char> formatTensorProto(const Array &array);

} // namespace sprig::data
