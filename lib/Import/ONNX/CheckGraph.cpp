// Structure of graphs and functions: every name is defined once, before it is read, and nothing refers to itself.
#include "lib/Import/ONNX/Model.h"
#include "lib/Import/ONNX/Reads.h"
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace sprig::onnximport {

namespace {

/// The names that a graph sees: its own and those of the graphs around it.
struct Names {
  const Names *outer;
  std::unordered_set<std::string> own;
  bool contains(const std::string &name) const {
    for (const Names *names = this; names; names = names->outer)
      if (names->own.count(name)) return true;
    return false;
  }
};

class Checker {
public:
  Checker(const Model &model, std::string where) : model(model), where(std::move(where)) {}

  void nodes(const Nodes &nodes, Names &names) {
    std::unordered_map<std::string, int> maker;
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string &output : nodes[i].output())
        if (!output.empty()) define(nodes, i, output, names, maker);
    for (int i = 0; i < nodes.size(); ++i) {
      forEachRead(nodes[i], [&](const std::string &name) {
        if (names.contains(name)) return;
        auto made = maker.find(name);
        if (made == maker.end())
          fail(nodes[i], i,
               "reads '" + name + "', which nothing makes: it is no input, no initializer and no output of a node");
        cycle(nodes, i, names, maker); // nodes that have an order stand in it
      });
      for (const auto &attribute : nodes[i].attribute()) {
        if (attribute.has_g()) inner(nodes[i], i, attribute.g(), names);
        for (const auto &graph : attribute.graphs()) inner(nodes[i], i, graph, names);
      }
      for (const std::string &output : nodes[i].output()) names.own.insert(output);
    }
  }

  void graph(const onnx::GraphProto &graph, Names &names) {
    // Files and states are called after these, and whoever reads a name up to its end would take it for another.
    auto checkName = [&](const char *what, const std::string &name) {
      if (size_t at = name.find('\0'); at != std::string::npos)
        model.fail(ErrorKind::badInput,
                   where + "the name of " + what + " has a NUL after '" + name.substr(0, at) + "'");
    };
    for (const auto &input : graph.input()) {
      checkName("an input", input.name());
      if (input.name().empty()) model.fail(ErrorKind::badInput, where + "an input has no name");
      if (!names.own.insert(input.name()).second)
        model.fail(ErrorKind::badInput, where + "two inputs have the name '" + input.name() + "'");
    }
    std::unordered_set<std::string> initializers;
    auto initializer = [&](const std::string &name) {
      if (name.empty()) model.fail(ErrorKind::badInput, where + "an initializer has no name");
      checkName("an initializer", name);
      if (!initializers.insert(name).second)
        model.fail(ErrorKind::badInput, where + "two initializers have the name '" + name + "'");
      names.own.insert(name);
    };
    for (const auto &tensor : graph.initializer()) initializer(tensor.name());
    for (const auto &tensor : graph.sparse_initializer()) initializer(tensor.values().name());
    nodes(graph.node(), names);
    std::unordered_set<std::string> outputs;
    for (const auto &output : graph.output()) {
      checkName("an output", output.name());
      if (!names.contains(output.name()))
        model.fail(ErrorKind::badInput, where + "output '" + output.name() + "' is made by nothing");
      if (!outputs.insert(output.name()).second && where.empty())
        model.fail(ErrorKind::badInput, "two outputs have the name '" + output.name() + "'");
    }
  }

private:
  [[noreturn]] void fail(const onnx::NodeProto &node, int index, const std::string &text) {
    badInput(model.file + ":" + where + nodeLabel(node, index) + ": " + text);
  }

  void define(const Nodes &nodes, int index, const std::string &output, const Names &names,
              std::unordered_map<std::string, int> &maker) {
    auto [made, isNew] = maker.emplace(output, index);
    if (!isNew)
      fail(nodes[index], index,
           "makes '" + output + "', which " + nodeLabel(nodes[made->second], made->second) + " makes already");
    if (names.own.count(output))
      fail(nodes[index], index, "makes '" + output + "', which is an input or initializer of the graph already");
  }

  void inner(const onnx::NodeProto &node, int index, const onnx::GraphProto &graph, Names &outer) {
    Names names{&outer, {}};
    Checker(model, where + nodeLabel(node, index) + ": ").graph(graph, names);
  }

  /// Node `reader` reads what is not made yet.
  [[noreturn]] void cycle(const Nodes &nodes, int reader, const Names &names,
                          const std::unordered_map<std::string, int> &maker) {
    std::unordered_set<int> seen;
    for (int node = reader;;) {
      std::string name;
      forEachRead(nodes[node], [&](const std::string &read) {
        if (name.empty() && !names.contains(read) && maker.count(read)) name = read;
      });
      // Names that this graph and one around it make stand for the outer ones, but nodes were ordered by the inner
      // ones.
      if (name.empty())
        fail(nodes[reader], reader, "reads what is made only later, behind names that a graph around it has, too");
      int next = maker.at(name);
      // The second time around it is known to lie on the cycle.
      if (!seen.insert(node).second)
        fail(nodes[node], node,
             "reads '" + name + "', which " + nodeLabel(nodes[next], next) +
                 " makes of this node's own result: a cycle");
      node = next;
    }
  }

  const Model &model;
  std::string where;
};

} // namespace

void checkGraph(const Model &model, const onnx::GraphProto &graph) {
  Names names{nullptr, {}};
  Checker(model, "").graph(graph, names);
}

namespace {
using Key = std::pair<std::string, std::string>; // domain, name

/// More are refused before anything is imported; the import's own limit counts what really runs.
constexpr int64_t kMostNodes = 1'000'000;

/// Depth-first over the calls between functions; finds one that leads back to itself.
class Recursion {
public:
  Recursion(const Model &model, const std::map<Key, const onnx::FunctionProto *> &functions)
      : model(model), functions(functions) {}

  /// Nodes of the function when all its calls are inlined.
  int64_t visit(const Key &key) {
    if (auto known = done.find(key); known != done.end()) return known->second;
    for (size_t i = 0; i < path.size(); ++i)
      if (path[i] == key) {
        std::string text = "function '" + key.second + "' (" + key.first + ") calls itself: a recursion, ";
        for (size_t k = i; k < path.size(); ++k) text += path[k].second + " -> ";
        model.fail(ErrorKind::badInput, text + key.second);
      }
    if (path.size() >= 256)
      model.fail(ErrorKind::unsupported, "function '" + path[0].second + "' nests more than 256 calls of functions");
    path.push_back(key);
    int64_t size = calls(functions.at(key)->node());
    path.pop_back();
    return done[key] = size;
  }

  int64_t calls(const Nodes &nodes) {
    constexpr int64_t kMost = int64_t(1) << 40; // sums stay far from overflow
    int64_t size = nodes.size();
    for (const auto &node : nodes) {
      Key callee{normalizeDomain(node.domain()), node.op_type()};
      if (functions.count(callee)) size = std::min(kMost, size + visit(callee));
      for (const auto &attribute : node.attribute()) {
        if (attribute.has_g()) size = std::min(kMost, size + calls(attribute.g().node()));
        for (const auto &graph : attribute.graphs()) size = std::min(kMost, size + calls(graph.node()));
      }
    }
    return size;
  }

private:
  const Model &model;
  const std::map<Key, const onnx::FunctionProto *> &functions;
  std::vector<Key> path;
  std::map<Key, int64_t> done;
};
} // namespace

void checkFunctions(const Model &model) {
  std::map<Key, const onnx::FunctionProto *> functions;
  std::set<std::array<std::string, 3>> unique;
  for (const auto &function : model.proto.functions()) {
    std::string shown = "function '" + function.name() + "' (" + function.domain() + ")";
    if (function.name().empty()) model.fail(ErrorKind::badInput, "a function has no name");
    std::string domain = normalizeDomain(function.domain());
    if (!unique.insert({domain, function.name(), function.overload()}).second)
      model.fail(ErrorKind::badInput, shown + " is defined twice");
    functions.emplace(Key{domain, function.name()}, &function);
    Names names{nullptr, {}};
    for (const std::string &input : function.input())
      if (!names.own.insert(input).second) model.fail(ErrorKind::badInput, shown + " has two inputs '" + input + "'");
    Checker(model, shown + ": ").nodes(function.node(), names);
    for (const std::string &output : function.output())
      if (!names.contains(output))
        model.fail(ErrorKind::badInput, shown + ": output '" + output + "' is made by nothing");
  }
  Recursion recursion(model, functions);
  for (const auto &entry : functions) recursion.visit(entry.first);
  int64_t all = recursion.calls(model.proto.graph().node());
  if (all > kMostNodes)
    model.fail(ErrorKind::unsupported, "has " + std::to_string(all) +
                                           " nodes or more with its functions inlined; the limit is " +
                                           std::to_string(kMostNodes));
}

} // namespace sprig::onnximport
