// The flag --steps-per-call: how many training steps one call of a program takes.
// For commands that compile a training step.
#pragma once
#include "tools/sprig/Settings.h"
#include <cstdint>
#include <optional>

namespace sprig::cli {

class StepsPerCall {
public:
  void addTo(CLI::App &command);
  /// 1 where it is not given. Throws usage errors for what such calls do not go with.
  int64_t count(const Settings &settings) const;
  /// As it was given.
  const std::optional<int64_t> &given() const { return steps; }
  /// Throws a usage error where it is given: with a package, which has the calls that it was compiled with.
  void refuseOf(const std::string &package) const;

private:
  std::optional<int64_t> steps;
};

} // namespace sprig::cli
