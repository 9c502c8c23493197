// FlatBuffers metadata to Program: checks that the bytes are well-formed and within bounds, not what they say.
#ifndef SPRIG_RUNTIME_LOAD_DECODE_H
#define SPRIG_RUNTIME_LOAD_DECODE_H

#include "runtime/base/Status.h"
#include "runtime/load/Program.h"

#include <span>

namespace sprig::rt::core {

// `metadata` must be 8-byte aligned.
Status decodeProgram(std::span<const uint8_t> metadata, Program &program);

} // namespace sprig::rt::core

#endif
