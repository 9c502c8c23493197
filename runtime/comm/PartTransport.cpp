#include "runtime/comm/PartTransport.h"

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

} // namespace sprig::rt::comm
