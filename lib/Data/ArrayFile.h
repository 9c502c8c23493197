// Arrays from and to files: .npy, .npz, .safetensors, ONNX TensorProto (.pb); from IDX (MNIST's) and CSV files too.
// For the command line and tests. The content decides the format, not the name. Every function throws sprig::Error
// (badInput for what is malformed or missing, runtime for what cannot be written) that names the file.
#pragma once
#include "lib/Data/Array.h"
#include <filesystem>
#include <span>

namespace sprig::data {

/// All arrays of a file. Those of .npy files have no name; a .pb tensor has the name that it holds.
std::vector<Array> readArrays(const std::filesystem::path &path);
/// Throws (badInput) when an array's name has a NUL, at which readers of files end it. `file` is what the error names.
void refuseNul(const std::string &name, const std::string &file);

/// The one array of a file, or the one called `name` where the file holds several.
Array readArray(const std::filesystem::path &path, const std::string &name = "");

/// Writes the format of the name's ending (.npy one array, .npz, .safetensors, .pb one array), whole or not at all.
void writeArrays(const std::filesystem::path &path, std::span<const Array> arrays);

/// What a .npy file says of its array; the elements are what follows `start`.
struct NpyHeader {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool fortran = false; ///< column-major, and of more than one dimension
  bool swap = false;    ///< big-endian
  size_t start = 0;
};
/// From the first bytes of a file of this size, which must fit the shape.
NpyHeader parseNpyHeader(std::span<const char> bytes, int64_t fileSize, const std::string &file);

/// Format of NumPy's .npy files, version 1.0 to 3.0 (numpy.lib.format).
Array parseNpy(std::span<const char> bytes, const std::string &file);
std::vector<char> formatNpy(const Array &array);

/// https://github.com/huggingface/safetensors#format
std::vector<Array> parseSafetensors(std::span<const char> bytes, const std::string &file);
std::vector<char> formatSafetensors(std::span<const Array> arrays);
/// The same arrays where they lie in `bytes`.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::span<const char> bytes;
};
std::vector<SafetensorsEntry> parseSafetensorsEntries(std::span<const char> bytes, const std::string &file);
/// What stands in front of the arrays' bytes; looks at names, types and shapes alone.
std::string safetensorsHeader(std::span<const Array> arrays);

std::vector<Array> parseNpz(std::span<const char> bytes, const std::string &file);
std::vector<char> formatNpz(std::span<const Array> arrays);

/// http://yann.lecun.com/exdb/mnist: two zero bytes, element type, rank, dimensions and elements in big-endian order.
bool isIdx(std::span<const char> bytes);
Array parseIdx(std::span<const char> bytes, const std::string &file);

/// A table of numbers, a row a line, separated by commas, semicolons, tabs or blanks; a first line that is not numbers
/// names the columns. N rows of one column are an array of N, else N×C: of i64 when every number is an integer
/// without point or exponent, else of f32.
bool isText(std::span<const char> bytes);
Array parseCsv(std::span<const char> bytes, const std::string &file);

/// Makes the bytes of booleans 0 or 1, as programs expect them: files hold any byte.
void makeBooleans(Array &array);

/// Reverses the bytes of each element.
void swapBytes(std::span<char> bytes, int64_t elementSize);

/// A serialized onnx.TensorProto with its data inside.
Array parseTensorProto(std::span<const char> bytes, const std::string &file);
std::vector<char> formatTensorProto(const Array &array);

} // namespace sprig::data
