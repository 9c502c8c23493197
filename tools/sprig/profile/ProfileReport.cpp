#include "tools/sprig/profile/ProfileReport.h"
#include "dialects/Exec/LayerName.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <utility>

namespace sprig::cli {
namespace {

ProfileLine lineOf(const ProfileRow &row) {
  ProfileLine line;
  line.name = row.name;
  line.kind = row.kind;
  line.device = row.device;
  line.lane = row.lane < 0 ? "" : std::to_string(row.lane);
  line.calls = double(row.calls);
  line.selfNs = row.selfNs;
  line.totalNs = row.totalNs;
  line.flops = double(row.flops) * line.calls;
  line.bytes = double(row.bytes) * line.calls;
  line.limitNs = row.limitNs * line.calls;
  line.threadNs = row.threadNs;
  line.isCritical = row.isCritical;
  line.minNs = row.minNs() * line.calls;
  line.medianNs = row.medianNs() * line.calls;
  return line;
}

// An operation's part of its dispatch's line. Exact only for an operation that is alone in its dispatch.
ProfileLine partLine(const ProfileRow &row, const ProfilePart &part) {
  ProfileLine line = lineOf(row);
  line.isEstimate = row.parts.size() > 1;
  line.kind = part.kind;
  line.flops = double(part.flops) * line.calls;
  line.bytes = double(part.bytes) * line.calls;
  for (double *time : {&line.selfNs, &line.totalNs, &line.limitNs, &line.threadNs, &line.minNs, &line.medianNs})
    *time *= part.share;
  return line;
}

std::string layerOf(const ProfilePart &part) {
  if (part.name.empty()) return "(unnamed " + part.kind + ")";
  return std::string(exec::layerOf(part.name));
}

std::string groupName(const ProfilePart &part, const std::string &group) {
  if (group == "op") return part.kind;
  if (group == "layer") return layerOf(part);
  if (group == "shape") return part.kind + " -> " + part.shape;
  return part.source.empty() ? "(unknown source)" : part.source;
}

void merge(ProfileLine &into, const ProfileLine &line) {
  into.calls += line.calls;
  into.selfNs += line.selfNs;
  into.totalNs += line.totalNs;
  into.flops += line.flops;
  into.bytes += line.bytes;
  into.limitNs += line.limitNs;
  into.threadNs += line.threadNs;
  into.minNs += line.minNs;
  into.medianNs += line.medianNs;
  into.isEstimate |= line.isEstimate;
  into.isCritical |= line.isCritical;
  if (into.device != line.device) into.device = "several";
  if (into.lane != line.lane) into.lane = "several";
}

bool isMerged(const ProfileRow &row) { return !row.parts.empty() && row.parts.back().call > 0; }

// What takes no time by the model, such as a constant that a kernel holds, is no line beside what does.
bool isFree(const ProfilePart &part) { return part.share == 0; }

// The kernels that were merged into one dispatch, or the operations of one kernel.
std::vector<ProfileLine> linesInside(const ProfileRow &row) {
  std::vector<ProfileLine> lines;
  bool merged = isMerged(row);
  uint32_t call = 0;
  std::string name;
  for (const ProfilePart &part : row.parts) {
    if (isFree(part)) continue;
    ProfileLine line = partLine(row, part);
    // Operations of one name are told apart by kind: a layer's product and the addition of its bias.
    line.name = part.name.empty() ? part.kind : merged ? part.name : part.name + " " + part.kind;
    if (merged && !lines.empty() && call == part.call) {
      merge(lines.back(), line);
      lines.back().calls = line.calls; // one kernel runs them all
      if (part.name != name) lines.back().name += " " + line.name;
    } else {
      lines.push_back(line);
    }
    call = part.call;
    name = part.name;
  }
  return lines.size() > 1 ? lines : std::vector<ProfileLine>();
}

double columnOf(const ProfileLine &line, const std::string &column) {
  if (column == "calls") return line.calls;
  if (column == "total") return line.totalNs;
  if (column == "mean") return line.meanNs();
  if (column == "flops") return line.flops;
  if (column == "bytes") return line.bytes;
  if (column == "median") return line.calls > 0 ? line.medianNs / line.calls : 0;
  if (column == "min") return line.calls > 0 ? line.minNs / line.calls : 0;
  if (column == "rate") return line.medianNs > 0 ? line.flops / line.medianNs : 0;
  if (column == "limit") return line.medianNs > 0 ? line.limitNs / line.medianNs : 0;
  if (column == "threads") return line.totalNs > 0 ? line.threadNs / line.totalNs : 0;
  return line.selfNs; // self, share
}

void sortLines(std::vector<ProfileLine> &lines, const std::string &column) {
  if (column == "order") return;
  auto text = [&](const ProfileLine &line) {
    return column == "name" ? line.name : column == "device" ? line.device : line.lane;
  };
  bool byText = column == "name" || column == "device" || column == "lane";
  std::stable_sort(lines.begin(), lines.end(), [&](const ProfileLine &a, const ProfileLine &b) {
    return byText ? text(a) < text(b) : columnOf(a, column) > columnOf(b, column);
  });
}

} // namespace

std::vector<ProfileLine> profileLines(const ProfileResult &result, const ProfileView &view) {
  std::vector<ProfileLine> lines;
  std::map<std::string, const ProfileRow *> lastRow; // that a group's line took something from
  auto addTo = [&](const std::string &name, const ProfileRow &row, const ProfileLine &line) {
    auto found = std::find_if(lines.begin(), lines.end(), [&](auto &each) { return each.name == name; });
    const ProfileRow *last = std::exchange(lastRow[name], &row);
    if (found == lines.end()) {
      lines.push_back(line);
      lines.back().name = name;
      return;
    }
    double calls = found->calls;
    merge(*found, line);
    // A layer of several operations runs once with its kernel.
    if (last == &row) found->calls = calls;
  };
  for (const ProfileRow &row : result.rows) {
    if (view.group == "dispatch" || row.kind != "dispatch" || row.parts.empty()) {
      lines.push_back(lineOf(row));
      if (view.group == "dispatch" && (isMerged(row) || view.operations)) lines.back().inside = linesInside(row);
      continue;
    }
    for (const ProfilePart &part : row.parts)
      if (!isFree(part)) addTo(groupName(part, view.group), row, partLine(row, part));
  }
  sortLines(lines, view.sort);
  return lines;
}

void printProfile(const ProfileResult &result, const ProfileView &view) {
  Table table({view.group, "calls", "self us", "total us", "mean us", "median us", "min us", "share %", "flop", "bytes",
               "GFLOP/s", "limit %", "threads", "device", "lane", ""});
  auto us = [](double ns) { return formatDouble(ns / 1e3, 4); };
  auto add = [&](const ProfileLine &line, const std::string &indent) {
    // What has no name of its own in a measurement is marked wherever it stands.
    std::string mark = line.isEstimate ? "~" : "";
    bool works = line.flops > 0 || line.bytes > 0;
    bool isMeasured = line.medianNs > 0 && line.calls > 0;
    bool isCommand = line.kind != "overhead";
    table.add({indent + mark + line.name, formatDouble(line.calls, 12), mark + us(line.selfNs), mark + us(line.totalNs),
               mark + us(line.meanNs()), isMeasured ? mark + us(line.medianNs / line.calls) : "",
               isMeasured ? mark + us(line.minNs / line.calls) : "",
               mark + formatDouble(100 * line.selfNs / result.wallNs, 3),
               works ? formatCount(line.flops / line.calls, "") : "", works ? formatBytes(line.bytes / line.calls) : "",
               works && isMeasured ? mark + formatDouble(line.flops / line.medianNs, 4) : "",
               line.limitNs > 0 && isMeasured ? mark + formatDouble(100 * line.limitNs / line.medianNs, 3) : "",
               isCommand && line.totalNs > 0 ? mark + formatDouble(line.threadNs / line.totalNs, 2) : "", line.device,
               line.lane, line.isCritical ? "*" : ""});
  };
  double self = 0;
  bool hasEstimates = false;
  for (const ProfileLine &line : profileLines(result, view)) {
    add(line, "");
    self += line.selfNs;
    hasEstimates |= line.isEstimate || !line.inside.empty();
    for (const ProfileLine &inner : line.inside) add(inner, "  ");
  }
  table.print();
  if (hasEstimates)
    std::cout << "~ is a share of what was measured, by the cost model; of a model, --no-merge measures each command\n";
  std::cout << result.calls << " calls of entry '" << result.entry << "'"
            << (result.dims.empty() ? "" : " with " + result.dims) << " on " << result.threads
            << (result.threads == 1 ? " thread" : " threads") << ": " << formatNanoseconds(result.wallNs)
            << " wall time, of which the rows above hold " << formatNanoseconds(self) << '\n';
  if (!result.loader.empty()) std::cout << result.loader << '\n';
  std::cout << "a call takes " << formatNanoseconds(medianOf(result.callSamples)) << " with the profiler on, "
            << formatNanoseconds(result.plainQuartilesNs[1]) << " without (medians)\n";
  if (!result.queueSamples.empty())
    std::cout << "a submission takes " << formatNanoseconds(medianOf(result.submitSamples)) << ", its run waits "
              << formatNanoseconds(medianOf(result.queueSamples)) << " in the queue (medians)\n";
  printBusyTime(result.busy);
  if (result.dropped) warn(std::to_string(result.dropped) + " events were dropped; calls that lost some are left out");
}

static Json lineToJson(const ProfileLine &line, double wallNs) {
  Json json = {{"name", line.name},
               {"kind", line.kind},
               {"calls", line.calls},
               {"self_ns", line.selfNs},
               {"total_ns", line.totalNs},
               {"mean_ns", line.meanNs()},
               {"median_ns", line.calls > 0 ? line.medianNs / line.calls : 0},
               {"min_ns", line.calls > 0 ? line.minNs / line.calls : 0},
               {"share", line.selfNs / wallNs},
               {"flops", line.flops},
               {"bytes", line.bytes},
               {"limit_ns", line.limitNs},
               {"thread_ns", line.threadNs},
               {"device", line.device},
               {"lane", line.lane},
               {"critical", line.isCritical},
               {"estimate", line.isEstimate}};
  if (!line.inside.empty()) {
    json["inside"] = Json::array();
    for (const ProfileLine &inner : line.inside) json["inside"].push_back(lineToJson(inner, wallNs));
  }
  return json;
}

Json profileToJson(const ProfileResult &result, const ProfileView &view) {
  Json rows = Json::array();
  for (const ProfileLine &line : profileLines(result, view)) rows.push_back(lineToJson(line, result.wallNs));
  return {{"entry", result.entry},
          {"dims", result.dims},
          {"group", view.group},
          {"threads", result.threads},
          {"loader", result.loader},
          {"calls", result.calls},
          {"wall_ns", result.wallNs},
          {"call_median_ns", medianOf(result.callSamples)},
          {"plain_call_quartiles_ns", result.plainQuartilesNs},
          {"submit_median_ns", medianOf(result.submitSamples)},
          {"queue_median_ns", medianOf(result.queueSamples)},
          {"dropped_events", result.dropped},
          {"busy", toJson(result.busy)},
          {"rows", rows}};
}

} // namespace sprig::cli
