// sprig bench overlap --devices cuda:0: products are computed on the device and copied to the host: each alone, one
// after the other, and a product beside the way of the one before.
#include "tools/sprig/bench/OneGpu.h"
#include "tools/sprig/bench/ProductGroups.h"
#include <algorithm>
#include <cstring>
#include <deque>

namespace sprig::cli {

void benchGpuOverlap(const ExperimentOptions &options, ExperimentReport &report) {
  constexpr int kPieces = 8, kRounds = 20;
  if (!options.settings.links.empty()) badUse("bench overlap: on a GPU the link is the machine's: no --link");
  OneGpu gpu(options.settings);
  int64_t n = options.n ? options.n : 2048;
  uint64_t bytes = uint64_t(n) * uint64_t(n) * 4;
  DeviceProgram product(gpu, squareProduct(n), options.settings);
  std::vector<std::shared_ptr<uint8_t>> there, here;
  std::deque<GpuEvent> ends;
  for (int i = 0; i < kPieces; ++i) {
    there.push_back(gpu.allocate(bytes));
    here.push_back(gpu.pin(bytes));
    ends.emplace_back(gpu);
  }
  auto computes = [&] {
    for (int i = 0; i < kPieces; ++i) product.enqueue({there[size_t(i)]});
    gpu.wait(gpu.computes);
  };
  auto copies = [&] {
    for (int i = 0; i < kPieces; ++i) gpu.down(here[size_t(i)].get(), there[size_t(i)], bytes);
    gpu.wait(gpu.copies);
  };
  auto inTurn = [&] {
    for (int i = 0; i < kPieces; ++i) {
      product.enqueue({there[size_t(i)]});
      gpu.wait(gpu.computes);
      gpu.down(here[size_t(i)].get(), there[size_t(i)], bytes);
      gpu.wait(gpu.copies);
    }
  };
  auto beside = [&] {
    for (int i = 0; i < kPieces; ++i) {
      product.enqueue({there[size_t(i)]});
      ends[size_t(i)].record(gpu.computes);
      ends[size_t(i)].holdBack(gpu.copies);
      gpu.down(here[size_t(i)].get(), there[size_t(i)], bytes);
    }
    gpu.wait(gpu.copies);
    gpu.wait(gpu.computes);
  };
  std::vector<double> best = bestInTurn({computes, copies, inTurn, beside}, kRounds);
  std::vector<char> expected = product.outputs().front();
  for (const std::shared_ptr<uint8_t> &piece : here) std::memset(piece.get(), 0xff, bytes);
  beside();
  check(sprig_rt_context_wait(product.loaded().runContext()));
  bool same = std::all_of(here.begin(), here.end(), [&](const std::shared_ptr<uint8_t> &piece) {
    return std::memcmp(piece.get(), expected.data(), bytes) == 0;
  });

  report.table("overlap", {std::to_string(kPieces) + " pieces of " + formatBytes(double(bytes)), "ms"});
  report.row({"computed on " + gpu.name, best[0] * 1e3});
  report.row({"copied to the host", best[1] * 1e3});
  report.row({"one after the other", best[2] * 1e3});
  report.row({"each copied beside the next one", best[3] * 1e3});
  auto ms = [](double seconds) { return formatDouble(seconds * 1e3, 4) + " ms"; };
  double longer = std::max(best[0], best[1]), sum = best[0] + best[1];
  report.verdict("copies change no bit", same ? "all pieces are the device's" : "other bits", same);
  report.timed("side by side take no less than the longer of the two, within 3%",
               ms(best[3]) + ", computing " + ms(best[0]) + ", copying " + ms(best[1]), best[3] >= 0.97 * longer);
  report.timed("side by side take less than the sum of both", ms(best[3]) + ", the sum " + ms(sum), best[3] < sum);
}

} // namespace sprig::cli
