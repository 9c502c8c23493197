// sprig train: compiles a network's whole training step once, and trains.
#include "tools/sprig/Report.h"
#include "tools/sprig/train/TrainRun.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace sprig::cli {
namespace {

// --set PATH=JSON, as another flag that overrides.
void addSets(TrainOptions &options) {
  for (const std::string &text : options.set) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      badUse("--set " + text + ": expected FIELD=VALUE, as in optimizer.lr=0.1");
    options.overrides.push_back({"--set " + text.substr(0, equals), text.substr(0, equals), text.substr(equals + 1)});
  }
}

// A flag that sets a field of the configuration.
void addOverride(CLI::App &command, TrainOptions &options, const std::string &flag, const std::string &path,
                 const std::string &meaning) {
  command.add_option_function<std::string>(
      flag, [&options, flag, path](const std::string &value) { options.overrides.push_back({flag, path, value}); },
      meaning + " (overrides `" + path + "`)");
}

} // namespace

void addTrain(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<TrainOptions>();
  options->settings.math = "strict";
  CLI::App *command = addCommand(
      app, "train", "Compiles a network's whole training step and trains it",
      "  sprig train examples/train_digits/model.onnx --config examples/train_digits/train.json"
      " --x examples/train_digits/data/train-images-idx3-ubyte --y examples/train_digits/data/train-labels-idx1-ubyte"
      " -o build/digits.onnx\n"
      "  sprig train --config-help",
      options->common);
  command
      ->add_option("MODEL", options->model,
                   "an ONNX file, MLIR in the nn dialect, or a package made by 'sprig compile --train'")
      ->required();
  command->add_option("--config", options->config,
                      "JSON file; --config-help prints its schema (a package has its own)");
  command
      ->add_flag_callback(
          "--config-help",
          [&showsSchema = options->showsSchema, command] {
            showsSchema = true;
            for (CLI::Option *option : command->get_options()) option->required(false);
          },
          "prints the schema of the configuration, with --format json as one document, and trains nothing")
      ->trigger_on_parse();
  command
      ->add_option("--x", options->x,
                   "samples: FILE, or NAME=FILE for each of several inputs (.npy, .npz, .safetensors, .pb, IDX, CSV; "
                   "FILE.npz:MEMBER)")
      ->take_all()
      ->expected(1)
      ->required();
  command->add_option("--y", options->y, "their targets")->required();
  command->add_option("--eval-x", options->evalX, "samples to evaluate on")->take_all()->expected(1);
  command->add_option("--eval-y", options->evalY, "their targets");
  command->add_option("-o,--output", options->output,
                      "trained model: .onnx, .safetensors, or a folder for a checkpoint");
  addOverride(*command, *options, "--epochs", "epochs", "passes over the data");
  addOverride(*command, *options, "--steps", "steps", "optimizer steps");
  addOverride(*command, *options, "--batch", "batch", "samples of a forward pass");
  addOverride(*command, *options, "--lr", "optimizer.lr", "learning rate");
  addOverride(*command, *options, "--seed", "seed", "of the order of samples and of dropout");
  addOverride(*command, *options, "--remat", "remat", "bytes of saved activations above which they are computed again");
  addLoaderFlags(*command, options->loader, "steps take their batches");
  command->add_option("--set", options->set, "any other field: FIELD=JSON, as in optimizer.momentum=0.9")
      ->take_all()
      ->expected(1);
  command->add_option("--sweep", options->sweep,
                      "a run for each value of a field: lr=0.05:0.6:0.05 (first, last, step), batch=32,64,128; "
                      "--plot draws accuracy and time over it");
  command
      ->add_option("--log-every", options->logEvery,
                   "steps between lines of progress (default: an epoch, or a tenth of a run of one)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  command->add_option("--metrics", options->metrics, "file with a line for each step: .csv, else JSON");
  command->add_option("--tensorboard", options->tensorboard, "folder for TensorBoard, which gets a file of events");
  command->add_option("--plot", options->plot, "SVG file with the run's curves");
  command->add_option("--checkpoint", options->checkpoints, "folder of checkpoints");
  command->add_option("--every", options->every, "steps between checkpoints (default: an epoch)")
      ->needs("--checkpoint")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  command->add_option("--keep", options->keep, "checkpoints that are kept")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_flag("--resume{true}", options->resume,
                    "goes on from the newest checkpoint; --resume=DIR/step-N from that one");
  command->add_flag("--debug-nan", options->debugNan,
                    "finds the operation that makes a loss, a gradient or a state that is not finite (slow)");
  command->add_option(
      "--quantize-aware", options->quantizeAware,
      "folder of samples, as quantize --data takes it: the model is made ready for eight bits by them, and "
      "trained with what quantisers leave of weights and activations; OUT has integers for weights");
  command->add_option("--weight-bits", options->weightBits, "with --quantize-aware: of weights (default 8)")
      ->check(CLI::Range(3, 8));
  addAllow(*command, options->allow);
  addSettings(*command, options->settings);
  addPin(*command, options->settings);
  command->get_option("--devices")
      ->description(command->get_option("--devices")->get_description() +
                    "; auto: a GPU where there is one, else the processor, with --strategy data as ranks where steps "
                    "are expected to be shorter so");
  addLinks(*command, options->settings);
  addMesh(*command, options->mesh);
  options->stepsPerCall.addTo(*command);
  addOverride(*command, *options, "--batch-norm", "batch_norm.statistics",
              "all or replica: whose samples batch norms of several ranks have the statistics of");
  command->add_flag("--scale-batch", options->scaleBatch,
                    "the configuration's batch is each rank's, that of all is as many times larger");
  command
      ->add_option("--lr-scaling", options->lrScaling,
                   "rates with --scale-batch: none, linear (times the ranks) or sqrt (times their root)")
      ->check(CLI::IsMember({"none", "linear", "sqrt"}))
      ->capture_default_str();
  command
      ->add_option("--check-replicas", options->checkReplicas,
                   "compares the ranks' states before the first step and after every N (default: only at the end)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  onRun(*command, invocation, [=] {
    if (options->showsSchema) {
      std::cout << (options->common.json() ? training::schemaAsJson() : training::describeSchema());
      return kDone;
    }
    if (options->settings.givenDevices() == "auto") {
      options->choosesDevices = true;
      options->settings.devices.clear();
    }
    takeTopology(options->settings);
    addSets(*options);
    return runTraining(*options);
  });
}

} // namespace sprig::cli
