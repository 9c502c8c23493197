#include "lib/Data/Samples.h"
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "lib/Data/InPlace.h"
#include <algorithm>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>

namespace fs = std::filesystem;

namespace sprig::data {
namespace {

// A file's bytes in the address space, read when they are touched.
struct Mapping {
  void *address = MAP_FAILED;
  size_t size = 0;
  ~Mapping() {
    if (address != MAP_FAILED) ::munmap(address, size);
  }
  std::span<const char> bytes() const { return {static_cast<const char *>(address), size}; }
};

std::shared_ptr<Mapping> map(const fs::path &path, int64_t size) {
  auto mapping = std::make_shared<Mapping>();
  OpenFile file(path, Pipes::refused);
  if (file.size() != size) return nullptr;
  mapping->size = size_t(size);
  mapping->address = ::mmap(nullptr, mapping->size, PROT_READ, MAP_SHARED, file.handle(), 0);
  return mapping->address == MAP_FAILED ? nullptr : mapping;
}

std::vector<int64_t> withoutOnes(const std::vector<int64_t> &shape) {
  std::vector<int64_t> result;
  for (int64_t dim : shape)
    if (dim != 1) result.push_back(dim);
  return result;
}

} // namespace

Samples Samples::view(const std::string &name, DType type, const std::vector<int64_t> &shape, const void *bytes,
                      std::shared_ptr<const void> owner) {
  if (shape.empty()) badInput(name + ": holds a single number, expected samples along a first dimension");
  Samples result;
  result.source = name;
  result.type = type;
  result.dims = shape;
  for (size_t d = 1; d < shape.size(); ++d) result.elements *= shape[d];
  result.data = static_cast<const char *>(bytes);
  result.owner = std::move(owner);
  return result;
}

Samples Samples::from(Array array, const std::string &name) {
  auto kept = std::make_shared<Array>(std::move(array));
  return view(name, kept->dtype, kept->shape, kept->bytes.data(), kept);
}

Samples Samples::open(const std::string &spec, int64_t mapFrom) {
  std::string file = spec, member;
  std::error_code ignored;
  // A colon can be part of a name; what exists is a file.
  if (size_t colon = spec.rfind(':');
      colon != std::string::npos && !fs::exists(spec, ignored) && fs::exists(spec.substr(0, colon), ignored)) {
    file = spec.substr(0, colon);
    member = spec.substr(colon + 1);
  }
  return openAll(file, {member}, mapFrom)[0];
}

std::vector<Samples> Samples::openAll(const std::string &file, const std::vector<std::string> &members,
                                      int64_t mapFrom) {
  auto nameOf = [&](const std::string &member) { return member.empty() ? file : file + ":" + member; };
  std::vector<Samples> result;
  struct stat status;
  if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= mapFrom && status.st_size) {
    std::shared_ptr<Mapping> mapping = map(file, status.st_size);
    for (const std::string &member : members) {
      auto place = mapping ? findInPlace(mapping->bytes(), member, file) : std::nullopt;
      if (!place || place->shape.empty()) break;
      result.push_back(view(nameOf(member), place->dtype, place->shape, place->bytes, mapping));
    }
    if (result.size() == members.size()) return result;
    result.clear();
  }
  std::vector<Array> arrays = readArrays(file);
  std::string names;
  for (const Array &array : arrays)
    names += (names.empty() ? "" : ", ") + (array.name.empty() ? "(without a name)" : array.name);
  if (names.empty()) names = "none";
  for (const std::string &member : members) {
    bool only = member.empty() && arrays.size() == 1;
    auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Array &a) { return only || a.name == member; });
    if (found != arrays.end())
      result.push_back(std::count(members.begin(), members.end(), member) == 1 ? from(std::move(*found), nameOf(member))
                                                                               : from(*found, nameOf(member)));
    else if (member.empty())
      badInput(file + ": holds " + std::to_string(arrays.size()) + " arrays, expected one\nnote: name it, as in " +
               file + ":" + (arrays.empty() ? "NAME" : arrays[0].name) + "; there are: " + names);
    else
      badInput(file + ": has no array '" + member + "', only: " + names);
  }
  return result;
}

void checkFits(const Samples &samples, const Intake &intake, const std::string &what) {
  std::vector<int64_t> shape = samples.sampleShape();
  int64_t expected = 1;
  for (int64_t dim : intake.shape) expected *= dim;
  bool fits =
      samples.sampleElements() == expected && (withoutOnes(shape) == withoutOnes(intake.shape) ||
                                               withoutOnes(shape).size() <= 1 || withoutOnes(intake.shape).size() <= 1);
  if (!fits)
    badInput(samples.name() + ": a sample is " + describe(samples.dtype(), shape) + ", " + what + " takes " +
             describe(intake.dtype, intake.shape));
  if (isFloat(samples.dtype()) && !isFloat(intake.dtype))
    badInput(samples.name() + ": is " + std::string(name(samples.dtype())) + ", " + what + " takes integers (" +
             std::string(name(intake.dtype)) + ")");
}

void checkCounts(const Samples &x, const Samples &y) {
  for (const Samples *samples : {&x, &y})
    if (samples->count() == 0)
      badInput(samples->name() + ": holds no samples (" + describe(samples->dtype(), samples->shape()) + ")");
  if (x.count() != y.count())
    badInput(y.name() + ": holds " + std::to_string(y.count()) + " samples, " + x.name() + " holds " +
             std::to_string(x.count()));
}

} // namespace sprig::data
