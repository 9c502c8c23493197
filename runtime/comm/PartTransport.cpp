#include "runtime/comm/PartTransport.h"
#include "runtime/comm/RankGroup.h"

#include <algorithm>

namespace sprig::rt::comm {

PartTransport::PartTransport(Transport &whole, std::vector<int> given, uint64_t number)
    : whole(whole), members(std::move(given)), number(number) {
  own = int(std::find(members.begin(), members.end(), whole.rank()) - members.begin());
  for (size_t i = 0; i < members.size(); ++i)
    text += core::concat(i == 0 ? "" : i + 1 == members.size() ? " and " : ", ", members[i]);
  text = core::concat(members.size() == 1 ? "rank " : "ranks ", text);
}

Status PartTransport::begin(const Call &given) {
  Call call = given;
  // Parts of parts are parts of the whole: the innermost says which.
  if (!call.part) {
    call.part = number;
    call.partCall = ++calls;
    call.partText = text.c_str();
  }
  return whole.begin(call);
}

// Numbered by who they are, apart from those that are numbered by hand: calls of one part are counted on, whichever
// program they are of.
RankGroup &RankGroup::partOf(const std::vector<int> &members) {
  std::lock_guard lock(partsMutex);
  for (const auto &[who, part] : parts)
    if (who == members) return *part;
  uint64_t number = 0x9216d5d98979fb1b ^ transport.partNumber();
  for (int member : members) number = (number ^ uint64_t(member)) * 0x9e3779b97f4a7c15 + 1;
  auto made = std::make_shared<PartTransport>(transport, members, number | 1);
  auto &part = parts.emplace_back(members, over(made, *made)).second;
  part->isUsed = isUsed;
  return *part;
}

} // namespace sprig::rt::comm
