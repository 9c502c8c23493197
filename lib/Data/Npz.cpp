// NumPy's .npz: a zip archive of NAME.npy members, through libzip.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include "runtime/include/sprig/rt/utf8.hpp"
#include "runtime/machine/Machine.h"
#include <cstdlib>
#include <memory>
#include <set>
#include <zip.h>

namespace sprig::data {
namespace {

// What all members may unpack to: half of the memory that this process may take, so that there is room to compute.
// Deflate makes up to a thousand bytes of one.
zip_uint64_t mostUnpacked() { return rt::core::usableMemory() / 2; }

struct ArchiveCloser {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, ArchiveCloser>;

} // namespace

std::vector<Array> parseNpz(std::span<const char> bytes, const std::string &file) {
  auto fail = [&](const std::string &what) { badInput(file + ": not a sound .npz file: " + what); };
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  if (!archive) {
    std::string reason = zip_error_strerror(&error);
    zip_source_free(source);
    zip_error_fini(&error);
    fail(reason);
  }
  std::vector<Array> arrays;
  zip_uint64_t packed = 0, unpacked = 0;
  const zip_uint64_t most = mostUnpacked();
  for (zip_int64_t i = 0, n = zip_get_num_entries(archive.get(), 0); i < n; ++i) {
    zip_stat_t status;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_NAME;
    if (zip_stat_index(archive.get(), zip_uint64_t(i), 0, &status) != 0 || (status.valid & kNeeded) != kNeeded)
      fail("member " + std::to_string(i) + " cannot be read");
    std::string name = status.name;
    // Many members can share the same packed bytes.
    if (status.comp_size > bytes.size() - packed) fail("its members take more bytes than the file has");
    packed += status.comp_size;
    if (status.size > most - unpacked)
      runtimeError(file + ": member '" + name + "' of " + std::to_string(status.size) +
                   " bytes brings the unpacked file above the limit of " + std::to_string(most) +
                   " bytes (half of the memory that there is)");
    unpacked += status.size;
    std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> member(zip_fopen_index(archive.get(), zip_uint64_t(i), 0),
                                                              zip_fclose);
    if (!member) fail("member '" + name + "': " + zip_strerror(archive.get()));
    // Grown while reading, so that memory follows the data that is there and not a size that a member claims.
    std::vector<char> content;
    char chunk[1 << 16];
    for (zip_int64_t got; (got = zip_fread(member.get(), chunk, sizeof chunk)) != 0;) {
      if (got < 0) fail("member '" + name + "': " + zip_file_strerror(member.get()));
      // What the array's header says has to fit the size before the rest is unpacked.
      if (content.empty()) parseNpyHeader({chunk, size_t(got)}, int64_t(status.size), file + "(" + name + ")");
      if (content.size() + zip_uint64_t(got) > status.size) fail("member '" + name + "' is longer than it says");
      content.insert(content.end(), chunk, chunk + got);
    }
    if (content.size() != status.size)
      fail("member '" + name + "' has " + std::to_string(content.size()) + " bytes, expected " +
           std::to_string(status.size));
    Array array = parseNpy(content, file + "(" + name + ")");
    array.name = name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::vector<char> formatNpz(std::span<const Array> arrays) {
  auto fail = [](zip_t *archive) { runtimeError(std::string("cannot write .npz: ") + zip_strerror(archive)); };
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(target);
  std::unique_ptr<zip_source_t, void (*)(zip_source_t *)> keeper(target, zip_source_free);
  Archive archive(zip_open_from_source(target, ZIP_TRUNCATE, &error));
  if (!archive) runtimeError(std::string("cannot write .npz: ") + zip_error_strerror(&error));
  std::vector<std::vector<char>> members;
  std::set<std::string> names;
  for (const Array &array : arrays) {
    refuseNul(array.name, ".npz");
    if (!names.insert(rt::validUtf8(array.name)).second)
      badInput(".npz: two arrays are called '" + rt::validUtf8(array.name) + "'");
    members.push_back(formatNpy(array));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t *source = zip_source_buffer(archive.get(), members[i].data(), members[i].size(), 0);
    zip_int64_t index =
        source ? zip_file_add(archive.get(), (rt::validUtf8(arrays[i].name) + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8)
               : -1;
    if (index < 0) {
      zip_source_free(source);
      fail(archive.get());
    }
    // Stored as NumPy's savez does, with a fixed date: the same arrays give the same bytes.
    zip_set_file_compression(archive.get(), zip_uint64_t(index), ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive.get(), zip_uint64_t(index), 315532800, 0);
  }
  if (zip_close(archive.get()) != 0) fail(archive.get());
  archive.release();
  std::vector<char> result;
  if (zip_source_open(target) == 0) {
    zip_stat_t status;
    zip_source_stat(target, &status);
    result.resize(status.size);
    zip_int64_t got = zip_source_read(target, result.data(), result.size());
    zip_source_close(target);
    if (got == zip_int64_t(result.size())) return result;
  }
  runtimeError("cannot write .npz: the archive cannot be read back");
}

} // namespace sprig::data
