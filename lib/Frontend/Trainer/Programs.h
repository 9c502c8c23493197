// A module's training step and its evaluation, compiled or run as they are written.
// For the trainer and its sweeps: one object lives as long as its programs are to be used again.
#pragma once
#include "sprig/function.h"
#include "sprig/trainer.h"

namespace sprig::frontend {

class TrainingPrograms {
public:
  /// `withNorm`: whether steps give the norm of their gradients as well; no other bit depends on it.
  /// `at`: the line that messages name.
  TrainingPrograms(Training training, bool compile, bool withNorm, Source at);

  /// Asks for a step; gives its loss and the norm (undefined without) as f32 scalars that are not there yet.
  std::pair<Tensor, Tensor> step(const data::Batch &batch) const;
  /// Asks for a batch's scores. The module is in the mode that the caller has set.
  Scores evaluate(const data::Batch &batch) const;

  const Training &of() const { return training; }
  /// How often the step was recorded.
  size_t recordings() const { return stepProgram.recordings().size(); }

private:
  using Fields = std::vector<Tensor>;
  using Program = Function<std::function<Fields(const Fields &)>>;
  static Program program(std::string name, std::function<Fields(const Fields &)> body, bool compile, Source at);

  Training training;
  bool withNorm;
  Source at;
  Program stepProgram, evaluation;
};

} // namespace sprig::frontend
