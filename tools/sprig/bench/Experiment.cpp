#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/WrongUse.h"
#include <CLI/CLI.hpp>

namespace sprig::cli {

const std::vector<Experiment> &experiments() {
  static const std::vector<Experiment> all = {
      {"memory",
       "caches, bandwidths, latencies, alignment, order of accesses, false sharing; of a GPU: its memory, copies to it "
       "and from it, allocation",
       benchMemory, benchGpuMemory},
      {"matmul",
       "a compiled product of run-time matrices, its rate and the second thread; of a GPU: beside the processor's",
       benchMatmul, benchGpuMatmul},
      {"threads", "one product by threads and by the shares that its tiles are dealt in", benchThreads},
      {"lanes",
       "products side by side beside all threads in each, over sizes, and the scheduler's choice; of a GPU: branches "
       "of a graph",
       benchLanes, benchGpuLanes},
      {"devices",
       "products on one share of the cores, on another, and on both at once; of a GPU: on it and the processor",
       benchDevices, benchGpuDevices},
      {"overlap",
       "values computed on one share and copied to another over a paced link: apart, in turn, side by side; "
       "of a GPU: to the host",
       benchOverlap, benchGpuOverlap},
      {"split", "a batch on one share of the cores and divided over all of them, over batch sizes", benchSplit},
      {"pipeline", "a network in two stages on two shares of the cores, over numbers of micro-batches", benchPipeline},
      {"bottlenecks", "a slow loader, a large product and a slow link, and what a profile says bounds each",
       benchBottlenecks},
      {"convolution", "a whole convolution directly and by Fourier transforms, each on one thread and on all",
       benchConvolution},
      {"dtypes", "the same product in all element types", benchDtypes},
      {"overhead", "what a compiled call costs beside its arithmetic, by the number of operations", benchOverhead},
      {"remat",
       "training steps that keep all values, or compute every second layer or what is over a limit again: memory, "
       "time, bits",
       benchRemat},
      {"async", "the imperative mode: what asking, computing and waiting take, memory in flight, two devices",
       benchAsync},
      {"hybridize", "networks, or the model OF it: operation by operation, imperative and compiled", benchHybridize},
      {"allreduce", "sums over ranks by each algorithm, over sizes: threads here, or played on a --topology",
       benchAllReduce},
      {"sums", "stars, trees and rings of 2 to 16 ranks: right, and what each takes on a network", benchSums},
      {"rings", "a ring's steps in numbers; one ring, both ways around, several rings", benchRings},
      {"aggregation", "where gradients of several cards are added up, over machines", benchAggregation},
      {"buckets", "gradients in buckets of several sizes, of two networks on four cards over PCIe, simulated",
       benchBuckets},
      {"scaling", "ResNet-18 on 1 to 16 ranks: simulated on cards or a --topology, and threads here", benchScaling},
      {"sampler", "which samples each of several ranks gets, by epoch and seed", benchSampler},
      {"sweep", "LeNet or ResNet-18 trained over ranks, batches or rates (OF), or evaluated on several ranks",
       benchSweep},
      {"exposure", "gradients that travel beside the backward pass or in their place: time, exposed, waits, memory",
       benchExposure},
      {"comm", "a message by threads, shared memory, Gloo, MPI, plain TCP and UDP, over sizes: alpha, beta, efficiency",
       benchComm},
      {"accumulation", "small batches whose gradients are summed beside one large batch", benchAccumulation},
      {"loader", "batches of data: workers, queues, mapped files, simulated storage", benchLoader},
  };
  return all;
}

void SweepFlags::checkFor(const std::string &experiment) const {
  if (experiment == "sweep") return;
  bool isRemat = experiment == "remat";
  if (!data.empty() || !plot.empty() || epochs || samples || tests || seeds || !rates.empty() ||
      (!isRemat && (batch || width)))
    badUse("--data, --epochs, --samples, --tests, --batch, --width, --rate, --seeds, --plot: go "
           "with the experiment sweep, --batch and --width with remat, too");
  if (!network.empty() && experiment != "split" && !isRemat)
    badUse("--network: goes with the experiments sweep, split and remat");
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
