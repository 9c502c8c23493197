// What went wrong, for people (stderr) and tests, and how much of what was done.
#ifndef SPRIG_TEST_GPU_DRIVER_REPORT_H
#define SPRIG_TEST_GPU_DRIVER_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace sprig::cuda {

/// What a program asked for, and what was done of it.
struct Counts {
  uint64_t launches = 0, graphLaunches = 0, graphsInstantiated = 0;   // calls
  uint64_t allocations = 0, frees = 0, allocatedBytes = 0;            // of devices' memory and of pinned memory
  uint64_t hostSynchronisations = 0;                                  // calls that wait
  uint64_t copies = 0, copiedBytes = 0, fills = 0, hostFunctions = 0; // done, those of graphs among them
  uint64_t copiesByHost = 0;                                          // of those, between devices
  uint64_t computed = 0;                                              // kernels, not taken over (Config.h, EFFECTS)
  std::map<std::string, uint64_t> kernels;                            // done, by name
  uint64_t virtualNanoseconds = 0;                                    // until the last operation that is done ended
};

class Report {
public:
  Counts counts;

  /// {"counts": {...}, "kernels": {name: times}, "complaints": [{"text": ..., "times": ...}], "dropped": ...}
  std::string json() const;

  /// Prints the first complaint of each `key`, and counts the others: a loop repeats its faults.
  void complain(const std::string &key, const std::string &text) {
    if (add(key, text)) print(text);
  }
  /// Where it is on stderr already. Whether it is new.
  bool add(const std::string &key, const std::string &text);

  struct Complaint {
    std::string text;
    uint64_t times = 1;
  };
  const std::vector<Complaint> &complaints() const { return list; }
  /// What was dropped (Config.h), if anything.
  std::string dropped;

private:
  static void print(const std::string &text);
  std::vector<Complaint> list;
  std::unordered_map<std::string, size_t> known;
};

} // namespace sprig::cuda

#endif
