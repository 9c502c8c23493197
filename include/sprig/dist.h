// Ranks: k partners that run the same program on data of their own and meet in collectives.
// For programs (docs/distributed.md). Threads of this process are ranks, which `spawn` starts, or processes, which
// `sprig launch` starts and which `join`; `run` does the one or the other. Which rank adds up an
// element, and in which order, follows from the algorithm, the number of ranks and the element's index alone, so bits
// do not depend on timing, nor on what is reduced together (docs/numerics.md).
//
//     dist::spawn(4, [](dist::Group &group) {
//       std::vector<Tensor> gradients = ...;                     // of this rank's samples
//       optimizer.update(group.allReduce(gradients, dist::Reduce::mean));
//     });
#pragma once
#include "sprig/nn/module.h"
#include "sprig/ranks.h"
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::frontend {
class RankEnd;
}

namespace sprig::dist {

/// What elements are combined by, in their own type (f16 and bf16 are rounded after each step). Means are of floats
/// alone; booleans have a product, a minimum and a maximum.
enum class Reduce : uint8_t { sum, mean, product, min, max };

/// How an allReduce goes about it; all give every rank the same bits, each its own. Costs are of N ranks, S bytes,
/// links of latency a and rate B.
enum class Algorithm : uint8_t {
  automatic,     ///< by the tensor's bytes and N: tree or ring, from a fixed table
  star,          ///< by rank 0: a + (N - 1) S / B, and (N - 1) (a + S / B) back
  split,         ///< rank i adds up the i-th part of all: 2 (N - 1) messages of S / N each
  tree,          ///< 2 ceil(log2 N) rounds of S: the shortest for few bytes
  ring,          ///< 2 (N - 1) rounds of S / N: the least bytes on each link
  bidirectional, ///< two rings, one each way, with half of the bytes: on links that carry both ways at once
};

/// One rank's end of the group, of use while `spawn`, `join` or `run` runs. Every rank has to make the same calls in
/// the same order, with the same types and shapes; what differs is an error (usage) on all ranks, which names both
/// calls with their lines. A rank that waits for longer than the group's timeout fails the group, with an error
/// (runtime) that says where every rank is. A failed group stays failed.
///
/// Tensors are read, so a call waits for them; results are new tensors, where the operand is, and are there at once.
///
/// Collectives are operations like others besides: in a function that is being compiled they become part of the
/// program, and gradients go through what moves tensors and through sums and means. They are those of the sum of all
/// ranks' outputs, so taking them is a collective, the one that goes the other way: the cotangents of all-reduced sums
/// are summed over the ranks, those of gathered rows summed and handed out, those of what a root has broadcast summed
/// for the root. All ranks have to take the same gradients in the same order. A barrier is no such operation.
///
/// Where the root's tensor counts, broadcast and scatter, ranks that take a gradient give one of its type that requires
/// a gradient as well, which is zero; so do, whether it requires one or not, all ranks in a function that is being
/// compiled.
class SPRIG_API Group {
public:
  int rank() const; ///< -1 in a part that this rank is not in
  int size() const; ///< 0 there

  /// Parts of the group: ranks that say the same color are one, in the order of their keys, then of their ranks. Who
  /// says less than 0 is in none, and its part has no collectives. Every rank of the group calls it; a part has an
  /// order of its own for its calls, within that of the rank.
  Group split(int color, int key = 0, Source at = Source::here());
  /// The part of these ranks, in this order; the others get one that they are not in. Every rank of the group calls it.
  Group sub(const std::vector<int> &ranks, Source at = Source::here());

  /// The elementwise sum of all ranks' tensors, or what else `reduce` says, on every rank.
  Tensor allReduce(const Tensor &x, Reduce reduce = Reduce::sum, Algorithm algorithm = Algorithm::automatic,
                   Source at = Source::here());
  /// Of each of them, with the bits that each has by itself, in few messages. Tensors that are not defined, as
  /// gradients of frozen parameters, stay so.
  std::vector<Tensor> allReduce(const std::vector<Tensor> &tensors, Reduce reduce = Reduce::sum,
                                Algorithm algorithm = Algorithm::automatic, Source at = Source::here());
  /// The same without waiting: results are there when they are read, or waited for (Tensor::wait, ready), and the rank
  /// computes meanwhile. Operands are kept until then. What is asked for later, on this rank, happens later; a rank's
  /// end waits for what is under way.
  Tensor allReduceAsync(const Tensor &x, Reduce reduce = Reduce::sum, Algorithm algorithm = Algorithm::automatic,
                        Source at = Source::here());
  std::vector<Tensor> allReduceAsync(const std::vector<Tensor> &tensors, Reduce reduce = Reduce::sum,
                                     Algorithm algorithm = Algorithm::automatic, Source at = Source::here());
  /// This rank's rows of the sum: the first axis is divided as by `rowsOf`.
  Tensor reduceScatter(const Tensor &x, Reduce reduce = Reduce::sum, Source at = Source::here());
  /// All ranks' rows, one rank after the other along the first axis. Ranks have as many rows each, or those of
  /// `rowsOf(rows)` where the whole number is said.
  Tensor allGather(const Tensor &x, std::optional<int64_t> rows = {}, Source at = Source::here());
  /// The root's tensor, on every rank. Other ranks give a tensor of its type and shape, or none.
  Tensor broadcast(const Tensor &x, int root = 0, Source at = Source::here());
  /// Parameters and buffers become the root's.
  void broadcast(const nn::Module &module, int root = 0, Source at = Source::here());
  /// The sum on the root; other ranks get zeros.
  Tensor reduce(const Tensor &x, Reduce reduce = Reduce::sum, int root = 0, Source at = Source::here());
  /// All ranks' rows on the root, as by allGather; other ranks get zeros.
  Tensor gather(const Tensor &x, int root = 0, std::optional<int64_t> rows = {}, Source at = Source::here());
  /// This rank's rows of the root's tensor, as by rowsOf. Other ranks give no tensor, or any.
  Tensor scatter(const Tensor &x, int root = 0, Source at = Source::here());
  /// Part i of the first axis goes to rank i, and part i of the result comes from it. Of rows that the ranks do not
  /// divide parts are those of `rowsOf`, so a rank gets its own number of rows from each.
  Tensor allToAll(const Tensor &x, Source at = Source::here());
  /// Returns when all ranks have come.
  void barrier(Source at = Source::here());

  /// Throws Error (runtime) on every rank where parameters or buffers differ in a bit between ranks, and names the
  /// first.
  void checkReplicas(const nn::Module &module, Source at = Source::here());

  /// The rows of `rows` that are this rank's: sizes differ by one at most, larger ones come first.
  std::pair<int64_t, int64_t> rowsOf(int64_t rows) const;

  struct Impl;
  /// Null: a part that this rank is not in.
  explicit Group(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}

private:
  friend class BatchShare;
  friend std::shared_ptr<frontend::RankEnd> endOf(const Group &group);
  Impl &own(const std::string &op, Source at) const;
  std::shared_ptr<Impl> impl;
};

/// While it lives, what this thread computes is of its rank's share of a batch of so many samples of all ranks, those
/// of `rowsOf`. Batch norms in training, running statistics and ranges of nn::FakeQuantize are of all ranks' samples
/// (norms of its own where `norms` says so), for which all ranks meet, those without samples too. Dropout and draws
/// whose first axis is the rank's samples give what one rank with all of them would draw. Other values are the rank's.
class SPRIG_API BatchShare {
public:
  BatchShare(Group &group, int64_t samples, NormStatistics norms = NormStatistics::all, Source at = Source::here());
  ~BatchShare();
  BatchShare(const BatchShare &) = delete;
  BatchShare &operator=(const BatchShare &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

struct SpawnOptions {
  /// Of each rank, its tensors' device (DeviceScope), which no other rank has; none: cpu:0, cpu:1, ..., a share of the
  /// cores each. Other ranks read tensors that are on it, and compute nothing there.
  std::vector<Device> devices = {};
  /// How long a rank waits for others in a collective; 0: as long as it takes.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Runs the body on so many new threads (1 to 256), a rank each, and returns when all have ended. What a rank throws
/// ends the others' collectives, and is thrown here: of several the first; the text of an Error gets the rank in front.
SPRIG_API void spawn(int ranks, const std::function<void(Group &)> &body, const SpawnOptions &options = {},
                     Source at = Source::here());

/// Whether this process was started as a rank: by `sprig launch`, or with RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or
/// SLURM_PROCID set.
SPRIG_API bool isLaunched();

struct JoinOptions {
  /// How long this rank waits for others to come, and in a collective; 0: as long as it takes. What `sprig launch
  /// --collective-timeout` says goes before it.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Runs the body on this thread, as the rank that the environment says (docs/distributed.md), when all ranks have come.
/// Once in a process. Throws Error: usage where a variable is missing or wrong, unsupported without Gloo, runtime where
/// the ranks do not come together; and what the body throws, of which the other ranks are told.
SPRIG_API void join(const std::function<void(Group &)> &body, const JoinOptions &options = {},
                    Source at = Source::here());

/// `join` where this process was launched, and `spawn` of so many threads where it was not: one program for both. So a
/// process that was launched is one rank, and has what the body makes of that rank alone.
SPRIG_API void run(int threads, const std::function<void(Group &)> &body, Source at = Source::here());

} // namespace sprig::dist
