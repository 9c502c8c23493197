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
  std::vector<double> sums(1); // of the loss, of metrics, and of what these are over
  std::vector<std::string> names;
  double weight = 0;
  int64_t samples = 0, hits = 0, withHits = 0;
  for (const Part &part : parts) {
    double own = part.scores.weight.defined() ? part.scores.weight.item<double>(at) : double(part.samples);
    sums.resize(1 + part.scores.metrics.size());
    names.clear();
    for (auto &[name, value] : part.scores.metrics) names.push_back(name);
    // A mean over nothing is no number.
    if (own != 0) {
      sums[0] += part.scores.loss.item<double>(at) * own;
      for (size_t i = 0; i < names.size(); ++i) sums[1 + i] += part.scores.metrics[i].second.item<double>(at) * own;
    }
    weight += own;
    samples += part.samples;
    if (!part.scores.hits.defined()) continue;
    withHits += part.samples;
    hits += part.scores.hits.item<int64_t>(at);
  }
  if (group) {
    using dist::Algorithm, dist::Reduce;
    sums.push_back(weight);
    Tensor all = group->allReduce(Tensor(sums), Reduce::sum, Algorithm::automatic, at);
    std::copy_n(all.data<double>(at), sums.size(), sums.begin());
    weight = sums.back();
    Tensor counts = group->allReduce(Tensor({samples, hits, withHits}), Reduce::sum, Algorithm::automatic, at);
    const auto *numbers = counts.data<int64_t>(at);
    samples = numbers[0], hits = numbers[1], withHits = numbers[2];
  }
  training::Evaluation result{.loss = sums[0] / weight, .samples = samples};
  for (size_t i = 0; i < names.size(); ++i) result.metrics.emplace_back(names[i], sums[1 + i] / weight);
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
