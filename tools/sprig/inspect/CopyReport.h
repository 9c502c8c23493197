// What lies twice because a program runs on several devices or on one with memory of its own: copies of the caller's
// arrays there, a second time where calls are handed over ahead, and values that one device copies to another.
// For inspect --memory.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/run/Runner.h"
#include <string>
#include <vector>

namespace sprig::cli {

struct DeviceCopy {
  std::string name;         ///< of the array, or of the value
  std::string kind;         ///< "input", "output", "constant", "state" or "arena": what it is a copy of
  std::string from, device; ///< "caller", or a device; where the copy lies
  uint64_t bytes = 0;
  bool second = false;              ///< there is another one for a call that is handed over while this one is under way
  std::vector<std::string> readers; ///< commands there that read it, or who else gets it: "caller", "home of the state"
};

/// Of an entry, in the order of arrays and of commands, on these devices in place of the package's; all but processors
/// have memory of their own.
std::vector<DeviceCopy> copiesOf(const Runner &runner, size_t entry, const std::vector<std::string> &devices);

Json toJson(const std::vector<DeviceCopy> &copies);
/// Nothing where there are none.
void printCopies(const std::string &entry, const std::vector<DeviceCopy> &copies);

} // namespace sprig::cli
