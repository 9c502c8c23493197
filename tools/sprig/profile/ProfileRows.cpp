#include "tools/sprig/profile/ProfileRows.h"
#include "lib/Machine/StreamShares.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/profile/CommandLimits.h"
#include <algorithm>
#include <functional>
#include <string_view>

namespace sprig::cli {
namespace {

constexpr size_t kMaxKeptSamples = 1 << 16;

std::vector<ProfilePart> partsOf(const Runner &runner, uint32_t entry, uint32_t lane, uint32_t command) {
  uint32_t count = 0;
  check(sprig_rt_package_part_count(runner.package(), entry, lane, command, &count));
  std::vector<ProfilePart> parts;
  for (uint32_t i = 0; i < count; ++i) {
    sprig_rt_part_info info;
    check(sprig_rt_package_part(runner.package(), entry, lane, command, i, &info));
    const rt::core::Entry &from = runner.package()->package->program().entries[entry];
    parts.push_back({info.name, info.kind, info.shape, info.source, info.flops, info.bytes, info.call, 0,
                     from.lanes[lane].commands[command].parts[i].factors});
  }
  return parts;
}

void keepSample(std::vector<float> &samples, double ns) {
  if (samples.size() < kMaxKeptSamples) samples.push_back(float(ns));
}

} // namespace

double medianOf(std::vector<float> samples) {
  if (samples.empty()) return 0;
  auto middle = samples.begin() + ptrdiff_t(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

double ProfileRow::medianNs() const { return medianOf(samples); }
double ProfileRow::minNs() const { return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end()); }

ProfileRow &ProfileCollector::commandRow(const sprig_rt_profile_event &event) {
  auto [found, isNew] = commands.try_emplace(Key{event.entry, event.lane, event.command});
  ProfileRow &row = found->second;
  if (!isNew) return row;
  sprig_rt_command_info info;
  check(sprig_rt_package_command(runner.package(), event.entry, event.lane, event.command, &info));
  row.kind = rt::commandKindName(info.kind);
  row.name = info.name && *info.name ? info.name : row.kind;
  row.device = places.deviceName(info.device);
  row.entry = event.entry;
  row.lane = int(event.lane);
  row.command = event.command;
  row.flops = info.flops;
  row.bytes = info.bytes;
  row.parts = partsOf(runner, event.entry, event.lane, event.command);
  return row;
}

ProfileRow &ProfileCollector::transferRow(const sprig_rt_profile_event &event) {
  auto [found, isNew] = transfers.try_emplace({event.kind, Key{event.entry, event.lane, event.command}});
  ProfileRow &row = found->second;
  if (!isNew) return row;
  bool isUpload = event.kind == SPRIG_RT_PROFILE_UPLOAD;
  const rt::core::Entry &entry = runner.package()->package->program().entries[event.entry];
  const rt::core::TensorType &array = (isUpload ? entry.inputs : entry.outputs)[event.command];
  row.kind = isUpload ? "upload" : "download";
  row.name = "(" + row.kind + " '" + array.name + "')";
  row.device = places.deviceName(event.lane);
  row.entry = event.entry;
  row.bytes = array.bytes;
  return row;
}

ProfileRow &ProfileCollector::overheadRow(const std::string &name) {
  ProfileRow &row = overhead[name];
  row.name = name;
  row.kind = "overhead";
  return row;
}

void ProfileCollector::addTo(ProfileRow &row, const rt::ProfileSpan &span) {
  ++row.calls;
  row.selfNs += double(span.selfNs);
  row.totalNs += double(span.totalNs);
  keepSample(row.samples, double(span.totalNs));
}

void ProfileCollector::add(const rt::Profile &profile, const sprig_rt_profile_data &data) {
  result.dropped += data.dropped;
  machine::RecordedTime time = machine::recordedTime(data, std::ref(places));
  result.busy.add(time, places, profile);
  std::vector<rt::ProfileSpan> spans = rt::nest(data);
  // Slices belong to their dispatch: they are where its time goes, not beside it.
  auto isOwnSlice = [&](const rt::ProfileSpan &span) {
    if (span.event->kind != SPRIG_RT_PROFILE_SLICE || span.parent == rt::ProfileSpan::kNone) return false;
    const sprig_rt_profile_event &outer = *spans[span.parent].event;
    return outer.kind == SPRIG_RT_PROFILE_DISPATCH && outer.lane == span.event->lane &&
           outer.command == span.event->command && outer.call == span.event->call;
  };
  std::map<std::pair<uint64_t, uint64_t>, bool> cut; // by call, lane and command
  auto dispatchKey = [](const sprig_rt_profile_event &event) {
    return std::pair(event.call, uint64_t(event.lane) << 32 | event.command);
  };
  for (const rt::ProfileSpan &span : spans) {
    if (span.event->kind == SPRIG_RT_PROFILE_SLICE) cut[dispatchKey(*span.event)] = true;
    if (isOwnSlice(span)) spans[span.parent].selfNs += span.totalNs;
  }
  machine::shareStreams(spans, [&](uint32_t thread) { return profile.isStream(thread); });
  std::map<uint64_t, uint64_t> submitted; // the end of a call's submission
  for (const rt::ProfileSpan &span : spans)
    if (span.event->kind == SPRIG_RT_PROFILE_SUBMIT) {
      submitted[span.event->call] = span.event->end_ns;
      keepSample(result.submitSamples, double(span.totalNs));
    }
  uint64_t inCalls = 0;
  for (const rt::ProfileSpan &span : spans) {
    const sprig_rt_profile_event &event = *span.event;
    // A call whose commands were overwritten would make up a share for itself.
    if (event.begin_ns < data.complete_since_ns) continue;
    if (machine::isCommand(event.kind)) {
      ProfileRow &row = commandRow(event);
      addTo(row, span);
      if (!cut.count(dispatchKey(event))) row.threadNs += double(span.totalNs);
    }
    switch (event.kind) {
    case SPRIG_RT_PROFILE_CALL:
      inCalls += span.totalNs;
      ++result.calls;
      keepSample(result.callSamples, double(span.totalNs));
      addTo(overheadRow("(call)"), span);
      if (auto found = submitted.find(event.call); found != submitted.end())
        keepSample(result.queueSamples, event.begin_ns > found->second ? double(event.begin_ns - found->second) : 0);
      break;
    case SPRIG_RT_PROFILE_RANGE:
      if (std::string_view(event.name) == machine::kWaitRange) {
        // Without workers the batch is loaded in it.
        rt::ProfileSpan whole = span;
        whole.selfNs = whole.totalNs;
        inCalls += span.totalNs;
        addTo(overheadRow("(wait for data)"), whole);
      }
      break;
    case SPRIG_RT_PROFILE_BIND: addTo(overheadRow("(bind arrays)"), span); break;
    case SPRIG_RT_PROFILE_FINISH: addTo(overheadRow("(finish outputs)"), span); break;
    case SPRIG_RT_PROFILE_SLICE: {
      ProfileRow &row = commandRow(event);
      row.wasCut = true;
      row.threadNs += double(span.totalNs);
      // The command's own time is on the thread that drives its lane; this is another thread's, within what it drives.
      if (!isOwnSlice(span) && span.parent != rt::ProfileSpan::kNone) addTo(overheadRow("(help other lanes)"), span);
      break;
    }
    case SPRIG_RT_PROFILE_UPLOAD:
    case SPRIG_RT_PROFILE_DOWNLOAD: addTo(transferRow(event), span); break;
    default: break;
    }
  }
  if (time.ns > 0) {
    result.wallNs += time.ns;
    ProfileRow &row = overheadRow("(between calls)");
    double between = time.ns - double(inCalls);
    row.calls = result.calls;
    row.selfNs += between;
    row.totalNs += between;
  }
}

// By means: of each call, and so on average, a chain takes no longer than the call. Of medians that is not so.
void ProfileCollector::findPath() {
  if (commands.empty()) return;
  uint32_t entry = commands.begin()->first.entry;
  if (commands.rbegin()->first.entry != entry) return; // of a call that was split over several, none is the call's
  std::map<CommandPlaceInLane, ProfileRow *> rows;
  for (auto &[key, row] : commands)
    if (key.entry == entry && (row.kind == "dispatch" || row.kind == "copy")) rows[{key.lane, key.command}] = &row;
  result.busy.commands = rows.size();
  double runs = rows.empty() ? 1 : std::max(double(rows.begin()->second->calls) / double(result.calls), 1.0);
  result.busy.callNs = overheadRow("(call)").meanNs() / runs;
  result.busy.path = criticalPathOf(commandGraph(runner, entry), [&](uint32_t lane, uint32_t command) {
    auto found = rows.find({lane, command});
    return found == rows.end() ? 0 : found->second->meanNs();
  });
  for (const CommandPlaceInLane &place : result.busy.path.commands) rows.at(place)->isCritical = true;
}

ProfileResult ProfileCollector::take() {
  findPath();
  for (auto &[key, row] : commands) {
    if (row.kind == "dispatch" && row.parts.empty()) result.hasParts = false;
    result.rows.push_back(std::move(row));
  }
  for (auto &[key, row] : transfers) result.rows.push_back(std::move(row));
  for (auto &[name, row] : overhead) result.rows.push_back(std::move(row));
  return std::move(result);
}

void setLimits(ProfileResult &result, const Runner &runner, const machine::ProductRates &rates) {
  CommandLimits limits(runner, rates);
  for (ProfileRow &row : result.rows) {
    if (row.lane < 0 || (row.kind != "dispatch" && row.kind != "copy")) continue;
    row.limitNs = limits.commandNs(row.entry, uint32_t(row.lane), row.command, row.wasCut ? result.threads : 1);
    double sum = 0;
    for (ProfilePart &part : row.parts)
      sum += part.share = limits.partNs(row.entry, part.flops, part.bytes, part.factors);
    for (ProfilePart &part : row.parts) part.share = sum > 0 ? part.share / sum : 1.0 / double(row.parts.size());
  }
}

} // namespace sprig::cli
