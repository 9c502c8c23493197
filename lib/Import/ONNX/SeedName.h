// The name under which the values of a model's inputs hold the seed of nodes that draw random numbers and have none of
// their own: `--value random.seed=7`. For the importer and whoever checks such values against the inputs.
#pragma once
#include <string_view>

namespace sprig {

inline constexpr std::string_view kRandomSeed = "random.seed";

} // namespace sprig
