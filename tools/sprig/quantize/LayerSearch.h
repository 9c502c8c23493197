// Which layers lose most, and how few of them have to stay floats.
// For quantize --sensitivity and --accuracy-drop. One model is compiled whose layers are quantised or not as its inputs
// say, and run for each choice.
#pragma once
#include "lib/Quantize/WriteStatic.h"
#include "tools/sprig/quantize/CompiledModel.h"
#include "tools/sprig/quantize/Judge.h"

namespace sprig::cli {

class LayerSearch {
public:
  /// `bytes` is the model with a switch for each layer of the plan.
  LayerSearch(std::string bytes, const std::string &path, const Settings &settings, const quantize::Plan &plan,
              const Judge &judge);

  /// Losses where each layer alone is quantised, in the order of the plan.
  const std::vector<Loss> &alone();
  /// Layers from the one that loses most to the one that loses least, alone.
  std::vector<size_t> order();
  /// Losses where all but the first so many of that order are quantised.
  Loss without(size_t count);
  /// The least number of them that have to stay floats so that no more than `drop` is lost.
  size_t fewest(double drop);

private:
  Loss run(const std::vector<bool> &quantized);

  CompiledModel model;
  const quantize::Plan &plan;
  const Judge &judge;
  std::vector<Loss> losses;
};

} // namespace sprig::cli
