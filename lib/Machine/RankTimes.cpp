#include "lib/Machine/RankTimes.h"
#include <algorithm>
#include <map>

namespace sprig::machine {
namespace {

constexpr double kMatters = 0.01;

std::vector<Span> within(Span whole, std::vector<Span> spans) {
  for (Span &span : spans) span = {std::max(span.begin, whole.begin), std::min(span.end, whole.end)};
  return apart(std::move(spans));
}

RankTimes timesOf(Span whole, const RankSpans &rank) {
  std::vector<Span> computing = within(whole, rank.computing), meeting = within(whole, rank.meetings),
                    either = computing;
  either.insert(either.end(), meeting.begin(), meeting.end());
  RankTimes times;
  times.computing = covered(computing);
  times.communicating = covered(meeting);
  double busy = covered(apart(std::move(either)));
  times.exposed = busy - times.computing;
  times.idle = std::max(0.0, whole.length() - busy);
  return times;
}

} // namespace

RanksTime ranksTime(Span whole, const std::vector<RankSpans> &ranks) {
  RanksTime result;
  result.ns = whole.length();
  size_t meetings = ranks.empty() ? 0 : SIZE_MAX;
  for (const RankSpans &rank : ranks) {
    result.ranks.push_back(timesOf(whole, rank));
    meetings = std::min(meetings, rank.meetings.size());
  }
  std::vector<double> causes(ranks.size(), 0);
  for (size_t i = 0; i < meetings; ++i) {
    auto came = [&](size_t rank) { return ranks[rank].meetings[i].begin; };
    auto firstOf = [&](size_t rank) { return ranks[rank].firsts.empty() ? 0 : ranks[rank].firsts[i]; };
    std::map<int, size_t> lasts;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      auto [last, isNew] = lasts.try_emplace(firstOf(rank), rank);
      if (came(rank) > came(last->second)) last->second = rank;
    }
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      size_t last = lasts[firstOf(rank)];
      double waited = std::max(0.0, std::min(came(last), ranks[rank].meetings[i].end) - came(rank));
      result.ranks[rank].waiting += waited;
      causes[last] += waited;
    }
  }
  for (size_t rank = 0; rank < ranks.size() && ranks.size() > 1; ++rank) {
    double each = causes[rank] / double(ranks.size() - 1);
    if (each < kMatters * result.ns || each <= result.stragglerNs) continue;
    result.straggler = int(rank);
    result.stragglerNs = each;
  }
  return result;
}

} // namespace sprig::machine
