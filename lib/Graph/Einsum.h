// An equation of Einstein's summation convention ("bij,bjk->bik") as a list of plain operations on its operands.
// For the front-end and the importer of ONNX models, which carry the steps out each in its own way.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::graph {

/// Makes the next value of others. Values are numbered: the operands, then the result of each step.
struct EinsumStep {
  enum class Kind : uint8_t {
    transpose, ///< numbers: the permutation
    reshape,   ///< numbers: the shape
    broadcast, ///< numbers: the shape
    slice,     ///< numbers: start, size, step, along the last axis
    sum,       ///< numbers: ascending axes, which disappear
    multiply,  ///< of both operands, whose shapes broadcast
    matmul,    ///< [B, M, K] x [B, K, N]
  };
  Kind kind;
  size_t a, b = 0; ///< b: of multiply and matmul
  std::vector<int64_t> numbers = {};
};

struct EinsumPlan {
  std::vector<EinsumStep> steps;
  size_t result = 0;
  /// What is wrong with the equation or the shapes, to follow an operation's name ("has ..."); empty where nothing is.
  std::string error;
};

/// Labels are letters, "..." stands for dimensions that broadcast; without "->" the result has the ellipsis and then
/// the labels that occur once, in alphabetical order. A label twice in a term takes the diagonal. Dimensions of size 1
/// broadcast against their label's others. Products go from the left to the right.
EinsumPlan planEinsum(const std::string &equation, const std::vector<std::vector<int64_t>> &shapes);

} // namespace sprig::graph
