#include "runtime/comm/Position.h"

namespace sprig::rt::comm {

using core::concat;

void Position::enter(const Call &next) {
  call = next;
  file = next.file;
  partText = next.partText;
  call.file = call.partText = "";
  isInside = true;
  // Numbers of parts' calls are none of the group's, and of two parts hardly ever the same.
  constexpr uint64_t kOfPart = uint64_t(1) << 63;
  if (call.part)
    number = ((call.part * 0x9e3779b97f4a7c15) ^ (call.partCall * 0xbf58476d1ce4e5b9)) | kOfPart;
  else
    number = ++ofGroup;
  if (!isAnnounced) ++counted;
  isAnnounced = next.announces.has_value();
}

std::string Position::callText() const {
  Call said = call;
  said.file = file.c_str();
  said.partText = partText.c_str();
  return said.text();
}

std::string Position::text(int rank) const {
  std::string text = concat("rank ", rank);
  if (isInside) return text + concat(" is at its collective ", counted, ", ", callText()).text();
  if (hasLeft) return text + concat(" has ended after ", counted, " collectives").text();
  return text + concat(" is in no collective, after ", counted).text();
}

Status differ(int rank, const Position &position, int otherRank, const Position &other) {
  if (otherRank < rank) return differ(otherRank, other, rank, position);
  std::string one = position.callText(), two = other.callText();
  return Status(SPRIG_RT_INVALID_ARGUMENT, concat("collective ", position.counted, " differs: rank ", rank, " calls ",
                                                  one, ", rank ", otherRank, " calls ", two,
                                                  one != two                              ? ""
                                                  : position.call.name != other.call.name ? ", of other tensors"
                                                                                          : ", of other shapes"));
}

Status hasEnded(int rank, const Position &position, int peer, uint64_t counted) {
  return Status(SPRIG_RT_INVALID_ARGUMENT, concat("rank ", rank, " is at ", position.callText(), ", rank ", peer,
                                                  " has ended after ", counted, " collectives"));
}

Status hasWaited(int rank, int peer, std::chrono::nanoseconds timeout, std::string_view where) {
  // Digits by hand: the C library's depend on the locale.
  int64_t ms = timeout / std::chrono::milliseconds(1);
  std::string number = std::to_string(ms / 1000), rest = std::to_string(1000 + ms % 1000).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  if (!rest.empty()) number += "." + rest;
  return Status(SPRIG_RT_TIMEOUT, concat("rank ", rank, " has waited ", number, " s for rank ", peer, ": ", where));
}

} // namespace sprig::rt::comm
