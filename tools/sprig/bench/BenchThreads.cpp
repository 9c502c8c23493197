// sprig bench threads: one product of run-time matrices by threads and by the shares that its tiles are dealt in.
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

namespace sprig::cli {
namespace {

Model productOfElements(int64_t n, const std::string &element) {
  std::string type = "tensor<" + std::to_string(n) + "x" + std::to_string(n) + "x" + element + ">";
  return textModel("product of " + std::to_string(n) + " in " + element,
                   "func.func @main(%a: " + type + ", %b: " + type + ") -> " + type +
                       " {\n  %c = nn.matmul %a, %b : " + type + ", " + type + "\n  return %c : " + type + "\n}\n");
}

struct Scheduled {
  std::string text; // as the phase `schedule` leaves it
  int64_t tiles = 0, grain = 1;
};

// The line of the product's kernel; empty where there is none.
std::string_view kernelLine(std::string_view text) {
  size_t begin = text.find("exec.kernel @matmul");
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find('\n', begin) - begin);
}

std::optional<int64_t> attributeIn(std::string_view line, const std::string &name) {
  size_t at = line.find(name + " = ");
  if (at == line.npos) return std::nullopt;
  int64_t number = 0;
  std::from_chars(line.data() + at + name.size() + 3, line.data() + line.size(), number);
  return number;
}

// Tiles of the product, and how few the scheduler deems worth a thread.
Scheduled scheduleOf(const Model &model, Settings settings) {
  settings.compileTo = "schedule";
  Scheduled found{compileToText(model, {EntryRequest{}}, settings, "")};
  std::optional<int64_t> tiles = attributeIn(kernelLine(found.text), "tiles");
  if (!tiles) internalError(model.path + ": has no product");
  found.tiles = *tiles;
  found.grain = attributeIn(kernelLine(found.text), "grain").value_or(1);
  return found;
}

// The same program with another grain of its product.
std::string withGrain(std::string text, int64_t grain) {
  const std::string_view line = kernelLine(text);
  const size_t begin = size_t(line.data() - text.data());
  const std::string asked = "grain = " + std::to_string(grain);
  if (std::optional<int64_t> given = attributeIn(line, "grain")) {
    const std::string old = "grain = " + std::to_string(*given);
    return text.replace(text.find(old, begin), old.size(), asked);
  }
  const std::string attributes = "attributes {";
  return text.insert(text.find(attributes, begin) + attributes.size(), asked + " : i64, ");
}

} // namespace

void benchThreads(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 1000;
  report.table("threads",
               {"element type", "threads", "tiles", "shares", "ms", "GFLOP/s", "times one thread", "scheduler's"});
  bool same = true;
  double worst = 0, least = 1e30;
  for (const char *element : {"f32", "f64"}) {
    Model model = productOfElements(n, element);
    Settings settings = options.settings;
    settings.threads = options.threads;
    Scheduled scheduled = scheduleOf(model, settings);
    struct Way {
      int threads;
      int64_t grain;
      std::unique_ptr<TimedProgram> program;
    };
    std::vector<Way> ways;
    std::vector<int> steps; // doubling, up to the number asked for
    for (int threads = 1; threads < options.threads; threads *= 2) steps.push_back(threads);
    steps.push_back(options.threads);
    for (int threads : steps) {
      // The scheduler's own first.
      std::vector<int64_t> grains = {scheduled.grain};
      for (int64_t shares = 1; threads > 1 && shares <= std::min<int64_t>(scheduled.tiles, 64); shares *= 4)
        if (int64_t grain = (scheduled.tiles + shares - 1) / shares; grain != scheduled.grain) grains.push_back(grain);
      for (int64_t grain : grains) {
        Settings own = settings;
        own.threads = threads;
        own.compileFrom = "plan";
        Model given =
            textModel(model.path + " in shares of " + std::to_string(grain), withGrain(scheduled.text, grain));
        ways.push_back({threads, grain, std::make_unique<TimedProgram>(given, own)});
      }
    }
    std::vector<TimedProgram *> programs;
    for (Way &way : ways) programs.push_back(way.program.get());
    std::vector<double> best = bestInTurn(programs, 5, n < 200 ? 0.1 : 0.5);
    auto bits = programs[0]->outputs();
    double bestOfAll = 1e30, own = 0;
    for (size_t i = 0; i < ways.size(); ++i) {
      bool chosen = ways[i].grain == scheduled.grain;
      int64_t shares = (scheduled.tiles + ways[i].grain - 1) / ways[i].grain;
      report.row({element, ways[i].threads, scheduled.tiles, shares, best[i] * 1e3,
                  2.0 * double(n) * double(n) * double(n) / best[i] / 1e9, best[0] / best[i], chosen ? "yes" : "no"});
      same &= programs[i]->outputs() == bits;
      if (ways[i].threads != ways.back().threads) continue;
      bestOfAll = std::min(bestOfAll, best[i]);
      if (chosen) own = best[i];
    }
    worst = std::max(worst, own / bestOfAll);
    least = std::min(least, best[0] / own);
  }
  report.verdict("threads and shares change no bit", same ? "all alike" : "other bits", same);
  if (options.threads == 1) return;
  report.timed("the scheduler's shares are within 10% of the best", formatDouble(worst, 3) + " times as long",
               worst <= 1.1);
  report.timed(std::to_string(options.threads) + " threads are more than 1.6 times as fast as one in both types",
               formatDouble(least, 3) + " times", least > 1.6);
}

} // namespace sprig::cli
