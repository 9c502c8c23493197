// What a rank's thread computes now is of its share of a batch: what goes over samples goes over those of all ranks.
// For batch norms and dropout; sprig/dist.h and the trainer say it.
#pragma once
#include "lib/Frontend/Engine/Collective.h"
#include "sprig/ranks.h"
#include <optional>
#include <string>

namespace sprig::frontend {

class SampleShare {
public:
  /// Of `samples` of all ranks together, `rows` are this rank's, the first of them number `first`.
  /// `weights`: by which ranks share the batch; none: evenly.
  SampleShare(std::shared_ptr<RankEnd> end, int64_t first, int64_t rows, int64_t samples,
              NormStatistics norms = NormStatistics::all, std::vector<int64_t> weights = {});
  ~SampleShare();
  SampleShare(const SampleShare &) = delete;
  SampleShare &operator=(const SampleShare &) = delete;

  /// Of this thread; null where what it computes is of whole batches. A function that is being recorded has read it
  /// then, where it has not made it itself: it is recorded anew in another one.
  static const SampleShare *current();

  /// Whether a tensor's first axis are the share's samples.
  bool has(const TensorType &type) const { return !type.shape.empty() && type.shape[0] == rows; }
  /// Where some rank has no sample, so that it does not meet the others: why statistics over the ranks are refused;
  /// else nothing.
  std::string whyNotOfAll() const;
  /// Throws for an operation that draws numbers for the samples: ranks would draw the same for others.
  static void refuseDraw(const char *op, const TensorType &type, Source at);
  /// Over the ranks, on each of them.
  Tensor sum(const Tensor &x, Source at) const;

  const std::shared_ptr<RankEnd> end;
  const int64_t first, rows, samples;
  const NormStatistics norms;
  const std::vector<int64_t> weights;

private:
  const bool leavesOut;
  const SampleShare *const outer;
  const Trace *const within; ///< the function whose recording has made it
};

} // namespace sprig::frontend
