// A training as its flags say it, made ready: place among ranks, model, configuration, data, and the loaded program.
// For training runs and sweeps (TrainRun.h), in this order: open, readData, choose, then for each run resolve and load.
// Everything that does not fit is thrown.
#pragma once
#include "tools/sprig/compile/PlacementReport.h"
#include "tools/sprig/train/TrainModel.h"
#include "tools/sprig/train/TrainNote.h"
#include "tools/sprig/train/TrainProgram.h"
#include "tools/sprig/train/TrainRanks.h"
#include "tools/sprig/train/TrainRun.h"
#include <memory>
#include <optional>

namespace sprig::cli {

struct AutoDevices;

class TrainSession {
public:
  explicit TrainSession(const TrainOptions &options);

  /// Model and configuration; of a package the program, too.
  void open(std::span<const training::Override> overrides);
  void readData();
  /// What --devices auto is, of a model, when its samples are known.
  void choose(std::span<const training::Override> overrides);
  /// Another one; the model stays.
  void readConfig(std::span<const training::Override> overrides);
  /// The program; a model is compiled for the resolved configuration.
  void load();
  /// The ranks that wait for this one, if there are any.
  void tellOthers(const std::string &why) const;

  bool isFirst() const { return place.rank == 0; }
  /// Whether ranks have pieces of the optimizer's state.
  bool sharesState() const;
  std::string title() const;

  TrainOptions options; ///< of this rank: others than the first write nothing
  std::string output;   ///< of all ranks, which the first writes
  RankPlace place;
  int ranks;         ///< that train together
  Settings settings; ///< of one of them
  Model model;
  training::TrainConfig config;
  std::vector<Placement> placements;    ///< with --explain-placement
  std::vector<std::string> collectives; ///< of ranks' steps, in words; of a package none
  TrainData data;
  std::optional<TrainData> evaluation;
  TrainRequest request;
  std::optional<TrainRanks> program;
  std::vector<std::string> trainable;
  double compileSeconds = 0;
  bool writesState = false;     ///< whether the output is a checkpoint
  double rateFactor = 1;        ///< of --lr-scaling
  std::string chosen;           ///< of --devices auto
  std::vector<int64_t> weights; ///< of the ranks' shares; none: even ones
  int64_t stepsPerCall = 1;

private:
  /// Ranks of this process.
  int ranksHere() const { return place.isProcess ? 1 : ranks; }
  bool choosesDevices() const;
  /// The model with quantisers where products read, whose weights are trained in front of theirs (--quantize-aware).
  void makeQuantizeAware();
  void take(const AutoDevices &found);
  int allThreads() const;
  std::vector<int> threadsOfRanks() const;
  void takeShares();
  RunnerOptions runnerOptions() const;
  /// The processes that train together; throws badInput where their flags do not agree.
  void joinGroup();
  void expectCollectives();
  void begin(std::vector<Runner> runners);
  void checkRanks(const Runner &runner) const;
  RankShare share() const;
  void readGivenConfig(std::span<const training::Override> overrides);
  void takeStepsPerCall();
  void checkTargetsOf(const std::vector<int64_t> &classes) const;
  std::vector<const TrainData *> sets() const;

  bool withNorm;                         ///< whether steps compute the norm of gradients, on all ranks
  std::shared_ptr<sprig_rt_group> group; ///< of processes
  std::optional<TrainNote> note;         ///< of a package
  std::vector<InputSpec> specs;
  std::string measured; ///< of --shares auto
};

} // namespace sprig::cli
