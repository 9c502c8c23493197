// sprig bench devices: products on one share of the cores, on another, and on both at once.
#include "tools/sprig/bench/Shares.h"

namespace sprig::cli {
namespace {

constexpr int kChainedProducts = 10;

// The products of each device that is named, on operands of its own.
Model productsModel(int64_t n, const std::vector<int> &devices) {
  std::string type = matrixType(n, n), arguments, body, results, types;
  for (int device : devices)
    for (int i = 0; i < kChainedProducts; ++i) {
      std::string number = std::to_string(device) + "_" + std::to_string(i);
      arguments += (arguments.empty() ? "%a" : ", %a") + number + ": " + type + ", %b" + number + ": " + type;
      body += "  %y" + number + " = nn.matmul %a" + number + ", %b" + number + placedOn(device) + " : " + type + ", " +
              type + "\n";
      results += (results.empty() ? "%y" : ", %y") + number;
      types += (types.empty() ? "" : ", ") + type;
    }
  return textModel("products", "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "  return " +
                                   results + " : " + types + "\n}\n");
}

} // namespace

void benchDevices(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 768;
  Settings settings = onShares(options, 2);
  TimedProgram first(productsModel(n, {0}), settings), second(productsModel(n, {1}), settings),
      both(productsModel(n, {0, 1}), settings);
  std::vector<double> best = bestInTurn({&first, &second, &both}, 5, 2);
  double flops = double(kChainedProducts) * 2 * double(n) * double(n) * double(n);
  report.table("devices", {"products of " + std::to_string(n), "ms", "GFLOP/s", "simulated ms"});
  std::vector<TimedProgram *> programs = {&first, &second, &both};
  const char *names[] = {"10 on cpu:0", "10 on cpu:1", "10 on each, at once"};
  for (size_t i = 0; i < 3; ++i)
    report.row(
        {names[i], best[i] * 1e3, flops * (i == 2 ? 2 : 1) / best[i] / 1e9, simulatedSeconds(*programs[i]) * 1e3});
  if (options.threads == 1) {
    report.note("one thread: both devices have it between them, so there is nothing to gain");
    return;
  }
  report.bothAtOnce(best[0], best[1], best[2]);
}

} // namespace sprig::cli
