#include "lib/Frontend/Engine/Hash.h"
#include <bit>
#include <string_view>

namespace sprig::frontend {

static uint64_t hashText(const char *text) { return std::hash<std::string_view>()(text); }

void Hash::mix(const Attr &attr) {
  mix(hashText(attr.name) ^ uint64_t(attr.kind));
  switch (attr.kind) {
  case Attr::Kind::unit: return;
  case Attr::Kind::boolean:
  case Attr::Kind::integer: return mix(uint64_t(attr.integer));
  case Attr::Kind::real: return mix(std::bit_cast<uint64_t>(attr.real));
  case Attr::Kind::integers:
    mix(attr.integers.size());
    for (int64_t n : attr.integers) mix(uint64_t(n));
    return;
  case Attr::Kind::word:
  case Attr::Kind::other: return mix(hashText(attr.text));
  }
}

void Hash::mix(const GraphNode &node) {
  mix(node.op->hash);
  for (const Attr &attr : node.attrs) mix(attr);
  for (const auto &region : node.regions) mix(*region);
  if (node.constant) mix(std::hash<std::string_view>()({node.constant->data(), node.constant->size()}));
}

void Hash::mix(const Graph &graph) {
  mix(graph.inputCount);
  for (const TensorType &type : graph.types) mix(type);
  for (const GraphNode &node : graph.nodes) {
    mix(node);
    for (uint32_t operand : node.operands) mix(operand);
  }
  for (uint32_t output : graph.outputs) mix(output);
}

Hash hashOf(const GraphNode &node, std::span<const TensorType *const> operands) {
  Hash hash;
  hash.mix(node);
  for (const TensorType *type : operands) hash.mix(*type);
  return hash;
}

} // namespace sprig::frontend
