// sprig bench overhead: what a compiled call costs, by the number of operations of its graph; and a recorded operation.
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Model.h"
#include <algorithm>
#include <chrono>

namespace sprig::cli {
namespace {

// A chain of operations on 16 numbers: next to no arithmetic.
Model chain(int64_t operations) {
  Model model;
  model.path = "chain of " + std::to_string(operations);
  model.kind = ModelKind::mlir;
  std::string type = "tensor<16xf32>";
  model.text = "func.func @main(%v0: " + type + ", %y: " + type + ") -> " + type + " {\n";
  for (int64_t i = 0; i < operations; ++i)
    model.text += "  %v" + std::to_string(i + 1) + " = nn." + (i % 2 ? "add" : "sub") + " %v" + std::to_string(i) +
                  ", %" + (i % 4 < 2 ? "y" : "v0") + " : " + type + ", " + type + "\n";
  model.text += "  return %v" + std::to_string(operations) + " : " + type + "\n}\n";
  return model;
}

double nsOfCall(PreparedCall &call) {
  constexpr int kCalls = 500;
  double best = 1e30;
  for (int round = 0; round < 60; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call.invoke();
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best / kCalls;
}

} // namespace

void benchOverhead(const ExperimentOptions &options, ExperimentReport &report) {
  report.table("overhead", {"operations", "ns a compiled call", "ns an operation"});
  double first = 0, last = 0;
  constexpr int64_t kMost = 64;
  for (int64_t operations = 1; operations <= kMost; operations *= 4) {
    Settings settings = options.settings;
    settings.threads = 1;
    Runner runner = compileAndLoad(chain(operations), {EntryRequest{}}, settings);
    std::map<std::string, data::Array> arrays;
    fillRandom(runner.inputSpecs(), 1, {{"batch", 16}}, arrays); // samples are independent
    PreparedCall call = runner.prepare(arrays);
    call.invoke();
    double ns = nsOfCall(call);
    report.row({operations, ns, ns / double(operations)});
    if (operations == 1) first = ns;
    last = ns;
  }
  double each = (last - first) / double(kMost - 1);
  report.timed("the cost of a call is flat in the number of operations",
               formatDouble(each, 3) + " ns for each further operation beside " + formatDouble(first, 3) +
                   " ns for a call: the arithmetic alone",
               each < 3);
  benchRecording(options, report);
}

} // namespace sprig::cli
