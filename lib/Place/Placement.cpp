#include "lib/Place/Placement.h"
#include <algorithm>
#include <numeric>

namespace sprig::place {
namespace {

// About a fifth of a second.
constexpr int64_t kMostVisits = 10'000'000;
// A copy that nobody waits for still takes memory traffic: of two that end alike, the one with less of it.
constexpr double kCopyWeight = 0.05;
// Less than the model can tell.
constexpr double kWorthwhile = 0.98;

constexpr unsigned kNone = PlacementProblem::kNone;

} // namespace

std::vector<unsigned> Placer::onFirst() const {
  std::vector<unsigned> devices;
  for (const auto &unit : problem.units) devices.push_back(unit.pin.value_or(0));
  return devices;
}

std::vector<unsigned> Placer::homes(const std::vector<unsigned> &deviceOfUnit) const {
  std::vector<unsigned> result(problem.params.size(), kNone);
  for (size_t i = 0; i < result.size(); ++i) {
    const auto &param = problem.params[i];
    unsigned producer = param.newValue == kNone ? kNone : problem.values[param.newValue].operation;
    if (param.home)
      result[i] = *param.home;
    else if (producer != kNone)
      result[i] = deviceOfUnit[problem.operations[producer].unit];
  }
  for (const auto &operation : problem.operations)
    for (unsigned value : operation.reads)
      if (unsigned param = problem.values[value].param; param != kNone && result[param] == kNone)
        result[param] = deviceOfUnit[operation.unit];
  for (unsigned &home : result)
    if (home == kNone) home = 0;
  return result;
}

PlayedCall Placer::play(const std::vector<unsigned> &deviceOfUnit) const {
  const std::vector<unsigned> home = homes(deviceOfUnit);
  auto deviceOf = [&](const PlacementProblem::Value &value) {
    return value.operation == kNone ? home[value.param] : deviceOfUnit[problem.operations[value.operation].unit];
  };
  std::vector<uint64_t> neededOn(problem.values.size(), 0);
  for (const auto &operation : problem.operations)
    for (unsigned value : operation.reads) neededOn[value] |= uint64_t(1) << deviceOfUnit[operation.unit];

  PlayedCall call;
  std::vector<double> free(problem.devices, 0);
  // When a value is on the devices that do not compute it; by value and device.
  std::vector<double> arrival(problem.values.size() * problem.devices, 0);
  std::vector<double> linkFree(size_t(problem.devices) * problem.devices, 0);
  auto copy = [&](unsigned index, unsigned from, unsigned to) {
    double seconds = problem.copySeconds(from, to, problem.values[index].bytes),
           &link = linkFree[from * problem.devices + to];
    if (problem.linkBetween(from, to))
      link = std::max(link, free[from] + problem.handOff) + seconds;
    else
      link = free[from] += seconds;
    arrival[index * problem.devices + to] = link + problem.handOff;
    call.copySeconds += seconds;
    call.copiedBytes += problem.values[index].bytes;
    ++call.copies;
  };
  auto copyToReaders = [&](unsigned index) {
    unsigned from = deviceOf(problem.values[index]);
    uint64_t others = neededOn[index] & ~(uint64_t(1) << from);
    for (unsigned to = 0; others; ++to, others >>= 1)
      if (others & 1) copy(index, from, to);
  };
  for (unsigned i = 0; i < problem.values.size(); ++i)
    if (problem.values[i].operation == kNone) copyToReaders(i);
  for (const auto &operation : problem.operations) {
    unsigned device = deviceOfUnit[operation.unit];
    double start = free[device];
    for (unsigned value : operation.reads)
      if (deviceOf(problem.values[value]) != device) start = std::max(start, arrival[value * problem.devices + device]);
    const auto &unit = problem.units[operation.unit];
    free[device] = start + unit.seconds[device] / unit.operations;
    for (unsigned value : operation.gives) copyToReaders(value);
  }
  for (size_t i = 0; i < problem.params.size(); ++i) {
    unsigned value = problem.params[i].newValue;
    if (value == kNone) continue;
    unsigned from = deviceOf(problem.values[value]);
    if (from == home[i]) continue;
    if (!problem.linkBetween(from, home[i])) free[from] = std::max(free[from], free[home[i]] + problem.handOff);
    copy(value, from, home[i]);
  }
  call.seconds =
      std::max(*std::max_element(free.begin(), free.end()), *std::max_element(linkFree.begin(), linkFree.end()));
  return call;
}

double Placer::score(const std::vector<unsigned> &deviceOfUnit) {
  visits += int64_t(problem.operations.size());
  PlayedCall call = play(deviceOfUnit);
  return call.seconds + kCopyWeight * call.copySeconds;
}

// In the program's order, each unit where it ends first, seen from its first operation.
std::vector<unsigned> Placer::earliestFinish() const {
  std::vector<unsigned> devices(problem.units.size(), kNone);
  std::vector<double> free(problem.devices, 0), end(problem.values.size(), 0);
  for (const auto &operation : problem.operations) {
    const auto &unit = problem.units[operation.unit];
    unsigned &chosen = devices[operation.unit];
    auto startOn = [&](unsigned device) {
      double start = free[device];
      for (unsigned index : operation.reads) {
        const auto &value = problem.values[index];
        unsigned from = value.operation == kNone ? device : devices[problem.operations[value.operation].unit];
        double copied = from == device ? 0 : problem.copySeconds(from, device, value.bytes) + problem.handOff;
        start = std::max(start, end[index] + copied);
      }
      return start;
    };
    if (chosen == kNone) {
      chosen = unit.pin.value_or(0);
      if (!unit.pin)
        for (unsigned device = 1; device < problem.devices; ++device)
          if (startOn(device) + unit.seconds[device] < startOn(chosen) + unit.seconds[chosen]) chosen = device;
    }
    free[chosen] = startOn(chosen) + unit.seconds[chosen] / unit.operations;
    for (unsigned value : operation.gives) end[value] = free[chosen];
  }
  for (unsigned &device : devices)
    if (device == kNone) device = 0; // of no operation
  return devices;
}

// Units of one device that nobody pinned and that hang together.
std::vector<std::vector<unsigned>> Placer::islands(const std::vector<unsigned> &deviceOfUnit) const {
  std::vector<unsigned> leader(problem.units.size());
  std::iota(leader.begin(), leader.end(), 0u);
  auto find = [&](unsigned unit) {
    while (leader[unit] != unit) unit = leader[unit] = leader[leader[unit]];
    return unit;
  };
  for (const auto &operation : problem.operations)
    for (unsigned index : operation.reads) {
      unsigned producer = problem.values[index].operation;
      if (producer == kNone) continue;
      unsigned from = problem.operations[producer].unit, to = operation.unit;
      if (deviceOfUnit[from] == deviceOfUnit[to] && !problem.units[from].pin && !problem.units[to].pin)
        leader[find(from)] = find(to);
    }
  std::vector<std::vector<unsigned>> all(problem.units.size());
  for (unsigned unit = 0; unit < all.size(); ++unit)
    if (!problem.units[unit].pin) all[find(unit)].push_back(unit);
  std::erase_if(all, [](const auto &island) { return island.empty(); });
  return all;
}

bool Placer::tryMove(std::vector<unsigned> &deviceOfUnit, const std::vector<unsigned> &units, double &best) {
  unsigned from = deviceOfUnit[units.front()], chosen = from;
  auto move = [&](unsigned device) {
    for (unsigned unit : units) deviceOfUnit[unit] = device;
  };
  for (unsigned device = 0; device < problem.devices && visits < kMostVisits; ++device) {
    if (device == from) continue;
    move(device);
    if (double seconds = score(deviceOfUnit); seconds < best * (1 - 1e-9)) {
      best = seconds;
      chosen = device;
    }
  }
  move(chosen);
  return chosen != from;
}

bool Placer::improve(std::vector<unsigned> &deviceOfUnit, double &best) {
  bool improved = false;
  for (const std::vector<unsigned> &island : islands(deviceOfUnit)) improved |= tryMove(deviceOfUnit, island, best);
  // One by one where a copy begins or ends.
  std::vector<bool> atBorder(problem.units.size(), false);
  for (const auto &operation : problem.operations)
    for (unsigned index : operation.reads) {
      unsigned producer = problem.values[index].operation;
      if (producer == kNone) continue;
      unsigned from = problem.operations[producer].unit, to = operation.unit;
      if (deviceOfUnit[from] != deviceOfUnit[to]) atBorder[from] = atBorder[to] = true;
    }
  for (unsigned unit = 0; unit < atBorder.size(); ++unit)
    if (atBorder[unit] && !problem.units[unit].pin) improved |= tryMove(deviceOfUnit, {unit}, best);
  return improved;
}

std::vector<unsigned> Placer::choose() {
  std::vector<unsigned> first = onFirst(), found = earliestFinish();
  double scoreOfFirst = score(first), best = score(found);
  if (scoreOfFirst < best) {
    found = first;
    best = scoreOfFirst;
  }
  while (visits < kMostVisits && improve(found, best)) {
  }
  bool better = best < kWorthwhile * scoreOfFirst && play(found).seconds <= play(first).seconds;
  return better ? found : first;
}

} // namespace sprig::place
