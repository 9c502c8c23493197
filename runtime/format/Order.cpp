#include "runtime/format/Order.h"

#include <algorithm>
#include <utility>

namespace sprig::rt::order {

namespace {

// Clocks of events, and visits of stretches of bytes: some hundred milliseconds at most. Real programs are far below.
constexpr uint64_t kMostClocks = uint64_t(1) << 24;
constexpr uint64_t kMostVisits = uint64_t(1) << 28;

constexpr uint32_t kNone = UINT32_MAX;

// A command as clocks count: how many of its lane came before it.
struct Epoch {
  uint32_t lane = kNone;
  uint32_t index = 0;
};

// A stretch of bytes that every region has all or nothing of.
struct Stretch {
  Epoch write;
  Epoch read;                 // the only one since, unless there are more
  uint32_t moreReads = kNone; // a list in Checker::reads
};

struct ReadNode {
  Epoch epoch;
  uint32_t next;
};

// Where a region begins or ends.
struct Edge {
  uint64_t at;
  uint32_t region;
  bool isEnd;
};

// Sorts by place: passes over the digits that the largest has.
void sortEdges(std::vector<Edge> &edges) {
  constexpr unsigned bits = 11;
  constexpr size_t buckets = size_t(1) << bits;
  if (edges.size() < 64) {
    std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) { return a.at < b.at; });
    return;
  }
  uint64_t most = 0;
  for (const Edge &edge : edges) most |= edge.at;
  std::vector<Edge> other(edges.size());
  std::vector<uint32_t> starts(buckets);
  for (unsigned shift = 0; shift < 64 && most >> shift; shift += bits) {
    std::fill(starts.begin(), starts.end(), 0);
    for (const Edge &edge : edges) ++starts[edge.at >> shift & (buckets - 1)];
    uint32_t sum = 0;
    for (uint32_t &start : starts) sum += std::exchange(start, sum);
    for (const Edge &edge : edges) other[starts[edge.at >> shift & (buckets - 1)]++] = edge;
    edges.swap(other);
  }
}

class Checker {
public:
  explicit Checker(const Schedule &schedule) : schedule(schedule), lanes(uint32_t(schedule.laneEnds.size())) {}

  Finding run(std::vector<uint32_t> *playedTo = nullptr, std::vector<uint32_t> *clocksTo = nullptr) {
    played = playedTo;
    commandClocks = clocksTo;
    if (uint64_t(lanes) * schedule.events > kMostClocks) return {Verdict::TooLarge, {}, {}};
    clocks.assign(size_t(lanes) * lanes, 0);
    eventClocks.assign(size_t(lanes) * schedule.events, 0);
    recorded.assign(schedule.events, false);
    // The order within one lane needs no proof.
    if (lanes > 1 && !played) cut();
    return play();
  }

private:
  uint32_t laneBegin(uint32_t lane) const { return lane ? schedule.laneEnds[lane - 1] : 0; }
  uint32_t laneSize(uint32_t lane) const { return schedule.laneEnds[lane] - laneBegin(lane); }
  const Command &command(Place at) const { return schedule.commands[laneBegin(at.lane) + at.index]; }

  // Cuts the bytes of spaces that something writes into stretches.
  void cut() {
    uint32_t spaces = 0;
    for (const Region &region : schedule.regions) spaces = std::max(spaces, region.space + 1);
    std::vector<std::vector<Edge>> edges(spaces);
    std::vector<char> isWritten(spaces, false), isUsed(schedule.regions.size(), false);
    for (const Access &access : schedule.accesses) {
      if (access.writes) isWritten[schedule.regions[access.region].space] = true;
      isUsed[access.region] = true;
    }
    for (uint32_t i = 0; i < schedule.regions.size(); ++i) {
      const Region &region = schedule.regions[i];
      if (!isUsed[i] || !isWritten[region.space] || region.begin >= region.end) continue;
      edges[region.space].push_back({region.begin, i, false});
      edges[region.space].push_back({region.end, i, true});
    }
    stretchesOf.assign(schedule.regions.size(), {0, 0});
    uint32_t count = 0;
    for (std::vector<Edge> &list : edges) {
      sortEdges(list);
      for (size_t i = 0; i < list.size(); ++i) {
        count += i && list[i].at != list[i - 1].at;
        (list[i].isEnd ? stretchesOf[list[i].region].second : stretchesOf[list[i].region].first) = count;
      }
      ++count;
    }
    stretches.resize(count);
  }

  // Every lane goes as far as it can, until all end or none moves.
  Finding play() {
    std::vector<uint32_t> position(lanes, 0), ready;
    std::vector<uint32_t> nextWaiting(lanes, kNone), firstWaiting(schedule.events, kNone);
    for (uint32_t lane = lanes; lane-- > 0;) ready.push_back(lane);
    while (!ready.empty()) {
      uint32_t lane = ready.back();
      ready.pop_back();
      uint32_t *clock = &clocks[size_t(lane) * lanes];
      for (uint32_t &at = position[lane], size = laneSize(lane); at < size; ++at) {
        const Command &each = command({lane, at});
        clock[lane] = at;
        if (each.kind == Kind::Work) {
          if (played) note({lane, at}, clock);
          if (!stretches.empty() && !touch(each, {lane, at})) return finding;
          continue;
        }
        uint32_t *event = &eventClocks[size_t(each.event) * lanes];
        if (each.kind == Kind::Record) {
          recorded[each.event] = true;
          std::copy_n(clock, lanes, event);
          event[lane] = at + 1;
          for (uint32_t waiting = firstWaiting[each.event]; waiting != kNone; waiting = nextWaiting[waiting])
            ready.push_back(waiting);
          continue;
        }
        if (!recorded[each.event]) {
          nextWaiting[lane] = std::exchange(firstWaiting[each.event], lane);
          break;
        }
        for (uint32_t i = 0; i < lanes; ++i) clock[i] = std::max(clock[i], event[i]);
      }
    }
    for (uint32_t lane = 0; lane < lanes; ++lane)
      if (position[lane] < laneSize(lane)) return {Verdict::Stuck, {}, {lane, position[lane]}};
    return {};
  }

  void note(Place place, const uint32_t *clock) {
    size_t index = laneBegin(place.lane) + place.index;
    played->push_back(uint32_t(index));
    std::copy_n(clock, lanes, commandClocks->begin() + std::ptrdiff_t(index * lanes));
  }

  bool isBefore(Epoch earlier, uint32_t lane) const {
    return earlier.lane == lane || earlier.lane == kNone || clocks[size_t(lane) * lanes + earlier.lane] > earlier.index;
  }

  // False when something that the command touches is not ordered with it.
  bool touch(const Command &each, Place place) {
    for (uint32_t a = each.firstAccess; a < each.firstAccess + each.accessCount; ++a) {
      const Access &access = schedule.accesses[a];
      auto [begin, end] = stretchesOf[access.region];
      visits += end - begin;
      if (visits > kMostVisits) {
        finding.verdict = Verdict::TooLarge;
        return false;
      }
      for (uint32_t s = begin; s < end; ++s) {
        Epoch other = access.writes ? write(stretches[s], {place.lane, place.index})
                                    : read(stretches[s], {place.lane, place.index});
        if (other.lane == kNone) continue;
        report({other.lane, other.index}, place, access);
        return false;
      }
    }
    return true;
  }

  // Both give the command that is not ordered with this one, or none.
  Epoch read(Stretch &stretch, Epoch now) {
    if (!isBefore(stretch.write, now.lane)) return stretch.write;
    if (stretch.moreReads == kNone && isBefore(stretch.read, now.lane)) {
      stretch.read = now;
      return {};
    }
    if (stretch.moreReads == kNone) addRead(stretch, stretch.read);
    for (uint32_t i = stretch.moreReads; i != kNone; i = reads[i].next, ++visits)
      if (reads[i].epoch.lane == now.lane) {
        reads[i].epoch = now;
        return {};
      }
    addRead(stretch, now);
    return {};
  }
  Epoch write(Stretch &stretch, Epoch now) {
    if (!isBefore(stretch.write, now.lane)) return stretch.write;
    if (stretch.moreReads == kNone && !isBefore(stretch.read, now.lane)) return stretch.read;
    for (uint32_t i = stretch.moreReads; i != kNone; i = reads[i].next, ++visits)
      if (!isBefore(reads[i].epoch, now.lane)) return reads[i].epoch;
    stretch = {now, {}, kNone};
    return {};
  }
  void addRead(Stretch &stretch, Epoch epoch) {
    reads.push_back({epoch, stretch.moreReads});
    stretch.moreReads = uint32_t(reads.size() - 1);
  }

  // All bytes that the two share through the access, where one of them writes.
  void report(Place first, Place second, const Access &access) {
    const Region &mine = schedule.regions[access.region];
    finding = {Verdict::Race, first, second, false, access.writes, {mine.space, 0, 0}};
    const Command &other = command(first);
    for (uint32_t a = other.firstAccess; a < other.firstAccess + other.accessCount; ++a) {
      const Access &candidate = schedule.accesses[a];
      const Region &theirs = schedule.regions[candidate.region];
      Region shared = {mine.space, std::max(mine.begin, theirs.begin), std::min(mine.end, theirs.end)};
      bool conflict = theirs.space == mine.space && shared.begin < shared.end && (candidate.writes || access.writes);
      if (!conflict || (finding.firstWrites && !candidate.writes)) continue;
      finding.shared = shared;
      finding.firstWrites = candidate.writes;
    }
  }

  const Schedule &schedule;
  uint32_t lanes;
  std::vector<uint32_t> clocks;      // of lane i: how many commands of each lane are before its next
  std::vector<uint32_t> eventClocks; // of its lane after the record
  std::vector<char> recorded;
  std::vector<std::pair<uint32_t, uint32_t>> stretchesOf; // of a region: from, up to
  std::vector<Stretch> stretches;
  std::vector<ReadNode> reads;
  uint64_t visits = 0;
  Finding finding;
  std::vector<uint32_t> *played = nullptr, *commandClocks = nullptr; // where HappensBefore wants them
};

} // namespace

ByteRange bytesOfTiles(const TileBytes &tiles, int64_t firstTile, int64_t endTile, uint64_t size) {
  if (firstTile >= endTile) return {0, 0};
  using Wide = __int128;
  auto beginOf = [&](int64_t tile) { return Wide(tiles.first) + Wide(tile) / Wide(tiles.per) * tiles.step; };
  Wide one = beginOf(firstTile), last = beginOf(endTile - 1);
  Wide begin = std::max<Wide>(std::min(one, last), 0);
  Wide end = std::min<Wide>(std::max(one, last) + Wide(tiles.size), Wide(size));
  if (begin >= end) return {0, 0};
  return {uint64_t(begin), uint64_t(end)};
}

Finding checkOrder(const Schedule &schedule) {
  bool needed = schedule.laneEnds.size() > 1 || schedule.events > 0;
  return needed ? Checker(schedule).run() : Finding();
}

HappensBefore::HappensBefore(const Schedule &schedule) : laneEnds(schedule.laneEnds) {
  clocks.resize(schedule.commands.size() * laneEnds.size());
  Checker(schedule).run(&played, &clocks);
}

std::optional<std::pair<Place, Place>> findUnordered(const Schedule &schedule, const std::vector<bool> &isAsked) {
  auto placeOf = [&](uint32_t index) -> Place {
    auto lane = std::upper_bound(schedule.laneEnds.begin(), schedule.laneEnds.end(), index) - schedule.laneEnds.begin();
    return {uint32_t(lane), index - (lane ? schedule.laneEnds[size_t(lane) - 1] : 0)};
  };
  // A lane is in order by itself.
  auto first = std::find(isAsked.begin(), isAsked.end(), true);
  auto last = std::find(isAsked.rbegin(), isAsked.rend(), true);
  if (first == isAsked.end() ||
      placeOf(uint32_t(first - isAsked.begin())).lane == placeOf(uint32_t(isAsked.rend() - last - 1)).lane)
    return std::nullopt;
  HappensBefore before(schedule);
  std::optional<Place> earlier;
  for (uint32_t index : before.order()) {
    if (!isAsked[index]) continue;
    Place place = placeOf(index);
    if (earlier && !before.isBefore(*earlier, place)) return std::pair(*earlier, place);
    earlier = place;
  }
  return std::nullopt;
}

} // namespace sprig::rt::order
