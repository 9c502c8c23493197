#include "tools/sprig/train/ConfigDifference.h"

namespace sprig::cli {

std::string firstDifference(const Json &there, const Json &here, const std::string &path) {
  auto name = [&](const std::string &field) { return path.empty() ? field : path + "." + field; };
  for (auto &[field, value] : here.items()) {
    auto found = there.find(field);
    if (found == there.end()) return name(field) + " is absent there, " + value.dump() + " here";
    if (*found == value) continue;
    if (found->is_object() && value.is_object()) return firstDifference(*found, value, name(field));
    return name(field) + " is " + found->dump() + " there, " + value.dump() + " here";
  }
  for (auto &[field, value] : there.items())
    if (!here.contains(field)) return name(field) + " is " + value.dump() + " there, absent here";
  return "";
}

} // namespace sprig::cli
