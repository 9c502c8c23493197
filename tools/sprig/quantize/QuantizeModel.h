// From a float model and samples to a quantised model, with what was lost on the way.
// For quantize: the half of the command that needs the compiler.
#pragma once
#include "tools/sprig/Settings.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct QuantizeOptions {
  Settings settings;
  std::string model, data, evaluation; ///< as given
  std::string calibrate = "minmax", activations = "u8", placement = "around";
  double percentile = 99.999;
  bool symmetric = false, perTensor = false;
  int64_t samples = 1024, batch = 32;
  std::vector<double> mean, deviation;
  std::vector<std::string> exclude;
};

/// What was lost of an output, by all samples.
struct OutputLoss {
  std::string name;
  double decibels = 0; ///< signal over noise
  double largest = 0;  ///< difference
};
/// Of classes, of the first output that has one row for each sample.
struct ClassLoss {
  std::optional<double> before, after; ///< share of samples whose label has the largest number
  double agreement = 0;                ///< share of samples whose largest number is at the same place
};
struct LayerLoss {
  std::string name, op;
  bool quantized = true;
  std::optional<double> weightDecibels;
  std::optional<double> outputDecibels; ///< of its result, with all losses before it
  std::optional<double> low, high;      ///< of its operand's quantiser
};
struct TensorLoss {
  std::string name;
  double scale = 1;
  int zero = 0;
  double decibels = 0;
};

struct QuantizeReport {
  std::string bytes; ///< of the quantised ONNX model
  std::string mode;
  int64_t samples = 0, evaluated = 0;
  uint64_t bytesBefore = 0;
  std::vector<OutputLoss> outputs;
  std::optional<ClassLoss> classes;
  std::vector<LayerLoss> layers;
  std::vector<TensorLoss> tensors;
};

QuantizeReport quantizeModel(const QuantizeOptions &options);

} // namespace sprig::cli
