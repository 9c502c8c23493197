// A folder for the code of a test program's kernels: those that it compiles again are the same, and take no time. Empty
// at first, so that a test sees what is compiled now; gone at the end.
#pragma once
#include "test/unit/Folder.h"

namespace sprig {

inline const std::string &codeCache() {
  static const Folder folder;
  return folder.path.native();
}

} // namespace sprig
