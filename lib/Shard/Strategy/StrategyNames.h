// The names of the ways in which ranks share training steps: the one table of them.
// For flags and options, which list and refuse names without the compiler; Strategy.h has what each one states.
#pragma once
#include <string_view>

namespace sprig::shard {

struct StrategyName {
  const char *name, *summary;
  int zero; ///< what `--zero` says of it: 1: ranks share the optimizer's state
};

inline constexpr StrategyName kStrategyNames[] = {
    {"data", "each rank has the whole model and a share of each batch", 0},
    {"zero1", "as data, and each rank holds and updates a piece of the optimizer's state (ZeRO 1)", 1},
};

/// Null where there is none of that name.
constexpr const StrategyName *findStrategyName(std::string_view name) {
  for (const StrategyName &each : kStrategyNames)
    if (each.name == name) return &each;
  return nullptr;
}

} // namespace sprig::shard
