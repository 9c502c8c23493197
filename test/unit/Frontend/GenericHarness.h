// Runs single operations twice, by the generic kernels and compiled, and compares every bit.
// For the tests of lib/Frontend/Generic. Cases are gathered first and compiled as the entries of one package.
#pragma once
#include "lib/Frontend/Generic.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sprig::frontend {

/// Values of an array: row-major bytes in a block as the engine's are.
class Block {
public:
  explicit Block(const TensorType &type);
  Block(Block &&) = default;
  TensorType type;
  char *data() const { return memory.get(); }
  template <typename T> T *as() const { return reinterpret_cast<T *>(memory.get()); }

private:
  struct Free {
    void operator()(char *p) const;
  };
  std::unique_ptr<char, Free> memory;
};

/// What fills an array: by default numbers of both signs and magnitudes, and among floats NaN, infinities, zeros of
/// both signs and denormals.
using Fill = std::function<void(Block &block)>;
void fillNasty(Block &block);
/// Finite numbers around zero; integers without zero and within ±9.
void fillPlain(Block &block);
/// Indices in [-bound, bound).
Fill indicesBelow(int64_t bound);

struct Case {
  std::string op; // "nn.add"
  AttrList attrs;
  std::vector<TensorType> operands, results;
  std::vector<Fill> fills; // of the operands in order; fillNasty where there is none
  std::shared_ptr<const std::vector<char>> constant;
};

class Comparison {
public:
  void add(Case c) { cases.push_back(std::move(c)); }
  /// An operation with one result.
  void add(const std::string &op, AttrList attrs, std::vector<TensorType> operands, const TensorType &result,
           std::vector<Fill> fills = {}) {
    add({op, std::move(attrs), std::move(operands), {result}, std::move(fills), nullptr});
  }
  /// Compiles all cases for the instruction set that the generic kernels use, and compares. Reports each that differs;
  /// one that has no generic kernel counts as a failure, too.
  void run();

private:
  std::vector<Case> cases;
};

/// Several operations: run one by one by the generic kernels, and compiled as one function, whose parts are fused.
class Chain {
public:
  /// Values are numbered: inputs first, then results. Both return the number.
  uint32_t input(const TensorType &type, Fill fill = fillPlain);
  uint32_t add(const std::string &op, AttrList attrs, std::vector<uint32_t> operands, const TensorType &result);
  /// A constant of one number.
  uint32_t constant(float value);
  /// Compares these values.
  void run(const std::vector<uint32_t> &outputs);

private:
  struct Step {
    std::string op;
    AttrList attrs;
    std::vector<uint32_t> operands;
    std::shared_ptr<const std::vector<char>> constant;
  };
  std::vector<TensorType> types; // of all values
  std::vector<Fill> fills;       // of the inputs
  std::vector<Step> steps;
};

/// The node of a case. The case must outlive it.
GraphNode nodeOf(const Case &c);

} // namespace sprig::frontend
