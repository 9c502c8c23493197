// Gradients and tangents of compiled functions, as compiled programs of their own.
// For the chain rule. A program computes again what it needs of the forward pass, of the function's inputs: calls keep
// nothing but those. It can be differentiated like any other compiled function.
#pragma once
#include "lib/Frontend/Engine/Variant.h"

namespace sprig::frontend {

/// What of a call is differentiated by what.
struct CallForm {
  std::vector<uint32_t> place;   ///< of each input of the callee's graph: which of the call's different values it is
  std::vector<uint32_t> outputs; ///< the callee's results that a cotangent has come to, or whose tangents are wanted
  std::vector<uint32_t> wrt;     ///< different values
  std::vector<uint32_t> sums;    ///< those of `wrt` that cotangents have come to from later operations
};

struct DerivedProgram {
  std::shared_ptr<Variant> variant;
  std::vector<char> isZero; ///< of each result: whether it is always zero
};

/// Inputs: the different values, the cotangents of `outputs`, those of `sums`; results: the cotangents of `wrt`, added
/// to those of `sums` in the order of operations, so that the bits are those of the same operations outside of a call.
DerivedProgram pullbackProgram(const std::shared_ptr<Variant> &callee, const CallForm &form);
/// Inputs: the different values, the tangents of `wrt`; results: the tangents of `outputs`.
DerivedProgram pushforwardProgram(const std::shared_ptr<Variant> &callee, const CallForm &form);

/// Calls it; within a function that is being recorded it becomes a part of that.
std::vector<Tensor> runProgram(const DerivedProgram &program, std::span<const Tensor> inputs, Source at);

/// Whether a value of a graph is a constant of zeros.
bool isZeroConstant(const Graph &graph, uint32_t value);

} // namespace sprig::frontend
