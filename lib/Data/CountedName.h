// What an output is called that says how large a dimension of another one is: data decide that size, while programs
// give tensors of the largest one. For importers, which make such outputs, and for whoever cuts what counts.
#pragma once
#include <cstdint>
#include <string>

namespace sprig::data {

inline std::string countName(const std::string &output, int64_t dimension) {
  return output + ".count." + std::to_string(dimension);
}

} // namespace sprig::data
