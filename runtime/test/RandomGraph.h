// Random graphs over lanes, and what they compute for an input.
#ifndef SPRIG_RUNTIME_TEST_RANDOMGRAPH_H
#define SPRIG_RUNTIME_TEST_RANDOMGRAPH_H

#include "runtime/test/TestPackage.h"

#include <random>

namespace sprig::rt::test {

inline constexpr int64_t kWidth = 96;

// Of "mix" commands.
struct RandomGraph {
  TestPackage package;
  struct Node {
    int left, right; // earlier nodes; -1: the input
    uint32_t lane;
  };
  std::vector<Node> nodes;

  RandomGraph(uint32_t seed, uint32_t lanes, int count) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % uint32_t(n)); };
    for (int i = 0; i < count; ++i) nodes.push_back({below(i + 1) - 1, below(i + 1) - 1, uint32_t(below(int(lanes)))});
    EntryBuilder entry("graph");
    std::vector<uint32_t> buffers;
    uint32_t input = entry.input("x", {kWidth}), output = entry.output("y", {kWidth});
    for (int i = 0; i < count; ++i) buffers.push_back(i == count - 1 ? output : entry.arena(kWidth * 4));
    entry.entry.lanes.resize(lanes);
    // An event for each node that another lane needs; waited for once per lane.
    std::vector<int> eventOf(size_t(count), -1);
    std::vector<std::vector<bool>> waited(lanes, std::vector<bool>(size_t(count), false));
    for (int i = 0; i < count; ++i)
      for (int from : {nodes[i].left, nodes[i].right})
        if (from >= 0 && nodes[from].lane != nodes[i].lane && eventOf[from] < 0) eventOf[from] = int(entry.event());
    for (int i = 0; i < count; ++i) {
      const Node &node = nodes[i];
      for (int from : {node.left, node.right})
        if (from >= 0 && nodes[from].lane != node.lane && !waited[node.lane][from]) {
          entry.wait(node.lane, uint32_t(eventOf[from]));
          waited[node.lane][from] = true;
        }
      auto operand = [&](int from) { return from < 0 ? input : buffers[from]; };
      int64_t grain = random() % 2 ? 8 : kWidth;
      entry.dispatch(node.lane, Mix, {operand(node.left), operand(node.right), buffers[i]}, kWidth, grain);
      if (eventOf[i] >= 0) entry.record(node.lane, uint32_t(eventOf[i]));
    }
    package.program.entries.push_back(entry.entry);
  }

  std::vector<uint32_t> expected(Words &input) const {
    std::vector<std::vector<uint32_t>> values;
    for (const Node &node : nodes) {
      std::vector<uint32_t> value(kWidth);
      auto at = [&](int from, size_t i) { return from < 0 ? input[i] : values[size_t(from)][i]; };
      for (size_t i = 0; i < value.size(); ++i) value[i] = 31 * at(node.left, i) + at(node.right, i) + 7;
      values.push_back(std::move(value));
    }
    return values.back();
  }
};

} // namespace sprig::rt::test

#endif
