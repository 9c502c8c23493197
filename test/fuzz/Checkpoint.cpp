// Checkpoint folders. An input is a manifest, a zero byte, and the arrays' file. It is read as it is, and once more
// with checksums that fit, so that what they cover is read too.
#include "lib/Checkpoint/Files.h"
#include "lib/Data/File.h"
#include "test/fuzz/TextMutator.h"
#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace sprig;
using namespace sprig::fuzz;
namespace fs = std::filesystem;

namespace {

/// A folder of this process, in memory where the system has such a place.
class Folder {
public:
  Folder()
      : path(fs::path(fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) /
             ("sprig-fuzz-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  const fs::path path;
};

void write(const fs::path &file, std::span<const char> bytes) {
  FILE *out = std::fopen(file.c_str(), "wb");
  require(out && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size(), "the fuzzer can write its files");
  std::fclose(out);
}

/// The manifest with the checksum that its text has.
std::string mended(std::string text) {
  size_t digits = 16, end = 4; // "\n}\n after them
  if (text.size() < digits + end) return text;
  size_t at = text.size() - end - digits;
  text.replace(at, digits, digits, '0');
  char sum[17];
  std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(checkpoints::checksum(text)));
  return text.replace(at, digits, sum);
}

void load(const fs::path &folder, std::span<const char> manifest, std::span<const char> arrays) {
  write(folder / checkpoints::kManifestFile, manifest);
  write(folder / checkpoints::kArraysFile, arrays);
  accepts([&] {
    for (const data::Array &array : checkpoints::load(folder).arrays)
      require(data::byteSize(array.dtype, array.shape) == int64_t(array.bytes.size()), "an array has its bytes");
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  auto file = chars(data, size);
  auto zero = std::find(file.begin(), file.end(), 0);
  std::string manifest = mended({file.begin(), zero});
  auto arrays = zero == file.end() ? std::span<const char>() : file.subspan(size_t(zero - file.begin()) + 1);
  load(folder.path, {file.begin(), zero}, arrays);
  accepts([&] {
    checkpoints::ManifestFile read = checkpoints::parseManifest(manifest, "manifest.json");
    std::string text = checkpoints::formatManifest(read.manifest, arrays.size(), checkpoints::checksum(arrays));
    require(checkpoints::parseManifest(text, "again.json").manifest == read.manifest,
            "a manifest that is written reads back the same");
    load(folder.path, text, arrays);
  });
  return 0;
}

// The manifest's words, or the bytes of the arrays.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  static const std::string_view words[] = {"{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e300", "0"};
  Choices choose(seed);
  size_t zero = size_t(std::find(data, data + size, 0) - data);
  if (zero == size || choose.oneIn(8)) return LLVMFuzzerMutate(data, size, maxSize);
  if (choose.oneIn(2)) return zero + 1 + LLVMFuzzerMutate(data + zero + 1, size - zero - 1, maxSize - zero - 1);
  std::string text(reinterpret_cast<char *>(data), zero), rest(reinterpret_cast<char *>(data) + zero, size - zero);
  text = mutateText(text, words, choose) + rest;
  size_t length = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), length);
  return length;
}
