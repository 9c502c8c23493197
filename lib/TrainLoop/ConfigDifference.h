// In what a configuration differs from the one that something was made with. For errors of the training loop's doors.
#pragma once
#include "lib/Json/Json.h"
#include <string>

namespace sprig::training {

/// The first field that differs, by its path: "optimizer.lr is 0.1 there, 0.5 here"; empty where none does. The last
/// two say where each is.
std::string firstDifference(const Json &there, const Json &here, const std::string &path = "",
                            const std::string &thereText = "there", const std::string &hereText = "here");

} // namespace sprig::training
