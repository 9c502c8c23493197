// An ONNX model in memory, compiled for each set of shapes that it is called with.
// For quantize, which runs the float model and quantised ones side by side.
#pragma once
#include "tools/sprig/Model.h"
#include <map>

namespace sprig::cli {

class CompiledModel {
public:
  CompiledModel(std::string bytes, const std::string &path, const Settings &settings);
  const std::vector<InputSpec> &inputs() const { return specs; }
  std::vector<data::Array> run(const std::map<std::string, data::Array> &arrays);
  /// A call that can be repeated while the model lives.
  PreparedCall prepare(const std::map<std::string, data::Array> &arrays);

private:
  const Runner &runnerFor(const std::map<std::string, data::Array> &arrays);

  Model model;
  const Settings &settings;
  std::vector<InputSpec> specs;
  std::map<std::vector<int64_t>, Runner> runners; ///< by the sizes of all inputs
};

} // namespace sprig::cli
