#include "lib/Machine/Verdict.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <numeric>

namespace sprig::machine {
namespace {

constexpr double kBinds = 0.2;
constexpr double kStarved = 0.8, kSaturated = 0.9;

std::vector<Span> clippedTo(Span whole, std::vector<Span> spans) {
  for (Span &span : spans) span = {std::max(span.begin, whole.begin), std::min(span.end, whole.end)};
  std::erase_if(spans, [](const Span &span) { return !(span.end > span.begin); });
  return spans;
}

double unionOf(const std::vector<Span> &spans) { return covered(apart(spans)); }

} // namespace

TimeShares &TimeShares::operator+=(const TimeShares &other) {
  ns += other.ns;
  computation += other.computation;
  copies += other.copies;
  data += other.data;
  handOff += other.handOff;
  communication += other.communication;
  return *this;
}

TimeShares timeShares(Span whole, std::vector<Span> computing, std::vector<Span> copying, std::vector<Span> waiting,
                      std::vector<Span> meeting) {
  TimeShares shares;
  shares.ns = std::max(whole.length(), 0.0);
  // Of each kind what those before have not.
  std::vector<Span> seen;
  double before = 0;
  auto add = [&](std::vector<Span> spans, double &share) {
    spans = clippedTo(whole, std::move(spans));
    seen.insert(seen.end(), spans.begin(), spans.end());
    double all = unionOf(seen);
    share = all - before;
    before = all;
  };
  add(std::move(computing), shares.computation);
  add(std::move(meeting), shares.communication);
  add(std::move(copying), shares.copies);
  add(std::move(waiting), shares.data);
  shares.handOff = std::max(shares.ns - before, 0.0);
  return shares;
}

const char *nameOf(Bound bound) {
  switch (bound) {
  case Bound::copies: return "copies";
  case Bound::data: return "data";
  case Bound::handOff: return "hand-off";
  case Bound::communication: return "communication";
  case Bound::computation: break;
  }
  return "computation";
}

Bound boundBy(const TimeShares &shares) {
  Bound bound = Bound::computation;
  double most = kBinds * shares.ns;
  for (auto [part, name] : {std::pair(shares.data, Bound::data),
                            {shares.communication, Bound::communication},
                            {shares.copies, Bound::copies},
                            {shares.handOff, Bound::handOff}})
    if (part > 0 && part >= most) {
      most = part;
      bound = name;
    }
  return bound;
}

std::string remedyFor(Bound bound) {
  switch (bound) {
  case Bound::data:
    return "more workers (--workers), batches that are loaded further ahead (--prefetch), samples that are decoded "
           "once and kept (a cache), quicker storage";
  case Bound::copies:
    return "copies beside computation (smaller pieces, the next batch's upload during this step), another placement "
           "(--place), a quicker link";
  case Bound::handOff:
    return "a larger batch (--dim), fewer threads (--threads), fewer and larger commands (without --no-merge)";
  case Bound::communication:
    return "sums beside the backward pass (buckets of another size, --bucket), more samples for each rank (`batch`), "
           "passes that are accumulated (`accumulate`), a quicker network, fewer ranks (--mesh)";
  case Bound::computation: break;
  }
  return "more threads (--threads), kernels nearer to the machine's limit (a larger batch, --tune), lower precision, "
         "less arithmetic";
}

std::vector<int> wholePercents(std::span<const double> parts) {
  double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<int> percents(parts.size(), 0);
  if (!(sum > 0)) return percents;
  std::vector<std::pair<double, size_t>> rests;
  int left = 100;
  for (size_t i = 0; i < parts.size(); ++i) {
    double exact = 100 * parts[i] / sum;
    percents[i] = int(exact);
    left -= percents[i];
    rests.emplace_back(exact - percents[i], i);
  }
  std::stable_sort(rests.begin(), rests.end(), [](auto &a, auto &b) { return a.first > b.first; });
  for (int i = 0; i < left; ++i) ++percents[rests[size_t(i)].second];
  return percents;
}

std::string verdictText(const TimeShares &shares) {
  Bound bound = boundBy(shares);
  const double parts[] = {shares.computation, shares.communication, shares.copies, shares.data, shares.handOff};
  const char *const names[] = {"is computation", "communication of ranks that none hides", "copies that none hides",
                               "waiting for data", "hand-offs and the runtime"};
  std::vector<int> percents = wholePercents(parts);
  constexpr size_t kOfRanks = 1;
  std::string text = std::string("bound by ") + nameOf(bound) + ": of the time ";
  for (size_t i = 0; i < std::size(parts); ++i) {
    if (i == kOfRanks && !(shares.communication > 0)) continue;
    text += (i ? ", " : "") + std::to_string(percents[i]) + " % " + names[i];
  }
  return text + "\nremedies: " + remedyFor(bound);
}

TimeShares sharesOfRun(double all, double waiting, double computing) {
  TimeShares shares;
  shares.ns = all * 1e9;
  shares.data = waiting * 1e9;
  shares.computation = computing * 1e9;
  shares.handOff = (all - waiting - computing) * 1e9;
  return shares;
}

std::string dataWarning(const TimeShares &shares, int64_t steps) {
  constexpr double kLeastWait = 1e8; // ns in all: less is not worth a word
  if (shares.data < kLeastWait || boundBy(shares) != Bound::data) return "";
  auto percent = [&](double part) { return decimal::general(100 * shares.of(part), 3); };
  return "bound by data: the run waited for batches " + percent(shares.data) + " % of its time (" +
         decimal::scaled(shares.data / double(steps), 1000, {"ns", "us", "ms", "s"}) + " a step), and computed " +
         percent(shares.computation) + " % of it (below 80 % is " + nameOf(pressureOf(shares.of(shares.computation))) +
         "); remedies: " + remedyFor(Bound::data);
}

Pressure pressureOf(double busyShare) {
  if (busyShare < kStarved) return Pressure::starved;
  return busyShare > kSaturated ? Pressure::saturated : Pressure::between;
}

const char *nameOf(Pressure pressure) {
  switch (pressure) {
  case Pressure::starved: return "starved";
  case Pressure::saturated: return "saturated";
  case Pressure::between: break;
  }
  return "";
}

} // namespace sprig::machine
