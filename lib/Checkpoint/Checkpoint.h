// Checkpoints of a training run: a folder with a subfolder step-N for each of the last few.
//   step-N/arrays.safetensors   parameters, running statistics, optimizer state, counters, by name
//   step-N/manifest.json        where the run stood, what it was a run of, checksums of both files
// A step-N is written aside, synced and renamed, so one that is there is whole whenever the process was killed; what
// the disk did to it later, the checksums find. Throws sprig::Error (badInput, or runtime when writing fails).
#pragma once
#include "lib/Data/Array.h"
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sprig::checkpoints {

struct Manifest {
  int64_t step = 0;  ///< steps done
  int64_t epoch = 0; ///< where the next step's samples start
  int64_t index = 0;
  uint64_t seed = 0;
  std::string configDigest, modelDigest; ///< of what must be the same for the same bits
  /// What of it the configuration is, a JSON object: for errors, which name what differs. Empty where nobody says.
  std::string settings;
  bool operator==(const Manifest &) const = default;
};

struct Checkpoint {
  Manifest manifest;
  std::vector<data::Array> arrays;
};

/// An array that is somewhere else, in the State of a running program.
struct ArrayView {
  std::string name;
  data::DType dtype;
  std::vector<int64_t> shape;
  std::span<const char> bytes;
};

/// Hexadecimal XXH3 (128 bits) of text or of a file, for the manifest's digests.
std::string digest(std::string_view bytes);

/// The steps that a folder has a step-N of, newest first; none for a folder that is not there.
std::vector<int64_t> listSteps(const std::filesystem::path &folder);
std::filesystem::path stepFolder(const std::filesystem::path &folder, int64_t step);

/// Reads one step-N, and refuses it with the reason when a file is missing, cut off or changed.
Checkpoint load(const std::filesystem::path &stepFolder);

/// Reads what a run is to go on from: `path` is a step-N, or the folder with them, whose newest counts. Where that one
/// is damaged, the error says why and names the newest sound one before it, for the user to choose.
Checkpoint loadForResume(const std::filesystem::path &path);

} // namespace sprig::checkpoints
