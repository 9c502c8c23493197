// The ways between devices of a topology as links of their own, one for each pair, in the notation of --link
// (sprig/rt/links.hpp): for runs, which pace each pair for itself, and for placement, which weighs each for itself.
#pragma once
#include "lib/Machine/Topology.h"
#include <span>

namespace sprig::machine {

/// A place of copies: a node, and what links call it.
struct LinkEnd {
  uint32_t node;
  std::string name;
};

/// Pairs that have a link of another kind, which counts instead, and are left out.
using GivenPairs = std::vector<std::pair<std::string, std::string>>;

/// The same times as in the topology, whatever copies go on at once. Throws unsupported, and says what: ways that share
/// a link, that depend on the number of bytes, that have bursts, or that are half duplex in a part; badInput where none
/// leads from one to another. Messages begin with `what`.
std::vector<std::string> exactLinks(const Topology &topology, std::span<const LinkEnd> ends, const GivenPairs &given,
                                    const std::string &what);
/// Each pair as if it had its way for itself, that of a megabyte; none where there is no way.
std::vector<std::string> linksAlone(const Topology &topology, std::span<const LinkEnd> ends);

} // namespace sprig::machine
