// Which samples each step takes: in order, or in an order that seed and epoch alone decide.
// For training. A position (epoch, samples taken of it) is all that a resumed run needs to go on with the same samples.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::data {

/// The order of an epoch's samples: Fisher and Yates' shuffle (from the last place down), whose choices come from
/// Philox4x32-10 under the seed as key, counters (draw, epoch, 1): 64 bits a draw, scaled by Lemire's method without
/// bias. Any thread count, any machine: the same order.
void shuffledOrder(uint64_t seed, uint64_t epoch, std::span<int64_t> order);

class Batches {
public:
  struct Options {
    int64_t samples = 0; ///< at least 1
    int64_t batch = 0;   ///< samples of a step, at least 1
    bool shuffle = false;
    bool dropLast = false; ///< leaves an epoch's last, smaller batch out; then samples must be at least batch
    uint64_t seed = 0;
  };
  struct Position {
    int64_t epoch = 0, index = 0;
    bool operator==(const Position &) const = default;
  };

  explicit Batches(const Options &options);

  /// Indices of the samples of the next step, of `batch` or, at an epoch's end, of fewer. Valid until the next call.
  /// Allocates nothing.
  std::span<const int64_t> next();

  /// Where the next step's samples start; at an epoch's end that is the next epoch's start.
  Position position() const { return at; }
  /// Goes on from a position of a run of the same options; badInput for one that none of its steps has.
  void seek(Position position);

  int64_t stepsPerEpoch() const;

private:
  Options options;
  Position at;
  int64_t usable;       ///< samples that an epoch takes
  int64_t ordered = -1; ///< the epoch that `order` is of
  std::vector<int64_t> order;
};

} // namespace sprig::data
