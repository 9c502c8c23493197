#include "tools/sprig/bench/SweepFlags.h"
#include "sprig/error.h"
#include "tools/sprig/WrongUse.h"
#include <CLI/CLI.hpp>

namespace sprig::cli {

void SweepFlags::checkFor(const std::string &experiment) const {
  if (experiment == "sweep") return;
  bool isRemat = experiment == "remat";
  if (!data.empty() || !plot.empty() || epochs || samples || tests || seeds || !rates.empty() ||
      (!isRemat && (batch || width)))
    throw Error(ErrorKind::usage, "--data, --epochs, --samples, --tests, --batch, --width, --rate, --seeds, --plot: go "
                                  "with the experiment sweep, --batch and --width with remat, too");
  if (!network.empty() && experiment != "split" && !isRemat)
    throw Error(ErrorKind::usage, "--network: goes with the experiments sweep, split and remat");
}

void addSweepFlags(CLI::App &command, SweepFlags &flags) {
  command.add_option(
      "--network", flags.network,
      "that sweep trains: lenet (default) or resnet18; that split runs: cnn (default) or mlp (1000-512-256-10); that "
      "remat trains: mlp or resnet18 (default both)");
  command.add_option("--data", flags.data,
                     "folder of images that sweep trains on, in the MNIST format (train-images-idx3-ubyte, "
                     "t10k-labels-idx1-ubyte and so on; default: generated ones of 28x28)");
  command.add_option("--epochs", flags.epochs, "of each run of sweep (default 3 of lenet, 2 of resnet18)")
      ->check(CLI::Range(1, 100000));
  command.add_option("--samples", flags.samples, "images that sweep trains on at most (default 2048, resnet18 512)")
      ->check(CLI::Range(1, 100000000));
  command.add_option("--tests", flags.tests, "images that sweep evaluates at most (default 1000, resnet18 256)")
      ->check(CLI::Range(1, 100000000));
  command
      .add_option("--batch", flags.batch, "of each rank of sweep (default 64, resnet18 16); of remat's resnet18 (32)")
      ->check(CLI::Range(1, 65536));
  command.add_option("--width", flags.width, "channels of resnet18's first layer (default 8; the whole one has 64)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--rate", flags.rates, "learning rates of sweep (default 0.2; rates: 0.05 to 0.60 by 0.05)")
      ->delimiter(',')
      ->check(positiveNumber());
  command
      .add_option("--seeds", flags.seeds, "runs of each rate of sweep rates, of other weights and order (default 1)")
      ->check(CLI::Range(1, 1000));
  command.add_option("--plot", flags.plot,
                     "SVG file that gets accuracy, time and memory of sweep over ranks, batches or rates");
}

} // namespace sprig::cli
