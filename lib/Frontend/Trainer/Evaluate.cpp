#include "lib/Frontend/Trainer/Evaluate.h"
#include "lib/Frontend/Record.h"
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

void refuseShares(const data::Loader &set, Source at) {
  if (int ranks = set.options().ranks; ranks > 1)
    throw Error(ErrorKind::unsupported, placeText(at) +
                                            "Trainer: expected a loader of all samples, found one of rank " +
                                            std::to_string(set.options().rank) + " of " + std::to_string(ranks) +
                                            "; several ranks train by a loop with dist::Group::allReduce");
}

Evaluation evaluate(const TrainingPrograms &programs, data::Loader &set, Source at) {
  refuseShares(set, at);
  EvaluationMode mode(*programs.of().module);
  struct Part {
    int64_t samples;
    Scores scores;
  };
  std::vector<Part> parts;
  for (const data::Batch &batch : set) parts.push_back({batch.size(), programs.evaluate(batch)});
  double loss = 0;
  int64_t samples = 0, hits = 0;
  bool knowsHits = !parts.empty();
  for (const Part &part : parts) {
    loss += part.scores.loss.item<double>(at) * double(part.samples);
    samples += part.samples;
    knowsHits &= part.scores.hits.defined();
    if (part.scores.hits.defined()) hits += part.scores.hits.item<int64_t>(at);
  }
  Evaluation result{loss / double(samples), std::nullopt};
  if (knowsHits) result.accuracy = double(hits) / double(samples);
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
