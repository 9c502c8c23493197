// sprig bench overlap: y[i] is computed on one share of the cores and goes to another over a link of set rate: each
// alone, one after the other, and y[i] beside the way of y[i-1].
#include "tools/sprig/bench/Shares.h"
#include "sprig/rt/links.hpp"
#include <algorithm>
#include <chrono>

namespace sprig::cli {
namespace {

constexpr int kPieces = 8;

enum class Work { computes = 1, copies = 2, both = 3 };

// Pieces are products on cpu:1, or what takes next to no work there; cpu:0 takes each as it comes, with next to no
// work.
Model piecesModel(int64_t n, Work part, bool placed = true) {
  std::string type = matrixType(n, n), arguments, body, results, types;
  auto on = [&](int device) { return placed ? placedOn(device) : std::string(); };
  for (int i = 0; i < kPieces; ++i) {
    std::string number = std::to_string(i), result = "%y" + number;
    arguments += (i ? ", %a" : "%a") + number + ": " + type + ", %b" + number + ": " + type;
    if (part == Work::copies)
      body += "  " + result + " = nn.add %a" + number + ", %b" + number + on(1) + " : " + type + ", " + type + "\n";
    else
      body += "  " + result + " = nn.matmul %a" + number + ", %b" + number + on(1) + " : " + type + ", " + type + "\n";
    if (part != Work::computes) {
      body += "  %z" + number + " = nn.relu " + result + on(0) + " : " + type + "\n";
      result = "%z" + number;
    }
    results += (i ? ", " : "") + result;
    types += (i ? ", " : "") + type;
  }
  return textModel("pieces", "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "  return " +
                                 results + " : " + types + "\n}\n");
}

// On which the pieces take as long as their computation does.
std::string evenLink(double computeSeconds, double bytes) {
  constexpr double kLatency = 20e-6;
  double seconds = std::max(computeSeconds / kPieces - kLatency, kLatency);
  return "cpu:1-cpu:0=20us," + std::to_string(int64_t(bytes / seconds / 1e6) + 1) + "MB/s";
}

} // namespace

void benchOverlap(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 512;
  if (options.settings.links.size() > 1)
    badUse("bench overlap: expected one --link, found " + std::to_string(options.settings.links.size()));
  std::vector<std::string> links = options.settings.links;
  TimedProgram computes(piecesModel(n, Work::computes), onShares(options, 2));
  double bytes = double(n) * double(n) * 4;
  if (links.empty()) links.push_back(evenLink(bestInTurn({&computes}, 5, 0.2)[0], bytes));
  Settings settings = onShares(options, 2, links);
  TimedProgram copies(piecesModel(n, Work::copies), settings), overlapped(piecesModel(n, Work::both), settings);
  Settings alone = options.settings;
  alone.links.clear();
  alone.threads = options.threads;
  TimedProgram onOne(piecesModel(n, Work::both, /*placed=*/false), alone);
  std::vector<double> best = bestInTurn({&computes, &copies, &overlapped}, 5, 2);
  double inTurn = 1e30;
  for (int i = 0; i < 5; ++i) inTurn = std::min(inTurn, computes.once() + copies.once());

  std::string size = std::to_string(kPieces) + " pieces of " + formatBytes(bytes);
  report.table("overlap", {size + " over " + links[0], "ms", "simulated ms"});
  report.row({"computed on cpu:1", best[0] * 1e3, simulatedSeconds(computes) * 1e3});
  report.row({"copied to cpu:0", best[1] * 1e3, simulatedSeconds(copies, links) * 1e3});
  report.row(
      {"one after the other", inTurn * 1e3, (simulatedSeconds(computes) + simulatedSeconds(copies, links)) * 1e3});
  report.row({"each copied beside the next one", best[2] * 1e3, simulatedSeconds(overlapped, links) * 1e3});
  auto ms = [](double seconds) { return formatDouble(seconds * 1e3, 4) + " ms"; };
  double longer = std::max(best[0], best[1]), sum = best[0] + best[1];
  report.verdict("copies change no bit", overlapped.outputs() == onOne.outputs() ? "as on one device" : "other bits",
                 overlapped.outputs() == onOne.outputs());
  rt::GivenLink link;
  rt::parseGivenLink(links[0], link);
  double least = kPieces * (link.latencyNs() * 1e-9 + bytes / link.rates.rate.bytesPerSecond());
  report.verdict("copies take no less than their link", ms(best[1]) + ", the link " + ms(least), best[1] >= least);
  if (options.threads == 1) {
    report.note("one thread: it computes on both devices, and copies go beside it all the same");
  }
  report.timed("side by side take no less than the longer of the two, within 3%",
               ms(best[2]) + ", computing " + ms(best[0]) + ", copying " + ms(best[1]), best[2] >= 0.97 * longer);
  report.timed("side by side take less than the sum of both", ms(best[2]) + ", the sum " + ms(sum), best[2] < sum);
}

} // namespace sprig::cli
