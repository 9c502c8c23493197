// sprig bench split: a batch through a small network on one share of the cores, and divided over all of them, over
// batch sizes: below which one division costs more than it saves.
#include "tools/sprig/bench/Shares.h"
#include "lib/Data/Largest.h"
#include <algorithm>

namespace sprig::cli {
namespace {

constexpr int64_t kSplitClasses = 10;
// Of the largest result: sums over as many numbers, whatever the number of rows.
constexpr double kMaxSplitDifference = 1e-5;

// Operations of a part of the batch, on its device.
struct Part {
  std::string number; ///< "0", behind the names of values
  int64_t samples;
  bool isPlaced;

  std::string place() const { return isPlaced ? placedOn(std::stoi(number)) : ""; }
  std::string value(const char *name) const { return "%" + std::string(name) + number; }
};

// What a batch goes through, from %x to %y of each part.
struct SplitNetwork {
  std::string name;
  std::vector<int64_t> sample;                                        ///< the shape of one
  std::vector<std::pair<const char *, std::vector<int64_t>>> weights; ///< arguments
  std::string (*write)(const Part &part);
  int64_t most; ///< samples, unless somebody says

  std::vector<int64_t> inputShape(int64_t samples) const {
    std::vector<int64_t> shape = {samples};
    shape.insert(shape.end(), sample.begin(), sample.end());
    return shape;
  }
};

std::string tensorType(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + "f32>";
}

constexpr int64_t kImageSide = 28, kFirst = 16, kSecond = 32, kFlat = kSecond * kImageSide * kImageSide / 16;

std::string writeConvolutions(const Part &part) {
  std::string first = tensorType({part.samples, kFirst, kImageSide / 2, kImageSide / 2}),
              second = tensorType({part.samples, kSecond, kImageSide / 4, kImageSide / 4}),
              flat = matrixType(part.samples, kFlat);
  std::string on = part.isPlaced ? ", nn.place = \"cpu:" + part.number + "\"}" : "}", body;
  auto conv = [&](const char *name, const char *from, const char *filter, const std::string &types,
                  const char *padding) {
    body += "  " + part.value(name) + " = nn.conv " + part.value(from) + ", %" + filter +
            " {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: " + padding + ">" + on +
            " : " + types + "\n";
  };
  conv("c", "x", "f", tensorType({part.samples, 1, kImageSide, kImageSide}) + ", tensor<16x1x5x5xf32>", "2, 2, 2, 2");
  body += "  " + part.value("r") + " = nn.relu " + part.value("c") + part.place() + " : " + first + "\n";
  conv("d", "r", "g", first + ", tensor<32x16x3x3xf32>", "1, 1, 1, 1");
  body += "  " + part.value("s") + " = nn.relu " + part.value("d") + part.place() + " : " + second + "\n";
  body += "  " + part.value("t") + " = nn.reshape " + part.value("s") + " : " + second + " to " + flat + "\n";
  return body + "  " + part.value("y") + " = nn.matmul " + part.value("t") + ", %h" + part.place() + " : " + flat +
         ", " + matrixType(kFlat, kSplitClasses) + "\n";
}

constexpr int64_t kWidths[] = {1000, 512, 256, kSplitClasses};

std::string writePerceptron(const Part &part) {
  std::string from = part.value("x"), body;
  const char *weights[] = {"f", "g", "h"}, *products[] = {"p", "q", "y"}, *active[] = {"r", "s"};
  for (int layer = 0; layer < 3; ++layer) {
    std::string made = part.value(products[layer]), type = matrixType(part.samples, kWidths[layer + 1]);
    body += "  " + made + " = nn.matmul " + from + ", %" + weights[layer] + part.place() + " : " +
            matrixType(part.samples, kWidths[layer]) + ", " + matrixType(kWidths[layer], kWidths[layer + 1]) + "\n";
    if (layer == 2) break;
    from = part.value(active[layer]);
    body += "  " + from + " = nn.relu " + made + part.place() + " : " + type + "\n";
  }
  return body;
}

SplitNetwork chosenNetwork(const std::string &name) {
  if (name == "mlp")
    return {
        "1000-512-256-10", {1000}, {{"f", {1000, 512}}, {"g", {512, 256}}, {"h", {256, 10}}}, writePerceptron, 1024};
  if (name.empty() || name == "cnn")
    return {"two convolutions",
            {1, kImageSide, kImageSide},
            {{"f", {kFirst, 1, 5, 5}}, {"g", {kSecond, kFirst, 3, 3}}, {"h", {kFlat, kSplitClasses}}},
            writeConvolutions,
            256};
  badUse("--network: bench split takes cnn or mlp, found '" + name + "'");
}

// Each device has its share of the batch; the first one joins the results.
Model networkModel(const SplitNetwork &network, int64_t batch, int parts, bool placed) {
  std::string body, arguments, results, types;
  for (int i = 0; i < parts; ++i) {
    Part part{std::to_string(i), shareOf(batch, parts, i), placed};
    arguments += part.value("x") + ": " + tensorType(network.inputShape(part.samples)) + ", ";
    body += network.write(part);
    types += (i ? ", " : "") + matrixType(part.samples, kSplitClasses);
    results += (i ? ", " : "") + part.value("y");
  }
  std::string result = matrixType(batch, kSplitClasses);
  if (parts > 1) {
    body += "  %y = nn.concat " + results + " axis = 0 {nn.place = \"cpu:0\"} : " + types + "\n";
    results = "%y";
  }
  for (size_t i = 0; i < network.weights.size(); ++i)
    arguments += std::string(i ? ", %" : "%") + network.weights[i].first + ": " + tensorType(network.weights[i].second);
  return textModel("network", "func.func @main(" + arguments + ") -> " + result + " {\n" + body + "  return " +
                                  results + " : " + result + "\n}\n");
}

} // namespace

void benchSplit(const ExperimentOptions &options, ExperimentReport &report) {
  SplitNetwork network = chosenNetwork(options.sweep.network);
  int64_t most = options.n ? options.n : network.most;
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
  double gainAtFirst = 0, gain = 0, apart = 0;
  int64_t crossover = 0;
  for (int64_t batch : sizes) {
    TimedProgram one(networkModel(network, batch, 1, false), alone);
    TimedProgram many(networkModel(network, batch, parts, true), onShares(options, parts, options.settings.links));
    std::vector<double> best = bestInTurn({&one, &many}, 5, 0.3);
    std::vector<int64_t> shape = network.inputShape(batch);
    apart = data::largest(apart, largestDifference(resultOf(one, shape, 1), resultOf(many, shape, parts)));
    gain = best[0] / best[1];
    if (batch == sizes.front()) gainAtFirst = gain;
    if (gain > 1.05 && crossover == 0) crossover = batch;
    if (gain <= 1.05) crossover = 0;
    report.row({batch, best[0] * 1e6, best[1] * 1e6, gain, simulatedSeconds(one) * 1e6,
                simulatedSeconds(many, options.settings.links) * 1e6});
  }
  report.verdict("divided or not, the results are the same",
                 "they differ by " + formatDouble(apart, 2) + " of the largest at most, " + network.name,
                 apart <= kMaxSplitDifference);
  if (options.threads == 1) {
    report.note("one thread: all shares have it between them, so there is nothing to gain");
    return;
  }
  report.note(crossover ? shares + " are more than 5% faster from a batch of " + std::to_string(crossover) + " on"
                        : shares + " are not more than 5% faster at the largest batch");
  report.timed("the largest batch gains more than the smallest",
               formatDouble(gain, 3) + " times as fast at " + std::to_string(sizes.back()) + ", " +
                   formatDouble(gainAtFirst, 3) + " at " + std::to_string(sizes.front()),
               gain > gainAtFirst);
  report.timed("the largest batch is faster on " + shares,
               formatDouble(gain, 3) + " times as fast at " + std::to_string(sizes.back()), gain > 1.05);
}

} // namespace sprig::cli
