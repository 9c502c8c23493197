// Lists in messages: the first few of many, so that no message is as long as what it is about.
// For importers and the command line.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace sprig::data {

/// "a, b and 3 more"
inline std::string listed(const std::vector<std::string> &names, size_t most = 6, const char *between = ", ") {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i ? between : "") + names[i];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

} // namespace sprig::data
