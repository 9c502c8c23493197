// sprig bench bottlenecks: three programs, each with a bottleneck that was planted, and whether a profile tells them
// apart.
#include "lib/Machine/Verdict.h"
#include "tools/sprig/bench/Shares.h"

namespace sprig::cli {
namespace {

constexpr uint64_t kPlayedCalls = 5;

// A product of n x n, on cpu:1 where it is placed, whose result cpu:0 takes with next to no work.
Model placedProduct(int64_t n, bool placed) {
  std::string type = matrixType(n, n), one = placed ? placedOn(1) : "", other = placed ? placedOn(0) : "";
  return textModel("product", "func.func @main(%a: " + type + ", %b: " + type + ") -> " + type +
                                  " {\n  %y = nn.matmul %a, %b" + one + " : " + type + ", " + type +
                                  "\n  %z = nn.relu %y" + other + " : " + type + "\n  return %z : " + type + "\n}\n");
}

} // namespace

void benchBottlenecks(const ExperimentOptions &options, ExperimentReport &report) {
  report.table("bottlenecks",
               {"planted", "ms a call", "computation %", "copies %", "data %", "hand-off %", "bound by"});
  auto measure = [&](const std::string &planted, TimedProgram &&program, machine::Bound expected, auto verdict,
                     const LoaderFlags &loader = {}) {
    SessionOptions session;
    session.calls = kPlayedCalls;
    session.loader = loader;
    ProfileResult result = program.profile(session);
    const machine::TimeShares &shares = result.busy.shares;
    auto percent = [&](double part) { return 100 * shares.of(part); };
    machine::Bound bound = machine::boundBy(shares);
    report.row({planted, result.busy.ns / 1e6 / double(kPlayedCalls), percent(shares.computation),
                percent(shares.copies), percent(shares.data), percent(shares.handOff), nameOf(bound)});
    (report.*verdict)(planted + " is told as " + nameOf(expected), machine::verdictText(shares), bound == expected);
  };
  Settings alone = options.settings;
  alone.threads = options.threads;
  LoaderFlags slow;
  slow.workers = "1";
  slow.ioDelay = "100us"; // a sample; a batch has 64
  measure("a slow loader", TimedProgram(placedProduct(64, false), alone), machine::Bound::data,
          &ExperimentReport::verdict, slow);
  measure("a large product", TimedProgram(placedProduct(options.n ? options.n : 768, false), alone),
          machine::Bound::computation, &ExperimentReport::timed);
  measure("a slow link", TimedProgram(placedProduct(64, true), onShares(options, 2, {"cpu:1-cpu:0=5ms,100MB/s"})),
          machine::Bound::copies, &ExperimentReport::verdict);
}

} // namespace sprig::cli
