// Where the operations of one function run, by cost: a schedule is played through for each choice that is weighed.
// For the pass `place`, which makes the problem of a function and writes the answer down. Knows no operation.
//
// The model: each device takes its operations in the program's order; a value that another device needs is copied once,
// by the device that has it and right after it was computed, and the other waits for that. Over a link of set latency
// and rate it goes beside what the devices compute, one copy after the other. What all devices have (inputs, constants)
// costs nothing.
#pragma once
#include "lib/Machine/Link.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace sprig::place {

inline constexpr unsigned kMostDevices = 64; // a word of bits

struct PlacementProblem {
  static constexpr unsigned kNone = std::numeric_limits<unsigned>::max();

  struct Value {
    int64_t bytes = 0;
    unsigned operation = kNone; // that computes it; none: the value of a parameter
    unsigned param = kNone;
  };
  struct Operation {
    unsigned unit = 0;
    std::vector<unsigned> reads; // values, each once; not what all devices have
    std::vector<unsigned> gives;
  };
  /// Operations that stay together, because they will share a kernel.
  struct Unit {
    std::optional<unsigned> pin;
    std::vector<double> seconds; // on each device, of each of its operations' share together
    unsigned operations = 0;
  };
  struct Param {
    std::optional<unsigned> home;
    unsigned newValue = kNone; // the value that it gets
  };

  unsigned devices = 1;
  double handOff = 0; // from an event to the device that waits for it
  double copyLatency = 0, copyBytesPerSecond = 1;
  /// Links of set latency and rate, by from * devices + to; shorter: none there.
  std::vector<std::optional<machine::Link>> links;
  std::vector<Operation> operations; // in the program's order
  std::vector<Unit> units;
  std::vector<Value> values;
  std::vector<Param> params;

  const machine::Link *linkBetween(unsigned from, unsigned to) const {
    size_t way = size_t(from) * devices + to;
    return way < links.size() && links[way] ? &*links[way] : nullptr;
  }
  double copySeconds(unsigned from, unsigned to, int64_t bytes) const {
    if (const machine::Link *link = linkBetween(from, to)) return link->seconds(double(bytes));
    return copyLatency + double(bytes) / copyBytesPerSecond;
  }
};

struct PlayedCall {
  double seconds = 0;
  double copySeconds = 0; // of all copies together
  int64_t copies = 0, copiedBytes = 0;
};

class Placer {
public:
  explicit Placer(const PlacementProblem &problem) : problem(problem) {}

  /// The device of each unit. Stops to look for a better one after a bounded number of plays.
  std::vector<unsigned> choose();
  /// With every unit that is not pinned on the first device.
  std::vector<unsigned> onFirst() const;
  PlayedCall play(const std::vector<unsigned> &deviceOfUnit) const;
  /// The home of a parameter: what is said, else where its new value is computed, else where it is read first.
  std::vector<unsigned> homes(const std::vector<unsigned> &deviceOfUnit) const;

private:
  double score(const std::vector<unsigned> &deviceOfUnit);
  std::vector<unsigned> earliestFinish() const;
  bool improve(std::vector<unsigned> &deviceOfUnit, double &best);
  bool tryMove(std::vector<unsigned> &deviceOfUnit, const std::vector<unsigned> &units, double &best);
  std::vector<std::vector<unsigned>> islands(const std::vector<unsigned> &deviceOfUnit) const;

  const PlacementProblem &problem;
  int64_t visits = 0; // operations that were played
};

} // namespace sprig::place
