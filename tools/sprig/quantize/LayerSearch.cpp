#include "tools/sprig/quantize/LayerSearch.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace sprig::cli {

LayerSearch::LayerSearch(std::string bytes, const std::string &path, const Settings &settings,
                         const quantize::Plan &plan, const Judge &judge)
    : model(std::move(bytes), path, settings), plan(plan), judge(judge) {}

Loss LayerSearch::run(const std::vector<bool> &quantized) {
  return judge.judge([&](const CalibrationCall &call) {
    std::map<std::string, data::Array> inputs = call.inputs;
    for (size_t i = 0; i < quantized.size(); ++i) {
      std::string name = quantize::switchName(plan.layers[i]);
      inputs[name] = {name, data::DType::i1, {}, {char(quantized[i])}};
    }
    return model.run(inputs);
  });
}

const std::vector<Loss> &LayerSearch::alone() {
  if (losses.empty())
    for (size_t i = 0; i < plan.layers.size(); ++i) {
      std::vector<bool> quantized(plan.layers.size());
      quantized[i] = true;
      losses.push_back(run(quantized));
    }
  return losses;
}

std::vector<size_t> LayerSearch::order() {
  alone();
  std::vector<size_t> result(losses.size());
  std::iota(result.begin(), result.end(), size_t(0));
  // Nothing to compare is as bad as it gets.
  auto decibels = [&](size_t i) { return std::isnan(losses[i].decibels) ? -INFINITY : losses[i].decibels; };
  std::stable_sort(result.begin(), result.end(), [&](size_t a, size_t b) { return decibels(a) < decibels(b); });
  return result;
}

Loss LayerSearch::without(size_t count) {
  std::vector<bool> quantized(plan.layers.size(), true);
  std::vector<size_t> worst = order();
  for (size_t i = 0; i < count; ++i) quantized[worst[i]] = false;
  return run(quantized);
}

size_t LayerSearch::fewest(double drop) {
  size_t low = 0, high = plan.layers.size(); // none is lost with all of them
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (without(middle).classes->drop() <= drop)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

} // namespace sprig::cli
