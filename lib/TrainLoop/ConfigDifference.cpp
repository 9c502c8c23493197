#include "lib/TrainLoop/ConfigDifference.h"

namespace sprig::training {

std::string firstDifference(const Json &there, const Json &here, const std::string &path, const std::string &thereText,
                            const std::string &hereText) {
  auto name = [&](const std::string &field) { return path.empty() ? field : path + "." + field; };
  for (auto &[field, value] : here.items()) {
    auto found = there.find(field);
    if (found == there.end()) return name(field) + " is absent " + thereText + ", " + value.dump() + " " + hereText;
    if (*found == value) continue;
    if (found->is_object() && value.is_object())
      return firstDifference(*found, value, name(field), thereText, hereText);
    return name(field) + " is " + found->dump() + " " + thereText + ", " + value.dump() + " " + hereText;
  }
  for (auto &[field, value] : there.items())
    if (!here.contains(field)) return name(field) + " is " + value.dump() + " " + thereText + ", absent " + hereText;
  return "";
}

} // namespace sprig::training
