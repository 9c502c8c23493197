#include "lib/Frontend/Engine/RunNode.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Generic.h"
#include <unordered_map>

namespace sprig::frontend {

namespace {

/// How operations of one kind and one set of types are computed where no generic kernel does it.
struct Recipe {
  std::shared_ptr<const Graph> parts; ///< a composite's primitives
  std::unique_ptr<Plan> plan;         ///< else
};

struct Array {
  std::shared_ptr<Storage> storage;
  const TensorType *type;
  ArrayRef ref() const { return {storage->data, type}; }
};

/// Used by one thread at a time: the one that holds the engine's turn.
std::unordered_map<Hash, Recipe> &recipes() {
  static auto &table = *new std::unordered_map<Hash, Recipe>;
  return table;
}
/// Plans of single operations hold memory; a program with ever new shapes must not pile them up.
constexpr size_t kMostRecipes = 4096;

bool isConstant(const GraphNode &node) {
  static const OpName &constant = opName("nn.constant");
  return node.op == &constant && node.constant;
}

void fillConstant(const GraphNode &node, const Array &result) {
  auto *out = static_cast<char *>(result.storage->data);
  int64_t bytes = result.type->bytes(), given = int64_t(node.constant->size());
  if (given <= 0) return;
  for (int64_t at = 0; at < bytes; at += given)
    std::memcpy(out + at, node.constant->data(), size_t(std::min(given, bytes - at)));
}

Graph graphOf(const GraphNode &node, std::span<const Array> operands, std::span<const Array> results) {
  Graph graph;
  GraphNode copy = node;
  copy.operands.clear();
  for (const Array &operand : operands) {
    copy.operands.push_back(uint32_t(graph.types.size()));
    graph.types.push_back(*operand.type);
  }
  graph.inputCount = copy.firstResult = uint32_t(graph.types.size());
  copy.resultCount = uint32_t(results.size());
  for (const Array &result : results) {
    graph.outputs.push_back(uint32_t(graph.types.size()));
    graph.types.push_back(*result.type);
  }
  graph.nodes.push_back(std::move(copy));
  return graph;
}

void compute(const GraphNode &node, std::span<const Array> operands, std::span<const Array> results);

void computeParts(const Graph &parts, std::span<const Array> operands, std::span<const Array> results) {
  std::vector<Array> values(operands.begin(), operands.end());
  for (size_t i = parts.inputCount; i < parts.types.size(); ++i) values.push_back({nullptr, &parts.types[i]});
  for (uint32_t i = 0; i < parts.outputs.size(); ++i)
    if (parts.outputs[i] >= parts.inputCount && !values[parts.outputs[i]].storage)
      values[parts.outputs[i]].storage = results[i].storage;
  for (const GraphNode &node : parts.nodes) {
    std::vector<Array> in, out;
    for (uint32_t operand : node.operands) in.push_back(values[operand]);
    for (uint32_t r = 0; r < node.resultCount; ++r) {
      Array &value = values[node.firstResult + r];
      if (!value.storage) value.storage = Storage::allocate(value.type->bytes());
      out.push_back(value);
    }
    compute(node, in, out);
  }
  // An input that is an output, and one value that is two outputs.
  for (uint32_t i = 0; i < parts.outputs.size(); ++i)
    if (values[parts.outputs[i]].storage != results[i].storage)
      std::memcpy(results[i].storage->data, values[parts.outputs[i]].storage->data, size_t(results[i].type->bytes()));
}

void compute(const GraphNode &node, std::span<const Array> operands, std::span<const Array> results) {
  if (isConstant(node)) return fillConstant(node, results[0]);
  ArrayRef in[8], out[4];
  if (operands.size() <= 8 && results.size() <= 4) {
    for (size_t i = 0; i < operands.size(); ++i) in[i] = operands[i].ref();
    for (size_t i = 0; i < results.size(); ++i) out[i] = results[i].ref();
    if (runGeneric(node, {in, operands.size()}, {out, results.size()})) return;
  }
  std::vector<const TensorType *> types;
  for (const Array &operand : operands) types.push_back(operand.type);
  for (const Array &result : results) types.push_back(result.type);
  Hash key = hashOf(node, types);
  if (recipes().size() >= kMostRecipes && !recipes().contains(key)) recipes().clear();
  Recipe &recipe = recipes()[key];
  if (!recipe.parts && !recipe.plan) {
    std::vector<TensorType> inTypes, outTypes;
    for (const Array &operand : operands) inTypes.push_back(*operand.type);
    for (const Array &result : results) outTypes.push_back(*result.type);
    recipe.parts = decompose(node, inTypes, outTypes);
    if (!recipe.parts) {
      CompileOptions options = segmentOptions();
      recipe.plan = compilePlan(graphOf(node, operands, results), {}, options, node.op->text);
    }
  }
  // Copied: parts that are computed below may clear the table.
  if (std::shared_ptr<const Graph> parts = recipe.parts) return computeParts(*parts, operands, results);
  std::vector<void *> inputs, outputs;
  for (const Array &operand : operands) inputs.push_back(operand.storage->data);
  for (const Array &result : results) outputs.push_back(result.storage->data);
  recipe.plan->run(inputs, outputs, {});
}

/// The common case without any bookkeeping. False: nothing has happened.
bool runAtOnce(const Node &node, std::span<Value *const> results) {
  if (isConstant(node.description) || node.operands.size() > 8 || results.size() > 4) return false;
  ArrayRef in[8], out[4];
  for (size_t i = 0; i < node.operands.size(); ++i) in[i] = {node.operands[i]->storage->data, &node.operands[i]->type};
  for (size_t i = 0; i < results.size(); ++i) out[i] = {results[i]->storage->data, &results[i]->type};
  return runGeneric(node.description, {in, node.operands.size()}, {out, results.size()});
}

/// With the line and the layer of the operation.
Failure explain(const GraphNode &node, const Error &error) {
  std::string text = error.what();
  std::string where;
  if (node.source.line) where = std::string(node.source.file) + ":" + std::to_string(node.source.line) + ": ";
  if (!where.empty() && text.starts_with(where)) return std::make_shared<Error>(error);
  std::string op = node.op->text.starts_with("nn.") ? node.op->text.substr(3) : node.op->text;
  if (node.layer) op += " (layer '" + *node.layer + "')";
  return std::make_shared<Error>(error.kind(), where + op + ": " + text);
}

} // namespace

void runNode(const Node &node, std::span<Value *const> results) {
  Failure failure;
  for (const Value *operand : node.operands)
    if (operand->failure) failure = operand->failure;
  if (!failure) try {
      for (Value *result : results) result->storage = Storage::allocate(result->type.bytes());
      if (runAtOnce(node, results)) return;
      std::vector<Array> in, out;
      for (const Value *operand : node.operands) in.push_back({operand->storage, &operand->type});
      for (Value *result : results) out.push_back({result->storage, &result->type});
      compute(node.description, in, out);
    } catch (const Error &error) {
      failure = explain(node.description, error);
    } catch (const std::exception &error) {
      failure = explain(node.description, Error(ErrorKind::internal, error.what()));
    }
  if (failure)
    for (Value *result : results) {
      result->failure = failure;
      result->storage.reset();
    }
}

} // namespace sprig::frontend
