// How devices are written, everywhere: `kind:ordinals` names them ("cuda:0,1", "null:3"), `kind*N` counts them
// ("null*2" is null:0,1), a kind alone is the first ("cpu"). Several of these are separated by commas.
#ifndef SPRIG_RUNTIME_DEVICE_DEVICENAMES_H
#define SPRIG_RUNTIME_DEVICE_DEVICENAMES_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <vector>

namespace sprig::rt::core {

struct GivenDevice {
  std::string kind;
  uint32_t ordinal = 0;
  bool alone = false; // the kind without a number
  std::string name() const { return concat(kind, ":", ordinal); }
  bool operator==(const GivenDevice &) const = default;
};

struct GivenDevices {
  std::vector<GivenDevice> list;
  // "cpu:4" alone, as it was written before devices had numbers; 0: not so written. The list has the CPU then.
  uint32_t threads = 0;

  // "null" and nothing else: every device keeps time and computes nothing.
  bool keepsTimeOnly() const { return list.size() == 1 && list[0].kind == "null" && list[0].alone; }
};

// Appends to what is there already. Fails with INVALID_ARGUMENT and both facts.
Status parseDevices(std::string_view text, GivenDevices &devices);

} // namespace sprig::rt::core

#endif
