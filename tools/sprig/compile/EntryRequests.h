// The entries of a package that --dim, --shape and --value ask for.
// For compile and quantize.
#pragma once
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Throws usage errors: a dimension without a size, a range of one that there is not.
std::vector<EntryRequest> requestEntries(const Model &model, const Settings &settings);

} // namespace sprig::cli
