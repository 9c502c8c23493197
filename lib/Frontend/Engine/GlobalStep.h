// A function of all ranks' samples: it is recorded with the types of the whole batch, and the compiler divides it. It
// bears the marks by which a strategy states how (dialects/NN/Attributes.h, lib/Shard/Strategy).
// For the trainer, which begins it, and for what records differently within it.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/RankEnd.h"
#include "sprig/ranks.h"
#include "sprig/tensor.h"
#include <utility>

namespace sprig::frontend {

struct Variant;

struct GlobalStep {
  std::shared_ptr<RankEnd> end;
  Division division;
  std::vector<int64_t> weights = {}; ///< by which ranks share each pass; none: evenly
  NormStatistics norms = NormStatistics::all;
  /// Whole gradients as they are marked, and what they are of.
  std::vector<std::pair<Tensor, Parameter>> gradients = {};

  /// Of the function that this thread records; null where what is computed is of this rank's samples, or there are no
  /// ranks.
  static const GlobalStep *current();
  /// The function that is being recorded, nothing of it yet, is such a step: from here on its arguments have the
  /// samples of all ranks, those of the passes together, along their first axes.
  static void begin(GlobalStep step);
  /// The function's results, in their order.
  static void nameResults(std::vector<std::string> names);
  /// Gradients after their passes are summed. The values that are returned stand for them from there on.
  static std::vector<Tensor> markGradients(std::vector<Tensor> gradients, const std::vector<Parameter> &of, Source at);

  /// Writes the names of the marked gradients' parameters, as the variant's states have them.
  void nameGradients(const Variant &variant) const;
};

/// While it lives, this thread's calls of compiled functions that are such steps run operation by operation, with the
/// same bits.
class OperationScope {
public:
  OperationScope();
  ~OperationScope();
  OperationScope(const OperationScope &) = delete;
  OperationScope &operator=(const OperationScope &) = delete;
  static bool isOn();

private:
  const bool outer;
};

/// A sum over gradients, of which ranks may each have terms, by its name in profiles and errors.
Tensor markTotal(const Tensor &sum, const char *name, Source at);

} // namespace sprig::frontend
