// From recorded graphs to compiled code and back: the only door between the front-end and MLIR.
// For the engine and for functions that need the compiler's knowledge (gradients, decompositions, optimizer updates).
// No type of MLIR is seen. Everything may be called from any thread. What cannot be compiled is thrown as sprig::Error
// that names the operation, its layer and its line.
#pragma once
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Graph.h"
#include "lib/Lengths/Length.h"
#include "lib/Machine/ExpectedLink.h"
#include "lib/NonFinite/NonFinite.h"
#include "lib/Training/TrainConfig.h"
#include "sprig/options.h"
#include <optional>
#include <string>

namespace sprig::rt::comm {
class RankGroup;
}

namespace sprig::frontend {

/// An input of a graph that is state: parameters, running statistics, an optimizer's tensors.
struct StateSlot {
  uint32_t input = 0;            ///< which input of the graph reads it
  int32_t output = -1;           ///< which output of the graph is its next value; -1: it is only read
  std::string name;              ///< unique among an entry's slots; slots of one name in several entries are one state
  const void *initial = nullptr; ///< type.bytes() bytes for packages; null: zeros (for plans, which bind memory)
  bool isPiece = false;          ///< of an optimizer's, of which the ranks of a divided function have pieces
};

/// A compiled graph, immutable but for its context: one call at a time.
class Plan {
public:
  virtual ~Plan() = default;
  /// Runs on the calling thread and its pool. Pointers are 64-byte aligned and row-major: an input for each of the
  /// graph's inputs that is no state, in order; an output for each of its outputs that is no state's next value; a
  /// state for each slot, updated in place. Throws sprig::Error (runtime) with what the kernel found.
  /// `version` is for plans with options.prepare, which keep what depends on their read-only states alone (packed
  /// weights): a number that differs from call to call when the content of such a state does; 0: it may differ.
  virtual void run(std::span<void *const> inputs, std::span<void *const> outputs, std::span<void *const> states,
                   uint64_t version = 0) = 0;
  /// The same code with a context of its own, that another device's threads run.
  virtual std::unique_ptr<Plan> on(DeviceId device) const = 0;
  /// Of a plan of several repetitions, on one device: the graph once, by the same code.
  virtual std::unique_ptr<Plan> once(DeviceId device) const = 0;
};

/// How late sums over ranks go: the same on all ranks, but for the link.
struct RankBuckets {
  int64_t bytes = int64_t(1) << 20;               ///< most that go together; of those that are to be chosen 0
  std::optional<int64_t> turn = {};               ///< of calls that go together (nn.repeat_turn)
  std::vector<int64_t> order = {};                ///< of all all-reduces (dist.order); empty: as they stand
  std::optional<machine::ExpectedLink> link = {}; ///< as this rank takes it to be, where anybody has asked
};

/// How ranks share a function of the samples of all of them.
struct Division {
  std::string strategy;                  ///< CompileOptions::strategy
  std::vector<int64_t> passes = {};      ///< samples of each, which arguments have one pass after the other
  std::vector<std::string> results = {}; ///< names of the function's results
  bool allowGather = false;
  /// Of the graph's inputs without states, whether their first axes are samples; of the others all ranks have all.
  std::vector<bool> ofSamples = {};
  /// How many of its results, the first ones, have samples as their first axes, too.
  size_t resultsOfSamples = 0;
};

/// What collectives of a plan are of.
struct PlanRanks {
  std::shared_ptr<rt::comm::RankGroup> group = nullptr; ///< null: it has none
  /// That all ranks together have, each its share, even or by weights, as the first axis of its inputs; 0: not known,
  /// and all ranks have inputs of the same shapes.
  int64_t samples = 0;
  std::vector<int64_t> weights = {};
  RankBuckets buckets = {};
  /// Of a graph of all ranks' samples, of whose inputs this rank has its parts; else graphs are of one rank.
  std::optional<Division> division = {};
};
/// Most calls that one program may be.
inline constexpr int64_t kMostRepetitions = 256;

/// `options.freeze` and `options.math` do not matter: there is nothing to freeze, and no bit may change. `name` stands
/// in profiles and messages. It runs on the threads of `devices`, those of options.devices where these are several.
/// With `repetitions` a run does all of the graph so often, on the states as the one before has left them: it takes
/// and gives the inputs and outputs of the first, then those of the second, and so on. The bits are those of as many
/// runs.
std::unique_ptr<Plan> compilePlan(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &options,
                                  const std::string &name, std::vector<DeviceId> devices = {0}, PlanRanks ranks = {},
                                  int64_t repetitions = 1);

/// What is expected to hide the most of a graph's sums over ranks, of so many repetitions as one program: bytes where
/// `ranks` has none, and the turn. Links are known.
RankBuckets chooseBuckets(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &options,
                          const std::string &name, const PlanRanks &ranks, int64_t repetitions);

/// What the rank of `ranks` computes of a graph of all ranks' samples, with inputs and outputs as that one has them, of
/// which it takes and gives this rank's parts. `mesh`: what its collectives call the ranks.
Graph partOfRank(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &options,
                 const std::string &name, const PlanRanks &ranks, const char *mesh);

/// Seconds that a graph is expected to take on so many threads, by the machine's model; sums over ranks, whose link is
/// known, are not hidden.
double expectedSeconds(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &options,
                       const std::string &name, const PlanRanks &ranks, int threads);

/// One function of a package.
struct PackageEntry {
  std::string name;
  const Graph *graph = nullptr;
  std::vector<StateSlot> states;
  std::vector<std::string> inputNames, outputNames; ///< of those that are no state
};
/// A package of several functions that share their states. With options.freeze, states become constants; with
/// MathMode::strict the bits are those of plans all the same.
std::vector<uint8_t> compilePackage(std::span<const PackageEntry> entries, const CompileOptions &options);

/// The text of the graph in the nn dialect, a function `main`.
std::string printGraph(const Graph &graph);

/// A graph that goes on from another: its inputs are `uses`, values of the first, and then what else is given.
struct Continuation {
  Graph graph;
  std::vector<uint32_t> uses;
};
/// Vector-Jacobian products: outputs are the gradients of `wrt`, further inputs the cotangents of `outputs`, one each
/// where `seeded`, else there is one output, a scalar, whose cotangent is 1. Zero where nothing depends.
/// `isDivided`: ranks are going to share the samples, and means stay what they can divide.
Continuation gradientOf(const Graph &forward, std::span<const uint32_t> outputs, std::span<const uint32_t> wrt,
                        bool seeded, bool isDivided = false);
/// Jacobian-vector products: outputs are the derivatives of `outputs`, further inputs the tangents of `wrt`.
Continuation tangentOf(const Graph &forward, std::span<const uint32_t> outputs, std::span<const uint32_t> wrt);

/// A dimension whose length follows that of an axis.
struct GrowingDim {
  int axis = 0;
  Length length;
};
/// A graph for several lengths of an axis (docs/lengths.md): its last input is the length (i64 scalar); others, and its
/// outputs, are as long as the longest, of which the length's elements are given and valid.
struct GrowingGraph {
  Graph graph;
  std::vector<std::vector<GrowingDim>> outputs; ///< of each, the dimensions that grow
};
/// One graph at several lengths, the longest first, the shortest last. Throws Error (unsupported) where they are not
/// one program but for the length, or need what a program for all of them cannot have.
GrowingGraph growingGraph(std::span<const std::pair<int64_t, const Graph *>> lengths, const std::string &axis);

/// Where numbers that are not finite arose in a graph, which runs in the reference interpreter: the origins of its
/// outputs by those of its inputs, of whose types the arrays are. None where it does not run there. `describe` takes
/// an operation's name, its place, and what it is the gradient of.
std::vector<nonfinite::Origins> originsInside(const Graph &graph, std::span<const void *const> inputs,
                                              std::span<const nonfinite::Origins> origins,
                                              std::string (*describe)(const GraphNode &node));

/// A composite operation as primitives: a graph of the node's operands and results; null for a primitive.
std::shared_ptr<const Graph> decompose(const GraphNode &node, std::span<const TensorType> operands,
                                       std::span<const TensorType> results);

/// Whether the operations of a graph are elementwise: each element of their results depends on the elements at its
/// place alone, of operands that broadcast. False too where one does not take the graph's types.
bool isElementwise(const Graph &graph);

/// What an optimizer keeps of a parameter: of the parameter's type, or a scalar of f64.
struct OptimizerSlot {
  std::string name;
  bool isScalar = false;
  double initial = 0;
  bool operator==(const OptimizerSlot &) const = default;
};
/// One optimizer's update of one parameter, as `sprig train` writes it. Inputs: parameter, gradient, rate (f64 scalar),
/// steps done before (f64 scalar), then the slots; outputs: the next parameter, then the next slots. `slots` gets what
/// the slots are ("momentum").
Graph optimizerUpdate(const training::OptimizerConfig &optimizer, const TensorType &parameter, double lrScale,
                      double weightDecay, std::vector<OptimizerSlot> &slots);
/// A learning rate schedule by steps, of a known length, as an expression. Inputs: base rate (f64 scalar), steps done
/// (i64 scalar); output: the rate (f64 scalar).
Graph learningRate(const training::ScheduleConfig &schedule);

} // namespace sprig::frontend
