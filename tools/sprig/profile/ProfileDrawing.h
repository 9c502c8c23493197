// Recorded calls as a trace and as a picture: lanes, threads, devices, links, the queue and the loader.
// For sprig profile --trace and --svg.
#pragma once
#include "tools/sprig/profile/ProfileSession.h"
#include <ostream>

namespace sprig::cli {

/// All of the calls.
void writeRecordedTrace(std::ostream &out, const Runner &runner, const RecordedCalls &calls,
                        const ProfileResult &result, uint32_t entry);
/// The last few of them.
std::string recordedTimeline(const Runner &runner, const RecordedCalls &calls, const ProfileResult &result,
                             uint32_t entry, const std::string &model);

} // namespace sprig::cli
