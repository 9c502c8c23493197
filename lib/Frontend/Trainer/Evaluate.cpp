#include "lib/Frontend/Trainer/Evaluate.h"
#include "sprig/ops.h"

namespace sprig {

namespace frontend {

namespace {
/// Modes of a module and of all below it, as they were.
class EvaluationMode {
public:
  explicit EvaluationMode(const nn::Module &module) : root(module) {
    for (nn::Module *each : root.modules()) modes.emplace_back(*each, each->isTraining());
    module.eval();
  }
  ~EvaluationMode() {
    // Parents come first, so that what was set for a child alone stays.
    for (auto &[each, isTraining] : modes) each.train(isTraining);
  }
  EvaluationMode(const EvaluationMode &) = delete;

private:
  nn::Module root;
  std::vector<std::pair<nn::Module, bool>> modes;
};
} // namespace

training::Evaluation evaluate(const TrainingPrograms &programs, data::Loader &set, dist::Group *group, Source at) {
  EvaluationMode mode(*programs.of().module);
  struct Part {
    int64_t samples;
    Scores scores;
  };
  std::vector<Part> parts;
  for (const data::Batch &batch : set) // ranks without samples draw, and meet the others, like those that have some
    if (batch.size() || group) parts.push_back({batch.size(), programs.evaluate(batch)});
  double loss = 0, weight = 0;
  int64_t samples = 0, hits = 0, withHits = 0;
  for (const Part &part : parts) {
    double own = part.scores.weight.defined() ? part.scores.weight.item<double>(at) : double(part.samples);
    if (own != 0) loss += part.scores.loss.item<double>(at) * own; // a mean over nothing is no number
    weight += own;
    samples += part.samples;
    if (!part.scores.hits.defined()) continue;
    withHits += part.samples;
    hits += part.scores.hits.item<int64_t>(at);
  }
  if (group) {
    using dist::Algorithm, dist::Reduce;
    Tensor losses = group->allReduce(Tensor({loss, weight}), Reduce::sum, Algorithm::automatic, at);
    loss = losses.data<double>(at)[0], weight = losses.data<double>(at)[1];
    Tensor counts = group->allReduce(Tensor({samples, hits, withHits}), Reduce::sum, Algorithm::automatic, at);
    const auto *numbers = counts.data<int64_t>(at);
    samples = numbers[0], hits = numbers[1], withHits = numbers[2];
  }
  training::Evaluation result{.loss = loss / weight, .samples = samples};
  if (samples && withHits == samples) {
    result.accuracy = double(hits) / double(samples);
    result.correct = hits;
    result.counted = samples;
  }
  return result;
}

} // namespace frontend

Tensor hitsOf(const Operand &logits, const Operand &classes) {
  const Source at = logits.at;
  Tensor found = argmax(logits, -1);
  Tensor same = eq({found, at}, {cast(classes, found.dtype()), at});
  return sum({cast({same, at}, DType::i64), at});
}

} // namespace sprig
