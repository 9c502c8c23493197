// A compiled function for one kind of arguments: its graph, what it takes besides its arguments, and its plan.
// For compiled functions and for packages. Recorded by the caller's thread, compiled and run by the engine's.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/CallLineage.h"
#include "lib/Frontend/Engine/RankEnd.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/arguments.h"
#include <list>
#include <map>

namespace sprig::frontend {

struct Variant {
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  /// Records body on inputs of these types; `arguments` are those of the call that it is recorded for, if it is for
  /// one.
  static std::shared_ptr<Variant> record(std::span<const TensorType> inputs, const Body &body, const std::string &name,
                                         Source at, std::span<const Tensor> arguments = {});

  /// The same for all lengths of a program: of the axes of arguments, whose last is the length.
  static std::shared_ptr<Variant> recordGrowing(const LengthRange &program, std::span<const GrowingAxis> axes,
                                                std::span<const Tensor> arguments, const Body &body,
                                                const std::string &name, Source at);

  /// What a graph's input that is no state stands for.
  struct Feed {
    enum class Kind : uint8_t { argument, captured, gradient, randomKey, randomBase } kind;
    uint32_t index = 0; ///< argument, or place among `gradients`
    Tensor value;       ///< captured
  };

  /// A parameter whose gradient the function looks at or sets (Parameter::grad).
  struct GradientLink {
    Parameter parameter;
    bool isSeen = false;    ///< whether it depends on what gradient there was,
    bool isPresent = false; ///< and whether there was one when it was recorded
    bool isSet = false;
    int32_t output = -1; ///< which of the graph's outputs is the next gradient; -1: there is none
  };

  std::string name;
  Source source;
  std::vector<TensorType> inputs;
  std::vector<HostItem> host; ///< what the arguments hold besides tensors
  std::vector<Observation> observed;
  Graph graph;
  std::vector<Feed> feeds; ///< in the order of the graph's inputs, without states
  std::vector<StateSlot> slots;
  std::vector<Parameter> parameters;            ///< one for each slot
  std::vector<TensorType> results;              ///< the function's, the graph's first outputs
  std::vector<GradientLink> gradients;          ///< those that are set are the graph's last outputs
  std::vector<std::vector<GrowingDim>> growing; ///< of each result, dimensions that follow the length
  CallLineage lineage;
  uint64_t randomDraws = 0;
  uint64_t lastCall = 0; ///< of its function's, the last one that it was for
  std::vector<SwitchEffect> effects;
  /// Of a function with collectives: the rank whose program it is. Others record their own.
  std::shared_ptr<RankEnd> ranks;
  SamplesOfRanks samples;            ///< of all ranks, as far as it was said while it was recorded
  std::optional<Division> division;  ///< of a function of all ranks' samples, whose graph is of all of them
  std::shared_ptr<const Graph> part; ///< of that one, this rank's, where it runs operation by operation
  int programLanes = 0;              ///< FunctionOptions::lanes
  FactorPolicy factors = FactorPolicy::never;
  /// What a plan is told of the ranks.
  PlanRanks planRanks(const RankBuckets &buckets) const;
  /// Of sums over ranks; throws Error (usage) where what is known of the ranks' samples is not enough.
  void setFactors(FactorPolicy policy);

  /// Where a value is; of an argument or a result that is `unplaced`, anywhere.
  struct Where {
    DeviceId device = 0;
    bool unplaced = false;
  };
  std::vector<Where> inputPlaces, resultPlaces;
  std::vector<DeviceId> homes;           ///< of the parameters
  DeviceId device = 0;                   ///< whose queue calls are in, with those of `devices`
  DeviceId madeOn = 0;                   ///< where new tensors were when it was recorded
  std::vector<DeviceId> devices;         ///< where its nodes are placed on several (nn.place); else none
  std::shared_ptr<const void> structure; ///< of the results, as the caller keeps it

  /// The queues that calls are in: they run when each has come to them.
  std::vector<LaneId> lanes() const;
  /// Notes where everything is; where that is on several devices, on its nodes too.
  void completePlaces(std::span<const Tensor> results, const Recording &recording);
  /// What is on another device than when it was recorded; empty where nothing is.
  std::string placeDifference(std::span<const Tensor> arguments) const;
  bool fits(const FlatValues &arguments) const;
  /// The same of what it knows of gradients: which parameters have one, and which arguments remember how they came
  /// about. Empty where it fits, else what differs.
  std::string gradientDifference(std::span<const Tensor> arguments) const;
  /// Fills in what of `lineage` follows from the graph, the nodes that are open, and the states.
  void completeLineage();
  /// Whether a layer was in training mode when it was recorded, and asked for it.
  bool sawTrainingMode() const;
  /// Queues a call; returns its results, which are not there yet.
  static std::vector<Tensor> call(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments,
                                  const RankBuckets &buckets = {});
  /// The same of several calls as one program: of the arguments of the first, of the second, and so on. Gradients do
  /// not flow through results.
  static std::vector<Tensor> callTogether(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments,
                                          int64_t times, const RankBuckets &buckets = {});

  /// The same of a function of all ranks' samples, whose gradients nobody sets, operation by operation.
  static std::vector<Tensor> callOperations(Variant &self, std::span<const Tensor> arguments);
  /// Appends what the graph's inputs without states are in a call with these arguments; takes its random numbers.
  void feed(std::span<const Tensor> arguments, std::vector<Tensor> &inputs) const;
  /// What a call does beside its results: ends lineages, sets switches.
  void applyEffects() const;

  uint64_t replacements = frontend::replacements(); ///< when it was found to be what the function records
  bool isChecked = false;                           ///< whether it has been recorded once more, with the same result

  // Of the engine's thread alone.
  struct Code {
    std::unique_ptr<Plan> plan;
    Failure failure; ///< of compiling it
  };
  Code single;
  std::map<int64_t, Code> together; ///< by the calls that go together
  Code &codeOf(int64_t times) { return times == 1 ? single : together[times]; }
  uint64_t runs = 0;
  struct Pointers {
    std::vector<void *> in, out, states;
  } pointers; ///< of the call that runs
  /// Whether a call takes less time than another thread needs to wake up.
  std::atomic<bool> isShort{false};
};

/// The key of random numbers, and the first counter of `draws` ones.
struct RandomPosition {
  uint64_t key, counter;
};
RandomPosition takeRandom(uint64_t draws);

} // namespace sprig::frontend
