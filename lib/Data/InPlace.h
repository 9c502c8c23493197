// Arrays where they lie in a file: what can be used from a mapping without being read.
// For Samples. What has to be changed first (compressed, in another byte order) is left to the readers of ArrayFile.h.
#pragma once
#include "lib/Data/Array.h"
#include <optional>
#include <span>

namespace sprig::data {

struct ArrayPlace {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  const char *bytes = nullptr;
};

/// The array of a .npy file, or the one called `member` of a .npz or .safetensors file. No alignment is promised.
/// Throws sprig::Error (badInput) for a header that is not sound.
std::optional<ArrayPlace> findInPlace(std::span<const char> bytes, const std::string &member, const std::string &file);

/// The bytes of a member of a zip archive that is neither compressed nor encrypted (APPNOTE.TXT 6.3, with Zip64).
std::optional<std::span<const char>> storedMember(std::span<const char> archive, const std::string &name);

} // namespace sprig::data
