// State dicts: tensors by name, in memory and in files. For modules and optimizers.
#pragma once
#include "sprig/tensor.h"
#include <filesystem>
#include <string>

namespace sprig::nn {

struct NamedTensor {
  std::string name;
  Tensor value;
};
/// In the order of registration, as PyTorch's state_dict().
using StateDict = std::vector<NamedTensor>;

/// What loading with `strict = false` left out.
struct LoadReport {
  std::vector<std::string> missing;    ///< of the module, not in what was loaded
  std::vector<std::string> unexpected; ///< in what was loaded, not of the module
};

/// Files of named tensors: .safetensors, .npz. Errors name the line and the file.
SPRIG_API void saveTensors(const std::filesystem::path &path, const StateDict &tensors, Source at = Source::here());
SPRIG_API StateDict loadTensors(const std::filesystem::path &path, Source at = Source::here());

} // namespace sprig::nn
