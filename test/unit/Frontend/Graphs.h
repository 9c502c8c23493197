// Recorded graphs written by hand, and plans run on plain vectors, for tests of the bridge.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "sprig/error.h"
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace sprig::frontend::test {

using Floats = std::vector<float>;

/// 64-byte aligned bytes that start with these.
class Memory {
public:
  explicit Memory(size_t bytes) : count(bytes), block(::operator new(bytes + 64, std::align_val_t(64))) {
    std::memset(block.get(), 0, bytes + 64);
  }
  template <typename T> explicit Memory(const std::vector<T> &values) : Memory(values.size() * sizeof(T)) {
    std::memcpy(block.get(), values.data(), count);
  }
  void *data() const { return block.get(); }
  template <typename T> std::vector<T> as() const {
    std::vector<T> values(count / sizeof(T));
    std::memcpy(values.data(), block.get(), values.size() * sizeof(T));
    return values;
  }

private:
  struct Release {
    void operator()(void *pointer) const { ::operator delete(pointer, std::align_val_t(64)); }
  };
  size_t count;
  std::unique_ptr<void, Release> block;
};

class Builder {
public:
  /// All inputs come before the first operation.
  uint32_t input(TensorType type) {
    graph.types.push_back(std::move(type));
    ++graph.inputCount;
    return uint32_t(graph.types.size() - 1);
  }
  std::vector<uint32_t> ops(const std::string &name, std::vector<uint32_t> operands, std::vector<TensorType> results,
                            AttrList attrs = {}, std::vector<Graph> regions = {}) {
    GraphNode node;
    node.op = &opName("nn." + name);
    node.attrs = std::move(attrs);
    node.operands = std::move(operands);
    node.firstResult = uint32_t(graph.types.size());
    node.resultCount = uint32_t(results.size());
    node.source = {"/home/user/train.cpp", ++line};
    node.layer = layer;
    for (Graph &region : regions) node.regions.push_back(std::make_shared<Graph>(std::move(region)));
    std::vector<uint32_t> values;
    for (TensorType &type : results) {
      values.push_back(uint32_t(graph.types.size()));
      graph.types.push_back(std::move(type));
    }
    graph.nodes.push_back(std::move(node));
    return values;
  }
  uint32_t op(const std::string &name, std::vector<uint32_t> operands, TensorType result, AttrList attrs = {},
              std::vector<Graph> regions = {}) {
    return ops(name, std::move(operands), {std::move(result)}, std::move(attrs), std::move(regions))[0];
  }
  template <typename T> uint32_t constant(TensorType type, std::vector<T> values) {
    const char *bytes = reinterpret_cast<const char *>(values.data());
    uint32_t result = op("constant", {}, std::move(type));
    graph.nodes.back().constant = std::make_shared<std::vector<char>>(bytes, bytes + values.size() * sizeof(T));
    return result;
  }
  Graph give(std::vector<uint32_t> outputs) {
    graph.outputs = std::move(outputs);
    return graph;
  }

  Graph graph;
  int line = 0;
  const std::string *layer = nullptr;
};

inline TensorType f32(Shape shape) { return {DType::f32, shape}; }
inline TensorType f64(Shape shape) { return {DType::f64, shape}; }
inline TensorType i64(Shape shape) { return {DType::i64, shape}; }

inline CompileOptions quick() {
  CompileOptions options;
  options.threads = options.compileThreads = 1;
  options.math = MathMode::strict;
  return options;
}

/// Runs a graph without state on inputs of one type; every output must be of that type, too.
template <typename T> std::vector<std::vector<T>> run(const Graph &graph, const std::vector<std::vector<T>> &inputs) {
  auto plan = compilePlan(graph, {}, quick(), "test");
  std::vector<Memory> in, out;
  for (const std::vector<T> &values : inputs) in.emplace_back(values);
  for (uint32_t output : graph.outputs) out.emplace_back(size_t(graph.types[output].bytes()));
  std::vector<void *> inPointers, outPointers;
  for (Memory &memory : in) inPointers.push_back(memory.data());
  for (Memory &memory : out) outPointers.push_back(memory.data());
  plan->run(inPointers, outPointers, {});
  std::vector<std::vector<T>> results;
  for (Memory &memory : out) results.push_back(memory.template as<T>());
  return results;
}

/// The text of the sprig::Error that `body` throws.
template <typename Body> std::string errorOf(Body body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace sprig::frontend::test
