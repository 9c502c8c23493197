#include "include/sprig/error.h"
#include "lib/Checkpoint/Files.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include <algorithm>
#include <charconv>

namespace fs = std::filesystem;

namespace sprig::checkpoints {
namespace {

constexpr std::string_view kStep = "step-";

// N of step-N, as this program writes it.
std::optional<int64_t> stepOf(const std::string &name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  std::string_view digits = std::string_view(name).substr(kStep.size());
  int64_t step = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  bool sound = error == std::errc() && end == digits.data() + digits.size() && std::to_string(step) == digits;
  return sound && step >= 0 ? std::optional(step) : std::nullopt;
}

std::vector<char> readPart(const fs::path &file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) badInput(file.string() + ": is missing");
  return data::readFile(file, data::Pipes::refused);
}

// "the newest sound one before it", or that there is none.
std::string offer(const fs::path &folder, const std::vector<int64_t> &steps) {
  for (int64_t step : steps) {
    fs::path candidate = stepFolder(folder, step);
    try {
      load(candidate);
      return "\nnote: the checkpoint before it is sound: --resume=" + candidate.string();
    } catch (const Error &) {
    }
  }
  return steps.empty() ? "\nnote: there is no other checkpoint" : "\nnote: no other checkpoint there is sound";
}

} // namespace

fs::path stepFolder(const fs::path &folder, int64_t step) {
  return folder / (std::string(kStep) + std::to_string(step));
}

std::vector<int64_t> listSteps(const fs::path &folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (auto step = stepOf(entry->path().filename().string())) steps.push_back(*step);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

Checkpoint load(const fs::path &folder) {
  fs::path manifestPath = folder / kManifestFile, arraysPath = folder / kArraysFile;
  ManifestFile file = parseManifest(readPart(manifestPath), manifestPath.string());
  std::vector<char> bytes = readPart(arraysPath);
  auto fail = [&](const std::string &what) { badInput(arraysPath.string() + ": " + what); };
  if (bytes.size() != file.arraysBytes)
    fail("is cut off: it has " + std::to_string(bytes.size()) + " bytes, the manifest says " +
         std::to_string(file.arraysBytes));
  if (checksum(bytes) != file.arraysChecksum) fail("is damaged: its checksum is not the manifest's");
  if (auto step = stepOf(folder.filename().string()); step && *step != file.manifest.step)
    badInput(manifestPath.string() + ": is of step " + std::to_string(file.manifest.step) + ", its folder is " +
             folder.filename().string());
  return {file.manifest, data::parseSafetensors(bytes, arraysPath.string())};
}

Checkpoint loadForResume(const fs::path &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    badInput(path.string() + (fs::exists(path, ignored) ? ": is a file, expected a folder of checkpoints"
                                                        : ": there is no such folder of checkpoints"));
  fs::path chosen = path, folder = path;
  // A name with a slash at its end has an empty last part.
  if (!chosen.has_filename()) chosen = chosen.parent_path();
  std::vector<int64_t> steps = listSteps(folder);
  std::optional<int64_t> own = stepOf(chosen.filename().string());
  if (own && steps.empty()) {
    folder = chosen.has_parent_path() ? chosen.parent_path() : fs::path(".");
    steps = listSteps(folder);
    std::erase_if(steps, [&](int64_t step) { return step >= *own; });
  } else if (steps.empty()) {
    badInput(path.string() + ": holds no checkpoint (step-N)");
  } else {
    chosen = stepFolder(folder, steps.front());
    steps.erase(steps.begin());
  }
  try {
    return load(chosen);
  } catch (const Error &error) {
    throw Error(error.kind(), error.what() + offer(folder, steps));
  }
}

} // namespace sprig::checkpoints
