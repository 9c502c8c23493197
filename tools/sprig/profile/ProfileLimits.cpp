#include "tools/sprig/profile/ProfileLimits.h"
#include "tools/sprig/profile/CommandLimits.h"

namespace sprig::cli {

void setLimits(ProfileResult &result, const Runner &runner, const machine::ProductRates &rates) {
  CommandLimits limits(runner, rates);
  for (ProfileRow &row : result.rows) {
    if (row.lane < 0 || (row.kind != "dispatch" && row.kind != "copy")) continue;
    row.limitNs = limits.commandNs(row.entry, uint32_t(row.lane), row.command, row.wasCut ? result.threads : 1);
    double sum = 0;
    for (ProfilePart &part : row.parts)
      sum += part.share = limits.partNs(row.entry, part.flops, part.bytes, part.factors);
    for (ProfilePart &part : row.parts) part.share = sum > 0 ? part.share / sum : 1.0 / double(row.parts.size());
  }
}

} // namespace sprig::cli
