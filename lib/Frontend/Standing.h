// Whether a parameter is still where it was in its module, and whether anybody trains it: for what holds parameters by
// itself, optimizers and compiled functions.
#pragma once
#include "sprig/tensor.h"
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

namespace sprig::frontend {

/// Times are those of structureClock(); 0: never.
struct Standing {
  uint64_t removed = 0;                  ///< it left the last place that it had; 0 while it has one
  std::string how;                       ///< "'head' of the Net was replaced at train.cpp:12"
  std::weak_ptr<const void> module;      ///< the nn::Module::State that it was added to last
  const std::type_info *layer = nullptr; ///< that module's class; null: it was added to none
  Source made;                           ///< where
  /// Whether nothing is to be said where no optimizer has it: one has, gradients were asked for it, the program sets
  /// it, or it has been said.
  bool isSettled = false;
};
Standing &standingOf(const Parameter &parameter);

/// Counts changes of what modules consist of, of all of them.
uint64_t structureClock();
uint64_t tickStructureClock();

/// Before the gradients of a loss are taken by `wrt`: remembers which trainable parameters it reaches beside these and
/// the settled ones, for who updates one of `wrt`. They are roots.
void noteUntrained(std::span<Value *const> reached, std::span<const Tensor> wrt);
/// What was remembered of the parameter, once.
std::vector<Parameter> takeUntrained(const Parameter &parameter);

} // namespace sprig::frontend
