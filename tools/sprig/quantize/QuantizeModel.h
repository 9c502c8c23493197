// From a float model and samples to a quantised model, with what was lost on the way.
// For quantize: the half of the command that needs the compiler.
#pragma once
#include "tools/sprig/Settings.h"
#include "tools/sprig/Report.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct QuantizeOptions {
  Settings settings;
  std::string model, data, evaluation; ///< as given
  std::string mode = "static", calibrate = "mse", activations = "u8", placement = "operands";
  double percentile = 99.999;
  bool symmetric = false, perTensor = false, equalize = false, correctBias = true;
  bool computedProducts = false;
  int bits = 8;           ///< of weights
  bool trainable = false; ///< weights stay floats in front of their quantisers
  int64_t group = 32;
  int accuracyLevel = 0; ///< of MatMulNBits
  int64_t samples = 1024, batch = 32;
  std::vector<double> mean, deviation;
  std::vector<std::string> exclude;
  bool sensitivity = false;
  std::optional<double> accuracyDrop; ///< how much less may be right: a share of the samples
};

/// What was lost of an output, by all samples.
struct OutputLoss {
  std::string name;
  double decibels = 0; ///< signal over noise
  double largest = 0;  ///< difference
  bool sizesDiffer = false;
};
/// Of classes, of the first output, where it has one row for each sample.
struct ClassLoss {
  std::optional<double> before, after; ///< share of samples whose label has the largest number
  double agreement = 0;                ///< of samples that had a class: those whose largest number is at the same place
  /// How much less is right; without labels, how much is different.
  double drop() const { return before ? *before - *after : 1 - agreement; }
};
/// Between a model and its quantised form.
struct Loss {
  std::vector<OutputLoss> outputs;
  std::optional<ClassLoss> classes;
  double decibels = 0; ///< of all outputs together
};
struct LayerLoss {
  std::string name, op;
  bool quantized = true;
  std::optional<double> weightDecibels;
  std::optional<double> outputDecibels; ///< of its result, with all losses before it
  std::optional<double> low, high;      ///< of its operand's quantiser
  std::optional<double> alone;          ///< of all outputs, where only this layer is quantised: signal over noise
  std::optional<double> dropAlone;      ///< ClassLoss::drop of that
};
struct TensorLoss {
  std::string name;
  double scale = 1;
  int zero = 0;
  double decibels = 0;
};

/// The shortest of some calls of each model, in turns, on this machine.
struct CallTimes {
  int64_t samples = 0;          ///< of a call
  double before = 0, after = 0; ///< nanoseconds
};

struct QuantizeReport {
  std::string bytes; ///< of the quantised ONNX model
  std::string mode;
  int64_t samples = 0, evaluated = 0;
  uint64_t bytesBefore = 0;       ///< with weights that lie in files of their own
  std::vector<std::string> notes; ///< what there was and is not used
  std::optional<Loss> loss;       ///< none without samples
  std::vector<LayerLoss> layers;
  std::vector<TensorLoss> tensors;
  int equalized = 0;              ///< pairs of layers
  std::optional<CallTimes> times; ///< none without samples
};

QuantizeReport quantizeModel(const QuantizeOptions &options);

/// `output` is the file that was written, of so many bytes.
void print(const QuantizeReport &report, const std::string &output, uint64_t bytes, bool json);

} // namespace sprig::cli
