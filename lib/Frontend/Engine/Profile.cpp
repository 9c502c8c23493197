#include "sprig/profile.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "runtime/base/Decimal.h"
#include "sprig/function.h"
#include "sprig/rt/profile.hpp"
#include <algorithm>
#include <cstdio>
#include <map>

namespace sprig {

struct Profile::Impl {
  mutable rt::Profile recorder;
  bool isOn = false;
  std::map<std::pair<std::string, std::string>, ProfileRow> rows;
  uint64_t dropped = 0;

  void take() {
    sprig_rt_profile_data data = recorder.read();
    dropped += data.dropped;
    std::vector<rt::ProfileSpan> spans = rt::nest(data);
    // Self time is what is not in other ranges: what the runtime records of a plan belongs to the range around it.
    std::vector<uint64_t> inside(spans.size());
    auto isRange = [&](size_t i) { return spans[i].event->kind == SPRIG_RT_PROFILE_RANGE; };
    for (size_t i = 0; i < spans.size(); ++i) {
      if (!isRange(i)) continue;
      size_t outer = spans[i].parent;
      while (outer != rt::ProfileSpan::kNone && !isRange(outer)) outer = spans[outer].parent;
      if (outer != rt::ProfileSpan::kNone) inside[outer] += spans[i].totalNs;
    }
    for (size_t i = 0; i < spans.size(); ++i) {
      if (!isRange(i)) continue;
      std::string name = spans[i].event->name, kind = "range";
      if (size_t tab = name.find('\t'); tab != std::string::npos) {
        kind = name.substr(0, tab);
        name.erase(0, tab + 1);
      }
      ProfileRow &row = rows[{kind, name}];
      row.kind = kind;
      row.name = name;
      ++row.calls;
      row.seconds += double(spans[i].totalNs) * 1e-9;
      if (kind == frontend::kWaitKind) continue;
      row.selfSeconds += double(spans[i].totalNs - std::min(spans[i].totalNs, inside[i])) * 1e-9;
    }
  }
};

Profile::Profile() : impl(std::make_unique<Impl>()) {}
Profile::~Profile() {
  if (impl->isOn) impl->recorder.stop();
}

void Profile::start() {
  if (impl->isOn) badUse("Profile: is started already");
  frontend::finishAll();
  try {
    impl->recorder.start();
  } catch (const rt::Error &error) {
    badUse(std::string("Profile: ") + error.what());
  }
  impl->isOn = true;
}

void Profile::stop() {
  if (!impl->isOn) return;
  frontend::finishAll();
  impl->recorder.stop();
  impl->isOn = false;
  impl->take();
}

std::vector<ProfileRow> Profile::rows() const {
  if (impl->isOn) {
    frontend::finishAll();
    impl->take();
  }
  std::vector<ProfileRow> rows;
  for (auto &[key, row] : impl->rows) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](auto &a, auto &b) {
    if (a.selfSeconds != b.selfSeconds) return a.selfSeconds > b.selfSeconds;
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  return rows;
}

// What a wait is for, and what would be better in a loop.
static std::pair<const char *, const char *> adviceFor(std::string_view wait) {
  auto isFor = [&](std::string_view what) { return wait == what || wait.ends_with(": " + std::string(what)); };
  if (isFor(frontend::kCopyWait))
    return {" waited for its copy ", "copy before the loop what stays the same, and the rest with nonBlocking"};
  if (isFor(frontend::kQueueWait) || isFor(frontend::kEventWait))
    return {" waited for what was queued ", "wait after the loop or every so many steps"};
  return {" waited for its value ",
          "read after the loop or every so many steps, or add up where values are (metrics::Mean)"};
}

// Once or twice is an epoch's end or a warm-up; what waits this often stands in a loop.
std::vector<std::string> Profile::warnings() const {
  constexpr int64_t kOften = 10;
  std::vector<std::string> texts;
  for (const ProfileRow &row : rows()) {
    if (row.kind != frontend::kWaitKind || row.calls < kOften) continue;
    auto [what, advice] = adviceFor(row.name);
    texts.push_back(row.name + what + std::to_string(row.calls) + " times, " + decimal::general(row.seconds * 1e3, 3) +
                    " ms in all: in a loop of steps it keeps the host from going on; " + advice);
  }
  return texts;
}

uint64_t Profile::dropped() const { return impl->dropped; }

std::string Profile::table() const {
  std::vector<ProfileRow> all = rows();
  double sum = 0;
  for (const ProfileRow &row : all) sum += row.selfSeconds;
  std::string text;
  auto add = [&](const std::string &calls, const std::string &self, const std::string &total, const std::string &share,
                 const std::string &kind, const std::string &name) {
    char line[160];
    std::snprintf(line, sizeof line, "%10s %12s %12s %8s  %-12s ", calls.c_str(), self.c_str(), total.c_str(),
                  share.c_str(), kind.c_str());
    text += line + name + "\n";
  };
  add("calls", "self us", "total us", "share %", "kind", "name");
  for (const ProfileRow &row : all)
    add(std::to_string(row.calls), decimal::fixed(row.selfSeconds * 1e6, 1), decimal::fixed(row.seconds * 1e6, 1),
        decimal::fixed(sum > 0 ? 100 * row.selfSeconds / sum : 0, 2), row.kind, row.name);
  for (const std::string &warning : warnings()) text += "warning: " + warning + "\n";
  if (impl->dropped) text += std::to_string(impl->dropped) + " events were dropped\n";
  return text;
}

ProfileRange::ProfileRange(const std::string &name)
    : token(sprig_rt_profile_recording() ? sprig_rt_profile_push(("range\t" + name).c_str()) : 0) {}
ProfileRange::~ProfileRange() {
  if (token) sprig_rt_profile_pop(token);
}

} // namespace sprig
