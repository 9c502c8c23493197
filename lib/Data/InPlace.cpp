#include "lib/Data/InPlace.h"
#include "lib/Data/ArrayFile.h"
#include <string_view>

namespace sprig::data {
namespace {

std::optional<ArrayPlace> npy(std::span<const char> bytes, const std::string &file) {
  NpyHeader header = parseNpyHeader(bytes, int64_t(bytes.size()), file);
  // Booleans of other values than 0 and 1 are made so when read.
  if (header.fortran || header.swap || header.dtype == DType::i1) return std::nullopt;
  return ArrayPlace{header.dtype, header.shape, bytes.data() + header.start};
}

} // namespace

std::optional<ArrayPlace> findInPlace(std::span<const char> bytes, const std::string &member, const std::string &file) {
  std::string_view head(bytes.data(), std::min<size_t>(bytes.size(), 16));
  if (head.starts_with("\x93NUMPY")) return member.empty() ? npy(bytes, file) : std::nullopt;
  if (head.starts_with("PK")) {
    auto found = storedMember(bytes, member + ".npy");
    return found ? npy(*found, file + "(" + member + ".npy)") : std::nullopt;
  }
  if (head.size() > 8 && head[8] == '{' && !isText(bytes))
    for (const SafetensorsEntry &entry : parseSafetensorsEntries(bytes, file))
      if (entry.name == member && entry.dtype != DType::i1)
        return ArrayPlace{entry.dtype, entry.shape, entry.bytes.data()};
  return std::nullopt;
}

} // namespace sprig::data
