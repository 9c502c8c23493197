// A rank's share of a batch, for loops by hand (dist::BatchShare): what looks at all samples of a batch looks at those
// of all ranks. Such operations are recorded with the types of the whole batch, the compiler divides them as it does
// whole steps (GlobalStep.h), and this rank's part is recorded in their place.
// For operations and layers that look at samples, or draw for them; they know nothing of ranks.
#pragma once
#include "lib/Frontend/Engine/RankEnd.h"
#include "lib/Frontend/Record.h"
#include "runtime/collective/Shares.h"
#include "sprig/ranks.h"

namespace sprig::frontend {

/// While one lives, what this thread computes is of its rank's share of a batch.
class BatchScope {
public:
  /// Of `samples` of all ranks together. `weights`: by which the ranks share them; none: evenly. Throws Error (usage)
  /// in a function of all ranks' samples, whose values are of the whole batch.
  BatchScope(std::shared_ptr<RankEnd> end, int64_t samples, NormStatistics norms, std::vector<int64_t> weights,
             Source at);
  ~BatchScope();
  BatchScope(const BatchScope &) = delete;
  BatchScope &operator=(const BatchScope &) = delete;

  /// Of this thread; null where what it computes is of whole batches. A function that is being recorded has read it
  /// then, where it has not made it itself: it is recorded anew in another one.
  static const BatchScope *current();

  const std::shared_ptr<RankEnd> end;
  const int64_t samples;
  const NormStatistics norms;
  const std::vector<int64_t> weights;
  const rt::collective::Range rows; ///< this rank's samples

private:
  const BatchScope *const outer;
  const Trace *const within; ///< the function whose recording has made it
};

/// A function of tensors whose types are those of the whole batch. Whatever else it uses has no samples.
using SampleFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// What f computes of inputs of which the first has a batch's samples as its first axis, of all ranks' samples where
/// ranks share the batch. `keepsSamples`: f's first result has them as its first axis, too. Throws Error (usage) in the
/// name of `op` where the first input has other rows than the rank.
std::vector<Tensor> overSamples(const char *op, std::span<const Tensor> inputs, bool keepsSamples,
                                const SampleFunction &f, Source at);
/// A random function of each element, whose first result is like its first input. An input that has the rank's samples
/// as its first axis gets what one rank with all samples would draw for it; others get the same on all ranks.
Tensor drawForEach(std::span<const Tensor> inputs, const SampleFunction &f, Source at);
/// The same of what f draws without inputs: f makes a tensor of the shape that it is given.
Tensor drawOfShape(const Shape &shape, const std::function<Tensor(const Shape &)> &f, Source at);
/// Throws Error (usage) for an operation whose draw depends on all samples together, where ranks share them and `rows`
/// are this rank's.
void refuseDrawOfAll(const char *op, int64_t rows, Source at);

/// Attributes of nn.batch_norm_train where each rank's samples are normalised by themselves; else none.
AttrList normGroups();

} // namespace sprig::frontend
