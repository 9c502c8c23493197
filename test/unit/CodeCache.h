// A folder for the code of a test program's kernels: those that it compiles again are the same, and take no time. Empty
// at first, so that a test sees what is compiled now; gone at the end.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace sprig {

inline const std::string &codeCache() {
  static const struct Folder {
    std::string path = (std::filesystem::temp_directory_path() / "sprig-test-code-XXXXXX").string();
    Folder() {
      if (!mkdtemp(path.data())) throw std::runtime_error("cannot make the folder '" + path + "'");
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } folder;
  return folder.path;
}

} // namespace sprig
