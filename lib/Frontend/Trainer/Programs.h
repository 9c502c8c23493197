// A module's training step and its evaluation, compiled or run as they are written.
// For the trainer and its sweeps: one object lives as long as its programs are to be used again.
#pragma once
#include "sprig/dist.h"
#include "sprig/function.h"
#include "sprig/trainer.h"

namespace sprig::frontend {

struct ProgramOptions {
  bool compile = true;
  bool withNorm = false; ///< whether steps give the norm of their gradients as well; no other bit depends on it
  int64_t accumulate = 1;
  FactorPolicy factors = FactorPolicy::never; ///< of sums over ranks; gradients of several passes are added up
  int64_t bucketBytes = 0;                    ///< of those sums; 0: chosen
  std::vector<int64_t> shares = {};           ///< weights of the ranks'
  NormStatistics norms = NormStatistics::all; ///< of batch norms over the ranks
  bool allowGather = false;                   ///< of samples' values, by ranks
  bool sharesState = false;                   ///< of the optimizer, which is divided while steps run
  dist::Group *group = nullptr;               ///< batches are this rank's shares
};

/// What a program's results are, as its first recording finds: the loss, and what else there is.
struct ScoreLayout {
  bool isKnown = false, hasHits = false, hasWeight = false;
  std::vector<std::string> names; ///< of metrics
};

/// What a step gives, of all ranks together, as f32 scalars that are not there yet.
struct StepTensors {
  Tensor loss, norm, weight; ///< norm and weight not defined where there is none
  std::vector<Tensor> metrics;
};

class TrainingPrograms {
public:
  /// `at`: the line that messages name.
  TrainingPrograms(Training training, const ProgramOptions &options, Source at);

  /// Asks for a step.
  StepTensors step(const data::Batch &batch) const;
  /// The same of several steps as one program; batches have the same number of samples.
  std::vector<StepTensors> steps(std::span<const data::Batch> batches) const;
  /// Whether each pass of a batch of so many samples of all ranks has some on every rank.
  bool isEnough(int64_t samples) const;
  /// Asks for a batch's scores. The module is in the mode that the caller has set.
  Scores evaluate(const data::Batch &batch) const;

  /// What a step of a batch of so many samples of all ranks is expected to take on so many threads, of which this rank
  /// has fields of these types. Nothing is run.
  static double expectedSeconds(const Training &training, const ProgramOptions &options,
                                std::span<const TensorType> fields, int64_t samples, int threads, Source at);

  /// Of a step's metrics, once one was asked for.
  const std::vector<std::string> &metricNames() const { return ofStep->names; }

  const Training &of() const { return training; }
  /// How often the step was recorded.
  size_t recordings() const { return stepProgram.recordings().size(); }
  int64_t bucketBytes() const { return stepProgram.bucketBytes(); }

private:
  using Fields = std::vector<Tensor>;
  using StepBody = std::function<Fields(const Fields &, int64_t)>; ///< of a batch of so many samples of all ranks
  using Body = std::function<Fields(const Fields &)>;
  static StepBody stepBody(const Training &training, const ProgramOptions &options, std::shared_ptr<ScoreLayout> layout,
                           Source at);
  bool runsOperations() const;
  StepTensors given(const Fields &results) const;

  Training training;
  ProgramOptions options;
  Source at;
  std::shared_ptr<ScoreLayout> ofStep = std::make_shared<ScoreLayout>(), ofEvaluation = std::make_shared<ScoreLayout>();
  Function<StepBody> stepProgram;
  Function<Body> evaluation;
};

} // namespace sprig::frontend
