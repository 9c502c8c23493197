#include "lib/Checkpoint/Files.h"
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Json/Json.h"
#include "runtime/base/Hex.h"
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sprig::checkpoints {
namespace {

// The manifest's own checksum stands at its end, and is of the text with zeros in its place.
constexpr std::string_view kTail = "\"checksum\": \"", kEnd = "\"\n}\n";
constexpr size_t kDigits = 16;

std::optional<uint64_t> fromHex(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  bool sound = error == std::errc() && end == text.data() + text.size() && text.size() == kDigits;
  return sound ? std::optional(value) : std::nullopt;
}

} // namespace

uint64_t checksum(std::span<const char> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string digest(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return hexDigits(hash.high64) + hexDigits(hash.low64);
}

void formatArrays(std::span<const ArrayView> arrays, std::vector<char> &image) {
  std::vector<data::Array> heads;
  for (const ArrayView &array : arrays) {
    heads.push_back({array.name, array.dtype, array.shape, {}});
    if (byteSize(array.dtype, array.shape) != int64_t(array.bytes.size()))
      internalError("state '" + array.name + "' of " + data::describe(heads.back()) + " has " +
                    std::to_string(array.bytes.size()) + " bytes");
  }
  std::string header = data::safetensorsHeader(heads);
  size_t total = header.size();
  for (const ArrayView &array : arrays) total += array.bytes.size();
  image.resize(total);
  char *to = image.data();
  auto put = [&](const char *from, size_t size) {
    if (size) std::memcpy(to, from, size);
    to += size;
  };
  put(header.data(), header.size());
  for (const ArrayView &array : arrays) put(array.bytes.data(), array.bytes.size());
}

std::string formatManifest(const Manifest &manifest, uint64_t arraysBytes, uint64_t arraysChecksum) {
  Json json = {{"format", kFormat},
               {"step", manifest.step},
               {"epoch", manifest.epoch},
               {"index", manifest.index},
               {"seed", manifest.seed},
               {"config", manifest.configDigest},
               {"model", manifest.modelDigest}};
  if (!manifest.settings.empty()) json["settings"] = Json::parse(manifest.settings);
  json["arrays_bytes"] = arraysBytes;
  json["arrays_checksum"] = hexDigits(arraysChecksum);
  json["checksum"] = std::string(kDigits, '0');
  std::string text = json.dump(1) + "\n";
  text.replace(text.size() - kEnd.size() - kDigits, kDigits, hexDigits(checksum(text)));
  return text;
}

ManifestFile parseManifest(std::span<const char> bytes, const std::string &file) {
  auto bad = [&](const std::string &what) { return Error(ErrorKind::badInput, file + ": " + what); };
  std::string text(bytes.data(), bytes.size());
  size_t tail = kTail.size() + kDigits + kEnd.size();
  if (text.size() < tail || !text.ends_with(kEnd) || text.compare(text.size() - tail, kTail.size(), kTail) != 0)
    throw bad("is cut off: it does not end as a manifest does");
  size_t at = text.size() - kEnd.size() - kDigits;
  std::optional<uint64_t> stored = fromHex(text.substr(at, kDigits));
  text.replace(at, kDigits, kDigits, '0');
  uint64_t found = checksum(text);
  if (stored != found)
    throw bad("is damaged: its checksum is " + hexDigits(found) + ", it says " +
              std::string(bytes.data() + at, kDigits));
  try {
    Json json = parseJson(text, file);
    auto count = [&](const char *field, uint64_t most = INT64_MAX) {
      auto value = wholeNumber<uint64_t>(json.at(field));
      if (!value || *value > most) throw bad(std::string("is no manifest: '") + field + "' is no count");
      return *value;
    };
    if (uint64_t format = count("format"); format > kFormat)
      throw bad("has format " + std::to_string(format) + ", this Sprig reads up to " + std::to_string(kFormat));
    std::string arrays = json.at("arrays_checksum"), settings;
    if (auto found = json.find("settings"); found != json.end()) {
      if (!found->is_object()) throw bad("is no manifest: 'settings' is no object");
      settings = found->dump();
    }
    return {{int64_t(count("step")), int64_t(count("epoch")), int64_t(count("index")), count("seed", UINT64_MAX),
             json.at("config"), json.at("model"), settings},
            count("arrays_bytes"),
            fromHex(arrays).value()};
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw bad(std::string("is no manifest: ") + error.what());
  }
}

} // namespace sprig::checkpoints
