// A folder that is there as long as a test, and what is in a file.
#pragma once
#include "lib/Data/File.h"
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace sprig {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sprig-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make the folder '" + name + "'");
    path = name;
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

inline std::string textOf(const std::filesystem::path &path) {
  std::vector<char> bytes = data::readFile(path);
  return {bytes.begin(), bytes.end()};
}

} // namespace sprig
