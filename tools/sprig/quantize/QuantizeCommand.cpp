// sprig quantize: weights and activations in fewer bits, and what that loses.
#include "lib/Data/File.h"
#include "lib/Machine/Cpu.h"
#include "runtime/base/Decimal.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/quantize/QuantizeModel.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

namespace sprig::cli {
namespace {

struct QuantizeCommandOptions {
  CommonOptions common;
  QuantizeOptions quantize;
  std::string output;
};

/// The package of a quantised model, for the sizes that --dim and --shape give.
std::vector<uint8_t> package(const QuantizeCommandOptions &options, const std::string &bytes) {
  Model model{options.quantize.model, ModelKind::onnx, bytes, nullptr};
  const Settings &settings = options.quantize.settings;
  return compile(model, requestEntries(model, settings), settings, machine::packagedCpus()).package;
}

// Before minutes of calibration.
void checkOutput(const std::string &output) {
  std::filesystem::path file(output), folder = file.parent_path();
  std::string ending = file.extension();
  if (ending != ".onnx" && ending != ".sprig")
    badUse("-o " + output + ": expected a name that ends in .onnx or .sprig");
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    runtimeError(output + ": cannot be written: there is no folder " + folder.string());
}

// Flags that another mode has no use for are no wishes to pass over.
void checkFlags(const QuantizeCommandOptions &options, const CLI::App &command) {
  const QuantizeOptions &how = options.quantize;
  auto onlyWith = [&](bool fits, std::initializer_list<const char *> flags, const char *text) {
    for (const char *flag : flags)
      if (!fits && command.count(flag))
        badUse(std::string(flag) + ": goes with " + text + ", and this is --mode " + how.mode +
               (how.mode == "weights" ? " --bits " + std::to_string(how.bits) : ""));
  };
  bool isStatic = how.mode == "static", isWeights = how.mode == "weights";
  onlyWith(isStatic,
           {"--calibrate", "--percentile", "--activations", "--placement", "--computed-products", "--correct-bias",
            "--sensitivity", "--accuracy-drop", "--trainable"},
           "--mode static");
  if (how.trainable && how.correctBias && command.count("--correct-bias"))
    badUse("--correct-bias: goes with weights that are rounded once and for all, and --trainable "
           "leaves them floats that are trained");
  if (isWeights && how.bits != 8 && how.bits != 4)
    badUse("--bits: with --mode weights 8 or 4, found " + std::to_string(how.bits));
  onlyWith(isWeights && how.bits == 4, {"--group", "--accuracy-level"}, "--mode weights --bits 4");
  onlyWith(isStatic || (isWeights && how.bits == 4), {"--symmetric"}, "--mode static and --mode weights --bits 4");
  if (command.count("--percentile") && how.calibrate != "percentile")
    badUse("--percentile: goes with --calibrate percentile, and this is --calibrate " + how.calibrate);
  for (double x : how.mean)
    if (!std::isfinite(x)) badUse("--mean: expected finite numbers, found " + std::to_string(x));
  for (double x : how.deviation)
    if (!std::isfinite(x) || x == 0) badUse("--std: expected finite numbers other than 0, found " + std::to_string(x));
  if (isStatic && how.data.empty())
    badUse("--mode static finds ranges of activations on samples: give a folder of them with --data DIR");
}

// "1%" or "0.01".
double parseShare(const std::string &text) {
  std::string_view rest = text;
  double share = decimal::take(rest).value_or(-1);
  if (rest == "%") share /= 100;
  if (!(share >= 0 && share < 1) || (!rest.empty() && rest != "%"))
    badUse("--accuracy-drop: expected a share as 1% or 0.01, found '" + text + "'");
  return share;
}

int quantizeCommand(const QuantizeCommandOptions &options, const CLI::App &command) {
  checkFlags(options, command);
  checkOutput(options.output);
  bool isPackage = options.output.ends_with(".sprig");
  if (isPackage && options.quantize.model != "-") { // what it lacks is told before minutes of calibration, too
    Model model = openModel(options.quantize.model);
    if (model.kind == ModelKind::onnx) requestEntries(model, options.quantize.settings);
  }
  QuantizeReport report = quantizeModel(options.quantize);
  uint64_t bytes = report.bytes.size();
  if (isPackage) {
    std::vector<uint8_t> made = package(options, report.bytes);
    bytes = made.size();
    data::writeFile(options.output, {reinterpret_cast<const char *>(made.data()), made.size()});
  } else {
    data::writeFile(options.output, report.bytes);
  }
  print(report, options.output, bytes, options.common.json());
  return kDone;
}

void addHow(CLI::App &command, QuantizeOptions &options) {
  addChoice(command, "--mode", options.mode, {"static", "dynamic", "weights"},
            "static (ranges of activations are constants, found on samples), dynamic (found in each call) or "
            "weights (these alone have few bits)");
  command
      .add_option("--bits", options.bits,
                  "of weights: with --mode static and dynamic 3 to 8, stored in bytes; with --mode weights 8, or 4 for "
                  "matrix products")
      ->check(CLI::Range(3, 8))
      ->capture_default_str();
  command
      .add_option("--group", options.group, "with --bits 4: weights that share a scale, a power of two from 16 to 256")
      ->check(CLI::IsMember({16, 32, 64, 128, 256}))
      ->capture_default_str();
  command
      .add_option(
          "--accuracy-level", options.accuracyLevel,
          "with --mode weights --bits 4: 4 lets products round activations to eight bits, a scale for each group "
          "of a row")
      ->check(CLI::IsMember({0, 4}))
      ->capture_default_str();
  addChoice(command, "--calibrate", options.calibrate, {"minmax", "percentile", "mse", "kl"},
            "how ranges of activations are found: minmax, percentile, mse (least squared error) or kl (least "
            "divergence)");
  command.add_option("--percentile", options.percentile, "with --calibrate percentile: of the numbers, in the range")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  addChoice(command, "--activations", options.activations, {"u8", "i8"}, "type of activations: u8 or i8");
  command.add_flag("--symmetric", options.symmetric, "ranges of activations that are as wide below 0 as above");
  command.add_flag("--per-tensor", options.perTensor,
                   "one scale for all of a weight (default: one for each output channel)");
  addChoice(command, "--placement", options.placement, {"around", "operands"},
            "where quantisers stand: operands (of products: what follows one reads what it accumulated) or around "
            "(also at results of convolutions, so that a runtime can run each operator on integers by itself)");
  command.add_flag("--computed-products", options.computedProducts,
                   "quantise matrix products of two computed operands, too, as in attention");
  command.add_flag("--equalize", options.equalize,
                   "scale channels between layers first, so that weights have like ranges in all of them");
  command.add_flag("--correct-bias,!--no-correct-bias", options.correctBias,
                   "take what rounded weights add to the mean of results off the biases (default: on)");
  command.add_flag("--trainable", options.trainable,
                   "weights and biases stay floats in front of quantisers, for sprig train to train them further");
  command.add_flag("--sensitivity", options.sensitivity, "also report what quantising each layer alone loses");
  command
      .add_option_function<std::string>(
          "--accuracy-drop", [&](const std::string &text) { options.accuracyDrop = parseShare(text); },
          "keep as few layers in floats, by a search from the worst on, as lose no more: 1% of the samples, right by "
          "their labels or, without labels, as before")
      ->type_name("SHARE");
  addRepeated(command, "--exclude", options.exclude, "a layer that stays as it is, by its node's name; repeatable");
}

} // namespace

void addQuantize(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<QuantizeCommandOptions>();
  QuantizeOptions &how = options->quantize;
  CLI::App *command =
      addCommand(app, "quantize", "Quantises a model's weights and activations to eight bits",
                 "  sprig quantize examples/digits/model.onnx --data examples/digits/data -o int8.onnx\n"
                 "  sprig quantize examples/digits/model.onnx --data examples/digits/data --calibrate "
                 "mse --dim batch=8 -o int8.sprig",
                 options->common);
  command->add_option("MODEL", how.model, "an ONNX file (- reads standard input)")->required();
  command->add_option("-o,--output", options->output, "file to write: .onnx, or .sprig for a package")->required();
  command->add_option(
      "--data", how.data,
      "folder of samples: input_K.* (or subfolders test_data_set_*, data_* of them), arrays called as the "
      "inputs, other arrays for the one input, or images in subfolders by class; labels in labels.* or "
      "y.*. --mode static needs it, others only report on it");
  command->add_option("--eval", how.evaluation, "folder of samples to judge on (default: those of --data)");
  command->add_option("--samples", how.samples, "samples to take at most")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->capture_default_str();
  command->add_option("--batch", how.batch, "samples of a call at most, where the model leaves it open")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20))
      ->capture_default_str();
  command->add_option("--mean", how.mean, "of images: what is taken off each channel after division by 255")
      ->delimiter(',');
  command->add_option("--std", how.deviation, "of images: what each channel is divided by then")->delimiter(',');
  addHow(*command, how);
  addSettings(*command, how.settings);
  onRun(*command, invocation, [=] { return quantizeCommand(*options, *command); });
}

} // namespace sprig::cli
