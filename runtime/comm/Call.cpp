#include "runtime/comm/Call.h"
#include "runtime/base/Status.h"
#include "runtime/format/Types.h"

namespace sprig::rt::comm {

bool reduces(collective::Kind kind) {
  return kind == collective::Kind::allReduce || kind == collective::Kind::reduceScatter ||
         kind == collective::Kind::reduce;
}

bool Call::matches(const Call &other) const {
  return kind == other.kind && algorithm == other.algorithm && reduction == other.reduction && dtype == other.dtype &&
         root == other.root && elements == other.elements && layout == other.layout && buffers == other.buffers &&
         name == other.name && announces == other.announces;
}

std::string Call::text() const {
  std::string text(nameOf(announces.value_or(kind)));
  if (kind != collective::Kind::barrier && !announces) {
    text += " of ";
    if (buffers > 1) text += core::concat(buffers, " buffers, ");
    text += core::concat(elements, " ", core::dtypeName(dtype), " (");
    if (reduces(kind)) text.append(nameOf(reduction)).append(", ");
    text.append(nameOf(algorithm));
    if (collective::isRooted(kind)) text += core::concat(", root ", root);
    text += ")";
  }
  if (*partText) text += core::concat(" of ", partText);
  if (*file) text += core::concat(" at ", file, ":", line);
  return text;
}

} // namespace sprig::rt::comm
