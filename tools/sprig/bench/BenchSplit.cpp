// sprig bench split: a batch through a small convolutional network on one share of the cores, and divided over all of
// them, over batch sizes: below which one division costs more than it saves.
#include "tools/sprig/bench/Shares.h"
#include <algorithm>

namespace sprig::cli {
namespace {

constexpr int64_t kSide = 28, kFirst = 16, kSecond = 32, kClasses = 10;

std::string imagesType(int64_t batch, int64_t channels, int64_t side) {
  std::string edge = "x" + std::to_string(side);
  return "tensor<" + std::to_string(batch) + "x" + std::to_string(channels) + edge + edge + "xf32>";
}

// The network on some of the samples, on one device; what it gives.
std::string layers(const std::string &x, int64_t batch, int part, bool placed, std::string &body) {
  std::string number = std::to_string(part), first = imagesType(batch, kFirst, kSide / 2),
              second = imagesType(batch, kSecond, kSide / 4), flat = matrixType(batch, kSecond * kSide * kSide / 16),
              result = matrixType(batch, kClasses);
  std::string on = placed ? ", nn.place = \"cpu:" + number + "\"}" : "}";
  auto conv = [&](const std::string &name, const std::string &from, const std::string &filter, const std::string &types,
                  const char *padding) {
    body += "  " + name + " = nn.conv " + from + ", " + filter +
            " {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: " + padding + ">" + on +
            " : " + types + "\n";
  };
  std::string filters = "tensor<16x1x5x5xf32>", more = "tensor<32x16x3x3xf32>", place = placed ? placedOn(part) : "";
  conv("%c" + number, x, "%f", imagesType(batch, 1, kSide) + ", " + filters, "2, 2, 2, 2");
  body += "  %r" + number + " = nn.relu %c" + number + place + " : " + first + "\n";
  conv("%d" + number, "%r" + number, "%g", first + ", " + more, "1, 1, 1, 1");
  body += "  %s" + number + " = nn.relu %d" + number + place + " : " + second + "\n";
  body += "  %t" + number + " = nn.reshape %s" + number + " : " + second + " to " + flat + "\n";
  body += "  %y" + number + " = nn.matmul %t" + number + ", %h" + place + " : " + flat + ", " +
          matrixType(kSecond * kSide * kSide / 16, kClasses) + "\n";
  return result;
}

// Each device has its share of the batch; the first one joins the results.
Model networkModel(int64_t batch, int parts, bool placed) {
  std::string body, arguments, results, types;
  for (int part = 0; part < parts; ++part) {
    std::string number = std::to_string(part);
    int64_t share = batch / parts + (part < batch % parts);
    arguments += (part ? ", %x" : "%x") + number + ": " + imagesType(share, 1, kSide);
    types += (part ? ", " : "") + layers("%x" + number, share, part, placed, body);
    results += (part ? ", %y" : "%y") + number;
  }
  std::string result = matrixType(batch, kClasses);
  if (parts > 1) {
    body += "  %y = nn.concat " + results + " axis = 0 {nn.place = \"cpu:0\"} : " + types + "\n";
    results = "%y";
  }
  arguments += ", %f: tensor<16x1x5x5xf32>, %g: tensor<32x16x3x3xf32>, %h: " +
               matrixType(kSecond * kSide * kSide / 16, kClasses);
  return textModel("network", "func.func @main(" + arguments + ") -> " + result + " {\n" + body + "  return " +
                                  results + " : " + result + "\n}\n");
}

} // namespace

void benchSplit(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t most = options.n ? options.n : 256;
  int parts = std::clamp(options.threads, 2, 8);
  std::string shares = std::to_string(parts) + " shares";
  report.table("split",
               {"batch", "us, one share", "us, " + shares, "gain", "simulated us, one", "simulated us, " + shares});
  // One device is a share of the cores, too: one of so many threads.
  Settings alone = options.settings;
  alone.links.clear();
  alone.threads = std::max(1, options.threads / parts);
  std::vector<int64_t> sizes;
  for (int64_t batch : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})
    if (batch >= parts && batch < most) sizes.push_back(batch);
  sizes.push_back(std::max<int64_t>(most, parts));
  double gainAtFirst = 0, gain = 0;
  int64_t crossover = 0;
  for (int64_t batch : sizes) {
    TimedProgram one(networkModel(batch, 1, false), alone);
    TimedProgram many(networkModel(batch, parts, true), onShares(options, parts, options.settings.links));
    std::vector<double> best = bestInTurn({&one, &many}, 5, 0.3);
    gain = best[0] / best[1];
    if (batch == sizes.front()) gainAtFirst = gain;
    if (gain > 1.05 && crossover == 0) crossover = batch;
    if (gain <= 1.05) crossover = 0;
    report.row({batch, best[0] * 1e6, best[1] * 1e6, gain, simulatedSeconds(one) * 1e6,
                simulatedSeconds(many, options.settings.links) * 1e6});
  }
  if (options.threads == 1) {
    report.note("one thread: all shares have it between them, so there is nothing to gain");
    return;
  }
  report.note(crossover ? shares + " are more than 5% faster from a batch of " + std::to_string(crossover) + " on"
                        : shares + " are not more than 5% faster at the largest batch");
  report.verdict("the largest batch gains more than the smallest",
                 formatDouble(gain, 3) + " times as fast at " + std::to_string(sizes.back()) + ", " +
                     formatDouble(gainAtFirst, 3) + " at " + std::to_string(sizes.front()),
                 gain > gainAtFirst);
  report.verdict("the largest batch is faster on " + shares,
                 formatDouble(gain, 3) + " times as fast at " + std::to_string(sizes.back()), gain > 1.05);
}

} // namespace sprig::cli
