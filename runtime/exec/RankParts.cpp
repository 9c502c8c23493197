#include "runtime/exec/RankParts.h"
#include "runtime/collective/AxisGroup.h"

namespace sprig::rt::core {

std::vector<int> Entry::groupOf(const Collective &call, int ofRank) const {
  std::vector<int64_t> sizes;
  for (const Axis &axis : mesh) sizes.push_back(axis.ranks);
  return collective::groupOf(sizes, call.axes, ofRank);
}

std::vector<std::vector<comm::RankGroup *>> partsOf(const Program &program, comm::RankGroup &group) {
  std::vector<std::vector<comm::RankGroup *>> parts(program.entries.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Entry &entry = program.entries[i];
    for (size_t k = 0; k < entry.collectives.size(); ++k) {
      const Collective &call = entry.collectives[k];
      if (call.axes.empty() || entry.ranks != uint32_t(group.ranks())) continue;
      parts[i].resize(entry.collectives.size());
      parts[i][k] = &group.partOf(entry.groupOf(call, group.rank()));
    }
  }
  return parts;
}

} // namespace sprig::rt::core
