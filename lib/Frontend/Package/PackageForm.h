// A recorded function in the form that a package wants: nothing but arguments and state.
// For saving.
#pragma once
#include "lib/Frontend/Engine/Variant.h"

namespace sprig::frontend {

struct PackageForm {
  Graph graph;
  std::vector<StateSlot> states; ///< initial values point into `kept` and parameters' values
  std::vector<Tensor> kept;      ///< keeps them alive
};

/// Captured tensors become constants, the words of random numbers state ("random/seed", "random/counter") that goes on
/// with every run. `nameOf` gives each parameter its name in the package. Waits for the values of parameters.
PackageForm packageForm(const Variant &variant, const std::function<std::string(const Parameter &)> &nameOf);

/// Names of `count` inputs or outputs: those that are given, then `otherwise` and their place. They are different, not
/// empty, and have no NUL; else an error of `op`.
std::vector<std::string> portNames(const std::vector<std::string> &given, size_t count, const char *otherwise,
                                   const char *op, Source at);

} // namespace sprig::frontend
