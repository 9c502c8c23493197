// The entries of a package that --dim, --shape and --value ask for, and what it is for where --cpu does not say.
// For compile and quantize.
#pragma once
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Instruction sets of packages; the last only where a network multiplies bytes.
inline const std::vector<std::string> kPackagedCpus = {"x86-64-v3", "x86-64-v4", "x86-64-v4-vnni"};

/// Throws usage errors: a dimension without a size, a range of one that there is not.
std::vector<EntryRequest> requestEntries(const Model &model, const Settings &settings);

} // namespace sprig::cli
