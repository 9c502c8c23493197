// How many bytes copies between devices hold while they are on their way: their source must stay and their target is
// taken, though nobody computes with either.
// For sprig profile (recorded copies) and sprig simulate (played ones).
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

namespace sprig::cli {

struct Flight {
  double begin = 0, end = 0; ///< ns
  double bytes = 0;
};

/// The most bytes that are on their way at once; what ends at a moment makes room for what begins then.
inline double mostInFlight(const std::vector<Flight> &flights) {
  std::vector<std::pair<double, double>> changes; // when, by how many bytes
  for (const Flight &flight : flights) {
    if (!(flight.end > flight.begin)) continue;
    changes.emplace_back(flight.begin, flight.bytes);
    changes.emplace_back(flight.end, -flight.bytes);
  }
  std::sort(changes.begin(), changes.end());
  double now = 0, most = 0;
  for (auto &[ns, bytes] : changes) most = std::max(most, now += bytes);
  return most;
}

} // namespace sprig::cli
