// What a model will take of memory, from its plan alone: no code is generated.
// For inspect --memory and its search for the largest batch.
#pragma once
#include "tools/sprig/profile/MemoryReport.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Compiles up to the plan of memory. Threads: as the settings say, else the machine's default.
MemoryNeeds memoryNeeds(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings);

/// The largest batch whose total() stays within the limit, by doubling and bisection, at most 2^20: `entry` with
/// `symbol` bound to it. Throws when not even 1 fits.
int64_t largestBatch(const Model &model, EntryRequest entry, const std::string &symbol, const Settings &settings,
                     uint64_t limit);

} // namespace sprig::cli
