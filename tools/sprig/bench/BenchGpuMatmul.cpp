// sprig bench matmul --devices cuda:0: products in single and double precision, on the processor and on the GPU.
#include "lib/Data/Largest.h"
#include "tools/sprig/bench/OneGpu.h"
#include "tools/sprig/bench/ProductGroups.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace sprig::cli {
namespace {

// Largest difference as a share of the largest number.
template <typename T> double gpuDifference(const std::vector<char> &a, const std::vector<char> &b) {
  double most = 0, far = 0;
  for (size_t at = 0; at + sizeof(T) <= a.size(); at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    most = std::max(most, std::fabs(double(x)));
    far = data::largest(far, std::fabs(double(x) - double(y)));
  }
  return far / most;
}

} // namespace

void benchGpuMatmul(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int kThreads = 4; // of the processor, at most
  OneGpu gpu(options.settings);
  int64_t n = options.n ? options.n : 1000;
  Settings host = onProcessor(options.settings, std::min(kThreads, options.threads));
  report.table("matmul", {"product of " + std::to_string(n), "on", "us", "GFLOP/s", "processor / GPU"});
  double flops = 2 * double(n) * double(n) * double(n);
  for (auto [type, bound] : {std::pair<std::string, double>("f32", 1e-5), {"f64", 1e-13}}) {
    Model model = squareProduct(n, type);
    TimedProgram here(model, host);
    DeviceProgram there(gpu, model, options.settings);
    double onHost = bestInTurn({&here}, 5, 1).front(), onGpu = there.inARow();
    report.row({type, std::to_string(host.threads) + " threads", onHost * 1e6, flops / onHost / 1e9, nullptr});
    report.row({type, gpu.name, onGpu * 1e6, flops / onGpu / 1e9, onHost / onGpu});
    std::vector<char> a = here.outputs().front(), b = there.outputs().front();
    double far = type == "f32" ? gpuDifference<float>(a, b) : gpuDifference<double>(a, b);
    report.verdict(type + ": both compute the same, to " + formatDouble(bound, 1) + " of the largest",
                   a == b ? "the same bits" : formatDouble(far, 3), far <= bound);
    report.timed(type + ": the GPU is faster", formatDouble(onHost / onGpu, 3) + " times", onHost > onGpu);
  }
}

} // namespace sprig::cli
