#include "runtime/comm/process/MessageHeader.h"

#include <cstring>

namespace sprig::rt::comm {

MessageHeader headerOf(const Position &position, uint64_t size) {
  const Call &call = position.call;
  MessageHeader header = {};
  header.magic = MessageHeader::kMagic;
  header.size = size;
  header.number = position.number;
  header.counted = position.counted;
  header.elements = uint64_t(call.elements);
  header.layout = call.layout;
  header.name = call.name;
  header.root = call.root;
  header.line = call.line;
  header.buffers = call.buffers;
  header.kind = uint8_t(call.kind);
  header.algorithm = uint8_t(call.algorithm);
  header.reduction = uint8_t(call.reduction);
  header.dtype = uint8_t(call.dtype);
  header.announces = call.announces ? uint8_t(*call.announces) + 1 : 0;
  std::string_view file = position.file;
  file = file.substr(file.size() - std::min(file.size(), sizeof header.file - 1));
  std::memcpy(header.file, file.data(), file.size());
  return header;
}

bool isSameCall(const MessageHeader &a, const MessageHeader &b) {
  return a.number == b.number && a.elements == b.elements && a.layout == b.layout && a.name == b.name &&
         a.root == b.root && a.buffers == b.buffers && a.kind == b.kind && a.algorithm == b.algorithm &&
         a.reduction == b.reduction && a.dtype == b.dtype && a.announces == b.announces;
}

Position positionOf(const MessageHeader &header) {
  Position position;
  position.file.assign(header.file, ::strnlen(header.file, sizeof header.file));
  position.number = header.number;
  position.counted = header.counted;
  position.isInside = true;
  Call &call = position.call;
  call.elements = int64_t(header.elements);
  call.layout = header.layout;
  call.name = header.name;
  call.root = header.root;
  call.line = header.line;
  call.buffers = header.buffers;
  // What no version of this one's sends is of no call that there is.
  call.kind = collective::Kind(std::min<uint8_t>(header.kind, uint8_t(collective::Kind::barrier)));
  call.algorithm =
      collective::Algorithm(std::min<uint8_t>(header.algorithm, uint8_t(collective::Algorithm::hierarchy)));
  call.reduction = Reduction(std::min<uint8_t>(header.reduction, uint8_t(Reduction::max)));
  call.dtype = sprig_rt_dtype(std::min<uint8_t>(header.dtype, SPRIG_RT_I1));
  if (header.announces)
    call.announces =
        collective::Kind(std::min<uint8_t>(uint8_t(header.announces - 1), uint8_t(collective::Kind::barrier)));
  return position;
}

} // namespace sprig::rt::comm
