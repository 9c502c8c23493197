// How busy devices, threads and links were over all recorded calls, what the time went to, and the verdict.
// For sprig profile; recorded calls are added batch by batch.
#pragma once
#include "lib/Machine/RecordedTime.h"
#include "sprig/rt/profile.hpp"
#include "tools/sprig/Report.h"
#include "tools/sprig/profile/Dependences.h"
#include <map>
#include <string>
#include <vector>

namespace sprig::cli {

/// Where an entry's commands run, for lib/Machine/RecordedTime.
class CommandPlaces {
public:
  explicit CommandPlaces(const Runner &runner) : runner(runner) {}
  machine::CommandPlace operator()(const sprig_rt_profile_event &event) const;
  std::string deviceName(uint32_t device) const; ///< "cpu:1", "host"
  /// Of a copy from one device to another; else 0.
  uint64_t bytesBetweenDevices(uint32_t entry, uint32_t lane, uint32_t command) const;

private:
  const Runner &runner;
};

struct BusyTime {
  double ns = 0;
  machine::TimeShares shares;
  struct Device {
    double busyNs = 0, threadNs = 0;
  };
  std::map<std::string, Device> devices;
  std::map<std::string, double> threads; ///< ns in kernels, by thread or stream
  std::map<std::string, double> links;   ///< ns with a copy on its way: "cpu:0 > cpu:1"
  double inFlight = 0;                   ///< bytes of such copies on their way at once, at most
  std::vector<machine::RecordedStep> steps;
  CommandPath path;    ///< by what commands took on average
  double callNs = 0;   ///< of a call on average, which the path is held against
  size_t commands = 0; ///< of the entry that take time
  bool hasLoader = false;

  void add(const machine::RecordedTime &time, const CommandPlaces &places, const rt::Profile &profile);
};

/// What copies hold while they are on their way, in words.
std::string inFlightText(double bytes);
void printBusyTime(const BusyTime &busy);
Json toJson(const BusyTime &busy);
/// A line on a critical path of so many commands of a call.
void printPath(const CommandPath &path, size_t commands, double callNs);
Json verdictToJson(const machine::TimeShares &shares);

} // namespace sprig::cli
