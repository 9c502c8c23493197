// A collective that a rank has come to.
#ifndef SPRIG_RUNTIME_COMM_CALL_H
#define SPRIG_RUNTIME_COMM_CALL_H

#include "runtime/collective/Collective.h"
#include "runtime/comm/Reduction.h"

#include <optional>
#include <string>

namespace sprig::rt::comm {

// A collective that a rank has come to: what all ranks have to agree on, and the caller's line. Its texts are the
// caller's: who keeps a call longer keeps copies of them (Position.h).
struct Call {
  collective::Kind kind = collective::Kind::allReduce;
  collective::Algorithm algorithm = collective::Algorithm::ring;
  Reduction reduction = Reduction::sum;
  sprig_rt_dtype dtype = SPRIG_RT_F32;
  int32_t root = 0;
  // What the next three say of the buffers is filled in by who runs the call.
  int64_t elements = 0;
  uint32_t buffers = 0;
  uint64_t layout = 0; // a hash of their shapes
  uint64_t name = 0;   // a hash of what a program calls it; 0: of no program
  // Of what a rank says about the call to come (its root's type): that one's kind. Not counted for people.
  std::optional<collective::Kind> announces = {};
  // Of some ranks of the group alone (PartTransport.h): which part, its calls counted from 1, and who they are.
  uint64_t part = 0, partCall = 0;
  const char *partText = "";
  const char *file = "";
  int32_t line = 0;

  // Whether ranks that make these calls do the same; lines may differ.
  bool matches(const Call &other) const;
  // "all_reduce of 10 f32 (sum, ring) at train.cpp:12", "all_reduce of 3 buffers, 10 f32 (...)"
  std::string text() const;
};

// Whether it has a reduction.
bool reduces(collective::Kind kind);

} // namespace sprig::rt::comm

#endif
