// sprig bench devices --devices cuda:0: products on the processor, on the GPU, and on both at once.
#include "tools/sprig/bench/OneGpu.h"
#include "tools/sprig/bench/ProductGroups.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {

void benchGpuDevices(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int kProducts = 10, kRounds = 5;
  int64_t n = options.n ? options.n : 768;
  OneGpu gpu(options.settings);
  Model model = squareProduct(n);
  TimedProgram here(model, onProcessor(options.settings, options.threads));
  DeviceProgram there(gpu, model, options.settings);
  // As many on the GPU as take about as long.
  double ratio = std::min({here.once(), here.once(), here.once()}) / there.inARow();
  int onGpu = int(std::clamp(std::round(kProducts * ratio), 1.0, 1e5));
  auto onHost = [&] {
    for (int i = 0; i < kProducts; ++i) here.once();
  };
  auto start = [&] {
    for (int i = 0; i < onGpu; ++i) there.enqueue();
  };
  auto end = [&] { gpu.wait(gpu.computes); };
  std::vector<double> best = bestInTurn({onHost,
                                         [&] {
                                           start();
                                           end();
                                         },
                                         [&] {
                                           start();
                                           onHost();
                                           end();
                                         }},
                                        kRounds);
  check(sprig_rt_context_wait(there.loaded().runContext()));

  double flops = 2 * double(n) * double(n) * double(n);
  int counts[] = {kProducts, onGpu, kProducts + onGpu};
  std::string names[] = {std::to_string(kProducts) + " on the processor", std::to_string(onGpu) + " on " + gpu.name,
                         "both at once"};
  report.table("devices", {"products of " + std::to_string(n), "ms", "GFLOP/s"});
  for (size_t i = 0; i < best.size(); ++i) report.row({names[i], best[i] * 1e3, flops * counts[i] / best[i] / 1e9});
  report.bothAtOnce(best[0], best[1], best[2]);
}

} // namespace sprig::cli
