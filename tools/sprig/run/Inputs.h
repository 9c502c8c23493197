// Arrays for a model's inputs: from files, at random, or an error that lists what is missing.
// For run, bench and check.
#pragma once
#include "lib/Data/Array.h"
#include "lib/Data/Holders.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

/// A dimension of a model's input: a size, or a symbol that a size is bound to, or unknown.
struct Dim {
  std::optional<int64_t> size;
  std::string symbol;
  int64_t least = 1; ///< of a symbol: the smallest size that is known to do
};
struct InputSpec {
  std::string name;
  std::string dtype; ///< f32, ui8, i1, ...
  std::vector<Dim> dims;
  bool hasShape = true;
  data::Holder holder = data::Holder::tensor; ///< type and shape are those of each tensor
};

/// Sequences and optionals as the tensors that they stand for, where `dims` or what is given say how many, which is
/// added to `dims`.
std::vector<InputSpec> withTensors(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims,
                                   const std::function<bool(const std::string &)> &isGiven);
/// Throws a usage error of those that are left, with the flags that say it.
void requireTensors(const std::vector<InputSpec> &specs);

/// "x: batchx784xf32"
std::string describe(const InputSpec &spec);

/// The element type of a name as the IR prints it (ui8) or as arrays print it (u8).
std::optional<data::DType> dtypeOf(const std::string &name);

/// Reads NAME=FILE arguments. Throws usage errors for a word without '=', an unknown or repeated name.
std::map<std::string, data::Array> readInputs(const std::vector<std::string> &arguments,
                                              const std::vector<InputSpec> &specs);

/// Sizes of the symbolic dimensions that the arrays give, added to `dims`. Throws badInput when an array does not have
/// the input's type or rank, a fixed size differs, or two arrays give a symbol two sizes.
void bindDims(const std::vector<InputSpec> &specs, const std::map<std::string, data::Array> &arrays,
              std::map<std::string, int64_t> &dims);

/// Fills the inputs that `arrays` lacks: floats from a standard normal distribution, integers 0 or 1, by Philox
/// counters from the seed and the input's position. Needs every dimension of the missing ones bound.
void fillRandom(const std::vector<InputSpec> &specs, uint64_t seed, const std::map<std::string, int64_t> &dims,
                std::map<std::string, data::Array> &arrays);

/// Throws a usage error that lists all inputs when one is missing.
void requireAll(const std::vector<InputSpec> &specs, const std::map<std::string, data::Array> &arrays);

} // namespace sprig::cli
