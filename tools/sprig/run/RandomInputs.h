// Random indices for a model's inputs: over the whole range that their use allows, which the package states.
// For run, bench and profile.
#pragma once
#include "tools/sprig/Model.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sprig::cli {

/// As fillRandom; integers of the inputs that `arrays` lacks are drawn as drawIndices does.
void fillRandom(const Runner &package, const std::vector<InputSpec> &specs, uint64_t seed,
                const std::map<std::string, int64_t> &dims, std::map<std::string, data::Array> &arrays);

/// Draws the integers of random arrays again, each evenly from those that its use in the package allows; arrays of
/// which it states none stay, and those that `files` give (NAME=FILE, or FILE for the only one). By Philox counters
/// from the seed and the input's position. What bindInputs draws before a model is compiled is 0 or 1, as it may decide
/// shapes.
void drawIndices(const Runner &package, const std::vector<std::string> &files, uint64_t seed,
                 std::map<std::string, data::Array> &arrays);

} // namespace sprig::cli
