// Work that a pool's threads may help with.
#ifndef SPRIG_RUNTIME_EXEC_HELPED_H
#define SPRIG_RUNTIME_EXEC_HELPED_H

#include <cstdint>

namespace sprig::rt::core {

class Helped {
public:
  // Does what can be done now; whether there was something. From any helper at any time while it is on offer.
  virtual bool help(uint32_t participant) = 0;

protected:
  ~Helped() = default;
};

} // namespace sprig::rt::core

#endif
