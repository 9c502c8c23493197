// A folder that is there as long as a test, and what is in a file. For tests of trainers.
#pragma once
#include "lib/Data/File.h"
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace sprig {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sprig-trainer-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

inline std::string textOf(const std::filesystem::path &path) {
  std::vector<char> bytes = data::readFile(path);
  return {bytes.begin(), bytes.end()};
}

} // namespace sprig
