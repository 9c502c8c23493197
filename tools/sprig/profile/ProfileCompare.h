// Compares two saved profiles (sprig profile --format json): time by row, by call, and whether the results agree.
#pragma once
#include "lib/Data/Array.h"
#include "tools/sprig/Report.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sprig::cli {

/// What a profile keeps of a call's output, so that a later one can tell whether it computes the same.
Json outputToJson(const data::Array &array);

/// Tells equal bytes from others, nothing more.
std::string digestOf(const std::vector<char> &bytes);

struct ProfileComparison {
  bool isSameResult = false; ///< whether outputs agree within the bound; without that there is no claim on speed
  Json json;                 ///< the same content as the text
};

/// Reads both files and prints the comparison, unless `quiet`. `bound`: of the largest output value.
ProfileComparison compareProfiles(const std::string &before, const std::string &after, double bound, bool quiet);

} // namespace sprig::cli
