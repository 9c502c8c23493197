// How much of each batch ranks have, one against another: what --shares says, or what their speeds are.
// For commands that train, and simulate.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sprig::cli {

/// "2,1" of so many ranks; none where all are the same, which are even shares. Throws usage errors.
std::vector<int64_t> parseWeights(const std::string &text, int ranks);

/// Proportional to speeds, the quickest's 16, by their greatest divisor; none where all are within an eighth, which
/// measuring does not tell apart.
std::vector<int64_t> weightsOf(std::span<const double> speeds);

/// Threads of each rank of one process, of so many together: as its share is, one at least; of even shares as many
/// each.
std::vector<int> threadsByShares(int threads, const std::vector<int64_t> &weights, int ranks);

/// "2,1"; of none "1,1".
std::string textOf(const std::vector<int64_t> &weights, int ranks);

/// "a batch of 6 is 4 and 2 samples", of each rank.
std::string sharesText(int64_t samples, const std::vector<int64_t> &weights, int ranks);

} // namespace sprig::cli
