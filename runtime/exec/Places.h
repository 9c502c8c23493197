// Where the arrays of one call lie, as the caller names it: in the host's memory, or in that of the one device that the
// entry runs on, where they are used as they are.
#ifndef SPRIG_RUNTIME_EXEC_PLACES_H
#define SPRIG_RUNTIME_EXEC_PLACES_H

#include "runtime/exec/Choose.h"
#include "runtime/exec/Package.h"

namespace sprig::rt::core {

// Names of devices, by array; null, as a list without one, is the host. Lists are as long as those of the arrays.
struct GivenPlaces {
  const char *const *inputs = nullptr;
  const char *const *outputs = nullptr;
};

class Places {
public:
  // What is given for the call that was chosen; null: all on the host.
  Status read(const Package &package, const Choice &choice, const GivenPlaces *given);
  // All on one device.
  Status readAll(const Package &package, const Choice &choice, std::string_view device);

  // Whether an array lies on the entry's device.
  std::span<const char> inputs() const { return inputPlaces; }
  std::span<const char> outputs() const { return outputPlaces; }

private:
  std::vector<char> inputPlaces, outputPlaces; // empty: all on the host
};

} // namespace sprig::rt::core

#endif
