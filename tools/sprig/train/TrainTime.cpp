#include "tools/sprig/train/TrainTime.h"
#include "lib/Machine/Verdict.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>

namespace sprig::cli {
namespace {

constexpr size_t kShownEpochs = 4;
// A run that waited for less in all is not worth a word.
constexpr double kLeastWait = 0.1;

double secondsOf(TrainTime::Clock::duration span) { return std::chrono::duration<double>(span).count(); }

machine::TimeShares sharesOf(const TimeSplit &time) {
  machine::TimeShares shares;
  shares.ns = time.seconds * 1e9;
  shares.computation = time.computing * 1e9;
  shares.data = time.waiting * 1e9;
  shares.handOff = time.elsewhere() * 1e9;
  return shares;
}

std::string percent(double part, double whole) { return formatDouble(whole > 0 ? 100 * part / whole : 0, 3); }

Json toJson(const TimeSplit &time) {
  return {{"steps", time.steps},
          {"seconds", time.seconds},
          {"wait_for_data_seconds", time.waiting},
          {"computation_seconds", time.computing},
          {"elsewhere_seconds", time.elsewhere()},
          {"wait_for_data_seconds_per_step", time.steps ? time.waiting / double(time.steps) : 0}};
}

} // namespace

void TrainTime::add(int64_t epoch, const StepResult &step) {
  if (last.empty() || last.back().number != epoch) {
    if (!last.empty()) endEpoch(step.begin);
    if (last.size() == kMostEpochs) last.erase(last.begin());
    last.emplace_back().number = epoch;
    epochBegan = step.begin;
  }
  double waiting = secondsOf(step.ready - step.begin), computing = secondsOf(step.end - step.ready);
  for (TimeSplit *split : {static_cast<TimeSplit *>(&last.back()), &all}) {
    ++split->steps;
    split->waiting += waiting;
    split->computing += computing;
  }
}

void TrainTime::endEpoch(Clock::time_point now) {
  last.back().seconds = secondsOf(now - epochBegan);
  all.seconds += last.back().seconds;
}

void TrainTime::end(Clock::time_point now) {
  if (!last.empty()) endEpoch(now);
}

void printTime(const TrainTime &time) {
  const std::vector<TrainTime::Epoch> &epochs = time.epochs();
  if (epochs.empty()) return;
  Table table({"epoch", "steps", "s", "wait for data %", "computation %", "elsewhere %", "wait per step us",
               "computation per step us"});
  auto add = [&](const std::string &name, const TimeSplit &split) {
    double perStep = 1e6 / double(split.steps);
    table.add({name, std::to_string(split.steps), formatDouble(split.seconds, 4), percent(split.waiting, split.seconds),
               percent(split.computing, split.seconds), percent(split.elsewhere(), split.seconds),
               formatDouble(split.waiting * perStep, 4), formatDouble(split.computing * perStep, 4)});
  };
  for (size_t i = epochs.size() - std::min(epochs.size(), kShownEpochs); i < epochs.size(); ++i)
    add(std::to_string(epochs[i].number + 1), epochs[i]);
  if (epochs.size() > 1) add("all", time.total());
  std::cout << '\n';
  table.print();
}

Json toJson(const TrainTime &time) {
  Json json = toJson(time.total());
  machine::TimeShares shares = sharesOf(time.total());
  json["pressure"] = nameOf(machine::pressureOf(shares.of(shares.computation)));
  json["data_bound"] = boundBy(shares) == machine::Bound::data;
  json["epochs"] = Json::array();
  for (const TrainTime::Epoch &epoch : time.epochs()) {
    Json row = {{"epoch", epoch.number}};
    row.update(toJson(static_cast<const TimeSplit &>(epoch)));
    json["epochs"].push_back(row);
  }
  return json;
}

std::string dataWarning(const TrainTime &time) {
  const TimeSplit &all = time.total();
  machine::TimeShares shares = sharesOf(all);
  if (all.waiting < kLeastWait || boundBy(shares) != machine::Bound::data) return "";
  double busy = shares.of(shares.computation);
  return "bound by data: the run waited for batches " + percent(all.waiting, all.seconds) + " % of its time (" +
         formatNanoseconds(all.waiting * 1e9 / double(all.steps)) + " a step), and computed " +
         percent(all.computing, all.seconds) + " % of it (below 80 % is " + nameOf(machine::pressureOf(busy)) +
         "); remedies: " + machine::remedyFor(machine::Bound::data);
}

} // namespace sprig::cli
