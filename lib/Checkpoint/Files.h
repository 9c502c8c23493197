// The two files of a checkpoint as bytes. For lib/Checkpoint alone.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"

namespace sprig::checkpoints {

inline constexpr char kArraysFile[] = "arrays.safetensors";
inline constexpr char kManifestFile[] = "manifest.json";
/// What a name starts with that is no checkpoint yet, or none any more.
inline constexpr char kAside[] = ".tmp-";
/// Of the folder's layout; a reader refuses a newer one by name.
inline constexpr int kFormat = 1;

uint64_t checksum(std::span<const char> bytes);

/// Writes the arrays as a safetensors file into `image`, whose memory is used again.
void formatArrays(std::span<const ArrayView> arrays, std::vector<char> &image);

std::string formatManifest(const Manifest &manifest, uint64_t arraysBytes, uint64_t arraysChecksum);
struct ManifestFile {
  Manifest manifest;
  uint64_t arraysBytes, arraysChecksum;
};
/// Throws badInput that starts with `file`.
ManifestFile parseManifest(std::span<const char> bytes, const std::string &file);

} // namespace sprig::checkpoints
