// What comes before each message between processes: the call that it is of, so that ranks at different calls are told.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_MESSAGEHEADER_H
#define SPRIG_RUNTIME_COMM_PROCESS_MESSAGEHEADER_H

#include "runtime/comm/Position.h"

namespace sprig::rt::comm {

struct MessageHeader {
  static constexpr uint64_t kMagic = 0x534d475249525053; // "SPRIRGMS"
  uint64_t magic, size;
  uint64_t number, counted, elements, layout, name;
  int32_t root, line;
  uint32_t buffers;
  uint8_t kind, algorithm, reduction, dtype;
  uint8_t announces; // a kind plus 1; 0: none
  char file[95];     // the end of its name, terminated
};

MessageHeader headerOf(const Position &position, uint64_t size);
// Whether both are of one call of all ranks.
bool isSameCall(const MessageHeader &a, const MessageHeader &b);
Position positionOf(const MessageHeader &header);

} // namespace sprig::rt::comm

#endif
