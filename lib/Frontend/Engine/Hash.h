// 128-bit structural hashes of recorded operations: equal for equal structures, in this process.
// For the caches of the engine, which take equal hashes for equal structures.
#pragma once
#include "lib/Frontend/Graph.h"
#include <functional>

namespace sprig::frontend {

struct Hash {
  uint64_t a = 0x9e3779b97f4a7c15, b = 0xc2b2ae3d27d4eb4f;

  void mix(uint64_t word) {
    a = (a ^ word) * 0xff51afd7ed558ccd;
    a ^= a >> 32;
    b = (b + word) * 0x9fb21c651e98df25;
    b ^= b >> 29;
  }
  void mix(const TensorType &type) {
    mix(uint64_t(type.dtype) | uint64_t(type.shape.rank()) << 8);
    for (int64_t n : type.shape) mix(uint64_t(n));
  }
  void mix(const Attr &attr);
  /// A node's name, attributes, regions and constant.
  void mix(const GraphNode &node);
  /// All of a graph but its sources and layers.
  void mix(const Graph &graph);

  friend bool operator==(const Hash &, const Hash &) = default;
};

/// What decides how one operation is computed: its name, attributes, regions and operands' types.
Hash hashOf(const GraphNode &node, std::span<const TensorType *const> operands);

} // namespace sprig::frontend

template <> struct std::hash<sprig::frontend::Hash> {
  size_t operator()(const sprig::frontend::Hash &hash) const { return size_t(hash.a); }
};
