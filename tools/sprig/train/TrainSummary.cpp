#include "tools/sprig/train/TrainSummary.h"
#include "lib/Machine/Verdict.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/compile/PlacementReport.h"
#include <nlohmann/json.hpp>
#include <iostream>

namespace sprig::cli {

using training::RunTime, training::TimeSplit;

namespace {

constexpr size_t kShownEpochs = 4;
machine::TimeShares sharesOf(const TimeSplit &time) {
  return machine::sharesOfRun(time.seconds, time.waiting, time.computing);
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

// The last epochs, on standard output.
void printTime(const RunTime &time) {
  const std::vector<RunTime::Epoch> &epochs = time.epochs();
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

Json toJson(const RunTime &time) {
  Json json = toJson(time.total());
  machine::TimeShares shares = sharesOf(time.total());
  json["pressure"] = nameOf(machine::pressureOf(shares.of(shares.computation)));
  json["data_bound"] = boundBy(shares) == machine::Bound::data;
  json["epochs"] = Json::array();
  for (const RunTime::Epoch &epoch : time.epochs()) {
    Json row = {{"epoch", epoch.number}};
    row.update(toJson(static_cast<const TimeSplit &>(epoch)));
    json["epochs"].push_back(row);
  }
  return json;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

// Of several ranks: their shares, what they share, and what talking took.
void tellRanks(const TrainSummary &of, Json &json, Rows &rows) {
  const auto &[options, config, outcome, program] = of.run;
  const int ranks = of.ranks;
  const std::vector<int64_t> &weights = of.weights;
  json["ranks"] = ranks;
  RankShare first{0, ranks, config.batch, weights};
  int64_t batch = config.batch, least = batch / ranks, most = (batch + ranks - 1) / ranks;
  std::string even = "a batch of " + std::to_string(batch) + " is " + std::to_string(most) +
                     (most == least ? "" : " or " + std::to_string(least)) + " samples of each";
  rows.push_back(
      {"ranks",
       std::to_string(ranks) + ", " +
           (weights.empty() ? even : sharesText(batch, weights, ranks) + " (--shares " + textOf(weights, ranks) + ")") +
           (options.scaleBatch ? " (--scale-batch)" : "")});
  json.update({{"batch", batch}, {"batch_of_rank", first.sizeOfPass(batch)}, {"lr", config.optimizer.lr}});
  if (!weights.empty()) json["shares"] = weights;
  if (of.rateFactor != 1)
    rows.push_back({"rate", formatDouble(config.optimizer.lr) + ", " + formatDouble(of.rateFactor) +
                                " times the configuration's (--lr-scaling " + options.lrScaling + ")" +
                                (config.schedule.warmupSteps ? "" : "; the schedule has no warm-up")});
  if (of.sharesState) {
    json["zero"] = 1;
    rows.push_back({"state", formatBytes(double(program.first().stateBytes())) +
                                 " on each rank, which share the optimizer's (ZeRO 1)"});
  }
  if (outcome.done) {
    sprig_rt_group_times times = program.communication();
    double each = double(times.ns) / double(outcome.done), exposed = double(times.exposed_ns) / double(outcome.done);
    json.update({{"communication_seconds", each * 1e-9}, {"exposed_communication_seconds", exposed * 1e-9}});
    rows.push_back({"communication", formatNanoseconds(each) + " a step, of which " + formatNanoseconds(exposed) +
                                         " not hidden (first rank)"});
  }
}

} // namespace

void printSummary(const TrainSummary &of, const std::vector<Placement> *placements) {
  const auto &[options, config, outcome, program] = of.run;
  Json json = {{"steps", outcome.steps},
               {"epochs", double(outcome.steps) / double(of.stepsPerEpoch)},
               {"interrupted", outcome.interrupted()}};
  if (outcome.done) json.update({{"loss", outcome.last.loss}, {"epoch_loss", outcome.epochLoss}});
  Rows rows = {{"steps", std::to_string(outcome.steps) +
                             (outcome.interrupted() ? " of " + std::to_string(*config.steps) + ", interrupted" : "")},
               {"loss", outcome.done ? formatDouble(double(outcome.last.loss)) + " at the last step, " +
                                           formatDouble(outcome.epochLoss) + " mean of the last epoch"
                                     : "- (no step was left to do)"}};
  if (outcome.evaluation) {
    json["eval_loss"] = outcome.evaluation->loss;
    std::string text = "loss " + formatDouble(outcome.evaluation->loss);
    if (outcome.evaluation->accuracy) {
      json["eval_accuracy"] = *outcome.evaluation->accuracy;
      text += ", accuracy " + formatDouble(*outcome.evaluation->accuracy * 100, 4) + "% (" +
              std::to_string(outcome.evaluation->correct) + " of " + std::to_string(outcome.evaluation->counted) + ")";
    }
    rows.push_back({"evaluation", text});
  }
  if (const auto &best = outcome.best; best && best->epoch >= 0) {
    json.update({{"stopped", outcome.stopped}, {"best_epoch", best->epoch}, {"best", best->value}});
    rows.push_back({"best", formatDouble(best->value) + " in epoch " + std::to_string(best->epoch + 1) +
                                (outcome.stopped ? "; none of the " + std::to_string(best->without) +
                                                       " measurements since was better, which ended the run"
                                                 : "") +
                                (config.restoreBest && !outcome.interrupted() ? "; the result has its weights" : "")});
  }
  if (of.ranks > 1) tellRanks(of, json, rows);
  if (!of.devices.empty()) json["devices"] = of.devices;
  json.update({{"compile_seconds", of.compileSeconds},
               {"seconds", outcome.seconds},
               {"checkpoint_seconds", outcome.checkpointSeconds},
               {"samples_per_second", outcome.samplesPerSecond},
               {"simulated_seconds", outcome.simulatedSeconds},
               {"time", toJson(outcome.time)},
               {"threads", program.threadCount() * (of.isOfProcesses ? of.ranks : 1)},
               {"state_bytes", program.first().stateBytes()},
               {"trainable", of.trainable}});
  rows.push_back({"time", formatNanoseconds(outcome.seconds * 1e9) + " of training, " +
                              formatNanoseconds(of.compileSeconds * 1e9) + " of compiling; " +
                              formatCount(outcome.samplesPerSecond, "samples/s")});
  if (outcome.simulatedSeconds > 0)
    rows.push_back(
        {"clock", formatDouble(outcome.simulatedSeconds * 1e9, 12) + " ns of steps by the devices' own clock"});
  std::string names;
  for (const std::string &name : of.trainable) names += (names.empty() ? "" : " ") + name;
  if (!names.empty()) rows.push_back({"trained", names});
  if (!options.output.empty()) rows.push_back({"result", options.output});
  const TimeSplit &time = outcome.time.total();
  if (std::string warning = machine::dataWarning(sharesOf(time), time.steps); !warning.empty()) warn(warning);
  if (options.common.json()) {
    if (placements) explain(*placements, &json);
    std::cout << toText(json) << '\n';
    return;
  }
  Table table({rows[0].first, rows[0].second}, Table::Cells::text);
  for (size_t i = 1; i < rows.size(); ++i) table.add({rows[i].first, rows[i].second});
  table.print();
  printTime(outcome.time);
}

} // namespace sprig::cli
