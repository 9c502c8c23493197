// sprig bench loader: what worker threads, queues and mapped files do for the loading of batches. Times of storage and
// of steps are waited for, not computed, so the relations hold on any machine that is not wholly busy.
#include "sprig/data.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Timing.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace sprig::cli {
namespace {

// Samples of `elements` numbers, each its index.
data::Dataset numbers(int64_t count, int64_t elements) {
  std::vector<float> values(size_t(count * elements));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int64_t(i) / elements);
  std::vector<int64_t> labels(static_cast<size_t>(count));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = int64_t(i) % 10;
  return data::TensorDataset({data::Field(values, {count, elements}), data::Field(labels)});
}

// Seconds of an epoch whose steps take `step` seconds each.
double epochSeconds(data::Loader &loader, double step) {
  auto start = Clock::now();
  for (const data::Batch &batch : loader)
    if (batch.size() && step > 0) std::this_thread::sleep_for(std::chrono::duration<double>(step));
  return secondsSince(start);
}

std::vector<int64_t> orderOf(data::Loader &loader) {
  std::vector<int64_t> order;
  for (const data::Batch &batch : loader) order.insert(order.end(), batch.indices().begin(), batch.indices().end());
  return order;
}

// 1000 samples of 784 numbers, batches of 32, four workers that are two batches ahead.
void queue(ExperimentReport &report) {
  data::Dataset set = numbers(1000, 784);
  data::Loader alone(set, {.batch = 32, .shuffle = 7, .workers = 0});
  data::Loader loader(set, {.batch = 32, .shuffle = 7, .workers = 4, .prefetch = 2});
  bool same = true;
  int64_t last = 0;
  for (int epoch = 0; epoch < 2; ++epoch) same &= orderOf(alone) == orderOf(loader);
  auto start = Clock::now();
  for (const data::Batch &batch : loader) last = batch.size();
  double seconds = secondsSince(start);
  data::LoaderStats stats = loader.stats();
  report.table("queue", {"1000 x 784, batches of 32, 4 workers, 2 ahead each", "value"});
  report.row({"batches of an epoch", loader.size()});
  report.row({"samples of the last batch", last});
  report.row({"samples a second", 1000 / seconds});
  report.row({"most batches ahead", stats.mostAhead});
  report.row({"arrays allocated, for " + std::to_string(stats.batches) + " batches of two", stats.buffers});
  report.verdict("the order of a seed is the same with four workers as with none", "2 epochs of 1000 samples", same);
  report.verdict("no more than workers x 2 batches are ahead", std::to_string(stats.mostAhead) + " of 8",
                 stats.mostAhead <= 8);
  report.note("memory of batches is not page-locked: that serves copies to a device, the CPU has none to make");
}

// Workers that stay, and workers of an epoch each.
void persistence(ExperimentReport &report) {
  constexpr int kEpochs = 100, kWorkers = 4;
  data::Dataset set = numbers(64, 16);
  report.table("persistent", {"workers", "threads started in 100 epochs", "us to an epoch's first batch (median)"});
  double us[2];
  int64_t starts[2];
  for (bool persistent : {true, false}) {
    data::Loader loader(set, {.batch = 8, .workers = kWorkers, .persistentWorkers = persistent});
    std::vector<double> first;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      auto start = Clock::now();
      auto batch = loader.begin();
      if (epoch) first.push_back(secondsSince(start) * 1e6);
      while (batch != loader.end()) ++batch;
    }
    std::sort(first.begin(), first.end());
    us[persistent] = first[first.size() / 2];
    starts[persistent] = loader.stats().workerStarts;
    report.row({persistent ? "stay" : "of an epoch", starts[persistent], us[persistent]});
  }
  report.verdict("workers that stay are started once",
                 std::to_string(starts[1]) + " and " + std::to_string(starts[0]) + " starts",
                 starts[1] == kWorkers && starts[0] == kWorkers * kEpochs);
  report.timed("a later epoch's first batch comes sooner from workers that stay",
               formatDouble(us[1], 3) + " and " + formatDouble(us[0], 3) + " us", us[1] < us[0]);
}

// Loading beside the step: what overlaps, and the bound that it cannot beat.
void overlap(ExperimentReport &report) {
  report.table("overlap", {"items", "ms an item", "ms a step", "workers", "s alone", "s beside", "times", "bound"});
  struct Case {
    int64_t items;
    double item, step;
    int workers, prefetch;
  };
  auto measure = [&](const Case &c) {
    data::Dataset set = numbers(c.items, 4);
    data::Loader alone(set, {.batch = 16, .workers = 0, .ioDelay = {.perItem = c.item}});
    data::Loader beside(set,
                        {.batch = 16, .workers = c.workers, .prefetch = c.prefetch, .ioDelay = {.perItem = c.item}});
    double sync = epochSeconds(alone, c.step), async = epochSeconds(beside, c.step);
    // The best that one loading thread can do: the slower of the two stages all along, the other one once.
    double load = double(c.items) * c.item, steps = double(alone.size()) * c.step;
    double bound = (load + steps) / (std::max(load / c.workers, steps) + std::min(16 * c.item, c.step));
    report.row({c.items, c.item * 1e3, c.step * 1e3, c.workers, sync, async, sync / async, bound});
    return std::pair(sync / async, bound);
  };
  auto [one, oneBound] = measure({100, 0.02, 0.01, 1, 3});
  report.timed("where loading takes 32 times the step, one thread gains next to nothing",
               times(one) + ", at most " + formatDouble(oneBound, 3), one > 0.95 && one < 1.15);
  double four = measure({100, 0.02, 0.01, 4, 2}).first;
  report.timed("four workers that load whole batches gain about three times", times(four), four > 2.4 && four < 4.1);
  auto [balanced, bound] = measure({100, 0.001, 0.016, 1, 3});
  report.timed("where both take as long, one thread gains up to 212 / 128 ms",
               times(balanced) + ", at most " + formatDouble(bound, 3), balanced > 1.4 && balanced < 1.8);
  double longer = measure({1024, 0.001, 0.016, 1, 3}).first;
  report.timed("and more with more batches, up to twice", times(longer), longer > balanced && longer < 2.05);
}

// Samples a second by the number of workers: of storage that makes one wait, and of arithmetic.
void workers(const ExperimentOptions &options, ExperimentReport &report) {
  std::string name = options.ioDelay.empty() ? "2ms" : options.ioDelay;
  data::IoDelay delay = data::parseIoDelay(name);
  data::Dataset set = numbers(256, 1024);
  // About a quarter of a millisecond of arithmetic, and what it draws.
  data::Transform transform = [](data::Sample sample, data::Random &random) {
    auto x = sample.x().edit<float>();
    for (float &value : x)
      for (int i = 0; i < 16; ++i) value = value * 0.99f + float(random.uniform());
    return sample;
  };
  report.table("workers", {"workers", "samples/s of " + name + " storage", "samples/s of arithmetic"});
  std::vector<std::pair<int, double>> waiting;
  for (int count : options.workers.empty() ? std::vector{0, 1, 2, 4, 8} : options.workers) {
    data::Loader slow(set, {.batch = 16, .workers = count, .ioDelay = delay});
    data::Loader busy(set, {.batch = 16, .workers = count, .transform = transform});
    double rate = 0, arithmetic = 0;
    for (int round = 0; round < 3; ++round) {
      rate = std::max(rate, 256 / epochSeconds(slow, 0));
      arithmetic = std::max(arithmetic, 256 / epochSeconds(busy, 0));
    }
    report.row({count, rate, arithmetic});
    if (count) waiting.push_back({count, rate});
  }
  report.note("arithmetic gains up to the " + std::to_string(std::thread::hardware_concurrency()) +
              " processors of this machine, waiting beyond them");
  if (delay.channels == 1) {
    report.note("one arm serves one request at a time: more workers do not make it faster");
    return;
  }
  bool rises = true;
  std::string figures;
  for (size_t i = 1; i < waiting.size(); ++i) {
    double gain = waiting[i].second / waiting[i - 1].second, more = double(waiting[i].first) / waiting[i - 1].first;
    rises &= gain > 1 + 0.4 * (more - 1);
    figures += (i > 1 ? ", " : "") + std::to_string(waiting[i].first) + " workers " + times(gain) + " " +
               std::to_string(waiting[i - 1].first);
  }
  // Whole batches are handed to workers: beyond the number of batches there is nothing to share.
  if (waiting.size() > 1 && waiting.back().first <= 16)
    report.timed("more workers load more of what has to be waited for", figures, rises);
}

// Simulated devices, measured through the loader.
void storage(ExperimentReport &report) {
  report.table("storage", {"device", "random reads of 4 KB a second", "MB/s of neighbours"});
  double reads[3], rates[3];
  const std::pair<const char *, data::IoDelay> devices[] = {
      {"hdd", data::hdd()}, {"ssd", data::ssd()}, {"nvme", data::nvme()}};
  for (int d = 0; d < 3; ++d) {
    int64_t count = d == 0 ? 64 : 8192, sequential = d == 0 ? 4096 : 16384;
    data::Dataset set =
        data::TensorDataset({data::Field(std::vector<float>(size_t(sequential) * 1024), {sequential, 1024})});
    // One batch of samples that lie apart.
    data::Loader random(set,
                        {.batch = count, .shuffle = 1, .workers = 0, .dropLast = true, .ioDelay = devices[d].second});
    data::Loader inOrder(set, {.batch = 1024, .workers = 0, .ioDelay = devices[d].second});
    reads[d] = rates[d] = 0;
    for (int round = 0; round < (d ? 5 : 2); ++round) {
      auto start = Clock::now();
      int64_t read = random.begin()->size();
      reads[d] = std::max(reads[d], double(read) / secondsSince(start));
      rates[d] = std::max(rates[d], double(sequential) * 4096 / epochSeconds(inOrder, 0));
    }
    report.row({devices[d].first, reads[d], rates[d] / 1e6});
  }
  report.timed("a disk of 7200 turns a minute reads about 100 places a second", formatDouble(reads[0], 4),
               reads[0] > 80 && reads[0] < 120);
  report.timed("neighbours that are read together come at the disk's rate, 100 to 200 MB/s",
               formatDouble(rates[0] / 1e6, 4) + " MB/s, " + times(rates[0] / 4096 / reads[0]) + " the samples",
               rates[0] > 80e6 && rates[0] < 200e6);
  report.timed("an ssd reads far more places, and nvme no fewer",
               formatDouble(reads[1], 4) + " and " + formatDouble(reads[2], 4) + " a second",
               reads[1] > 100 * reads[0] && reads[2] > 0.8 * reads[1]);
}

} // namespace

void benchLoader(const ExperimentOptions &options, ExperimentReport &report) {
  if (!options.ioDelay.empty()) data::parseIoDelay(options.ioDelay); // refused before anything is measured
  queue(report);
  benchMappedFiles(report);
  overlap(report);
  workers(options, report);
  persistence(report);
  storage(report);
}

} // namespace sprig::cli
