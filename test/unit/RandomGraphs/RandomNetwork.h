// Random networks in nn: elementwise operations, products, convolutions, pools, reductions, softmax, shapes, branches
// by data, parameters that a step sets, gradients, several results. For RandomNetworksTest.cpp, which compiles and runs
// them in every way. All that a network is follows from its seed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sprig::randoms {

using Shape = std::vector<int64_t>;

/// A value and the operation that makes it.
struct Value {
  enum Kind { Argument, Parameter, Operation } kind = Argument;
  /// Of an operation, with `$0` and `$t0` for its operands and their types, `$r` for its result's, `$n` for its number,
  /// `$T` for the element type and `$=` where its result is named.
  std::string format;
  std::vector<size_t> operands; ///< earlier values
  Shape shape;
  double bound = 1;    ///< of magnitudes: results stay small, and with them errors
  bool isEven = false; ///< of a parameter: all elements are the bound
};

struct RandomNetwork {
  explicit RandomNetwork(uint64_t seed);

  uint64_t seed;
  std::string element = "f32";
  bool freezes = true; ///< parameters that nothing sets become constants
  std::vector<Value> values;
  std::vector<size_t> results;
  struct Update {
    size_t parameter, value; ///< of one shape
  };
  std::vector<Update> updates;
  bool learns = false; ///< some of the updates are steps along gradients

  size_t operations() const;
  /// The module; what nothing needs is left out.
  std::string text() const;
  /// With an argument in place of an operation.
  RandomNetwork without(size_t operation) const;
};

/// The fewest operations and results for which `fails` still holds, as it does for all of them.
RandomNetwork shrink(RandomNetwork network, const std::function<bool(const RandomNetwork &)> &fails);

} // namespace sprig::randoms
