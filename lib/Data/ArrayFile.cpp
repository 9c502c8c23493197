#include "lib/Data/ArrayFile.h"
#include "include/sprig/error.h"
#include "lib/Data/File.h"
#include "lib/Data/Holders.h"

namespace sprig::data {

std::vector<Array> readArrays(const std::filesystem::path &path) {
  std::vector<char> bytes = readFile(path);
  std::string file = path.string();
  std::string_view head(bytes.data(), std::min<size_t>(bytes.size(), 16));
  if (bytes.empty()) badInput(file + ": the file is empty");
  if (head.starts_with("\x93NUMPY")) return {parseNpy(bytes, file)};
  if (head.starts_with("PK")) return parseNpz(bytes, file);
  if (isIdx(bytes)) return {parseIdx(bytes, file)};
  if (head.size() > 8 && head[8] == '{' && !isText(bytes)) return parseSafetensors(bytes, file);
  if (isText(bytes)) return {parseCsv(bytes, file)};
  return {parseTensorProto(bytes, file)};
}

Array readArray(const std::filesystem::path &path, const std::string &name) {
  std::vector<Array> arrays = readArrays(path);
  if (arrays.size() == 1) return std::move(arrays.front());
  for (Array &array : arrays)
    if (array.name == name) return std::move(array);
  std::string names;
  for (const Array &array : arrays) names += (names.empty() ? "" : ", ") + array.name;
  badInput(path.string() + ": has no array '" + name + "', only: " + (names.empty() ? "none" : names));
}

Stored readStored(const std::filesystem::path &path, Holder holder) {
  if (holder == Holder::tensor) return {{readArray(path)}};
  std::vector<char> bytes = readFile(path);
  return parseStored(bytes, holder, path.string());
}

void writeArrays(const std::filesystem::path &path, std::span<const Array> arrays) {
  std::string ending = path.extension();
  bool single = ending == ".npy" || ending == ".pb";
  if (single && arrays.size() != 1) badUse(path.string() + ": holds one array, not " + std::to_string(arrays.size()));
  if (ending == ".npy")
    writeFile(path, formatNpy(arrays[0]));
  else if (ending == ".pb")
    writeFile(path, formatTensorProto(arrays[0]));
  else if (ending == ".npz")
    writeFile(path, formatNpz(arrays));
  else if (ending == ".safetensors")
    writeFile(path, formatSafetensors(arrays));
  else
    badUse(path.string() + ": expected the ending .npy, .npz, .safetensors or .pb");
}

} // namespace sprig::data
