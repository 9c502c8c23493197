#include "lib/Frontend/Engine/RunNode.h"
#include "lib/Frontend/Base/DevicesUsed.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Generic.h"
#include "lib/Frontend/Record.h"
#include <unordered_map>

namespace sprig::frontend {

namespace {

/// How operations of one kind and one set of types are computed where no generic kernel does it.
struct Recipe {
  std::shared_ptr<const Graph> parts; ///< a composite's primitives
  std::unique_ptr<Plan> plan;         ///< else
};

using Recipes = std::unordered_map<Hash, Recipe>;

/// A table is used by one thread at a time: the one that has the turn of the device's lane.
Recipes &recipesOf(DeviceId device) {
  static auto *const tables = new Recipes[kMostOpenDevices];
  return tables[device];
}
/// Plans of single operations hold memory; a program with ever new shapes must not pile them up.
constexpr size_t kMostRecipes = 4096;

bool isConstantNode(const GraphNode &node) {
  static const OpName &constant = opName("nn.constant");
  return node.op == &constant && node.constant;
}

void fillConstant(const GraphNode &node, const ArrayRef &result) {
  auto *out = static_cast<char *>(result.data);
  int64_t bytes = result.type->bytes(), given = int64_t(node.constant->size());
  if (given <= 0) return;
  for (int64_t at = 0; at < bytes; at += given)
    std::memcpy(out + at, node.constant->data(), size_t(std::min(given, bytes - at)));
}

void computeParts(const Graph &parts, std::span<const ArrayRef> operands, std::span<const ArrayRef> results,
                  DeviceId device) {
  std::vector<ArrayRef> values(operands.begin(), operands.end());
  for (size_t i = parts.inputCount; i < parts.types.size(); ++i) values.push_back({nullptr, &parts.types[i]});
  for (uint32_t i = 0; i < parts.outputs.size(); ++i)
    if (ArrayRef &value = values[parts.outputs[i]]; !value.data) value.data = results[i].data;
  // What lies between, in one piece.
  auto room = [](const ArrayRef &value) { return std::max<int64_t>(128, (value.type->bytes() + 63) / 64 * 64); };
  int64_t bytes = 0;
  for (const ArrayRef &value : values)
    if (!value.data) bytes += room(value);
  std::shared_ptr<Storage> between = Storage::allocate(bytes);
  auto *next = static_cast<char *>(between->data);
  for (ArrayRef &value : values)
    if (!value.data) value.data = std::exchange(next, next + room(value));
  std::vector<ArrayRef> in;
  for (const GraphNode &node : parts.nodes) {
    in.clear();
    for (uint32_t operand : node.operands) in.push_back(values[operand]);
    computeNode(node, in, {values.data() + node.firstResult, node.resultCount}, device);
  }
  // An input that is an output, and one value that is two outputs.
  for (uint32_t i = 0; i < parts.outputs.size(); ++i)
    if (values[parts.outputs[i]].data != results[i].data)
      std::memcpy(results[i].data, values[parts.outputs[i]].data, size_t(results[i].type->bytes()));
}

} // namespace

void computeNode(const GraphNode &node, std::span<const ArrayRef> operands, std::span<const ArrayRef> results,
                 DeviceId device) {
  if (isConstantNode(node)) return fillConstant(node, results[0]);
  // The kernels of build time are this processor's.
  static UsedDevice &processor = UsedDevice::of("cpu");
  if (runGeneric(node, operands, results)) return processor.note();
  std::vector<const TensorType *> types;
  for (const ArrayRef &operand : operands) types.push_back(operand.type);
  for (const ArrayRef &result : results) types.push_back(result.type);
  Hash key = hashOf(node, types);
  Recipes &recipes = recipesOf(device);
  if (recipes.size() >= kMostRecipes && !recipes.contains(key)) recipes.clear();
  Recipe &recipe = recipes[key];
  if (!recipe.parts && !recipe.plan) {
    std::vector<TensorType> inTypes, outTypes;
    for (const ArrayRef &operand : operands) inTypes.push_back(*operand.type);
    for (const ArrayRef &result : results) outTypes.push_back(*result.type);
    recipe.parts = decompose(node, inTypes, outTypes);
    if (!recipe.parts) {
      CompileOptions options = segmentOptions();
      recipe.plan = compilePlan(graphOf(node, inTypes, outTypes), {}, options, node.op->text, {device});
    }
  }
  // Copied: parts that are computed below may clear the table.
  if (std::shared_ptr<const Graph> parts = recipe.parts) return computeParts(*parts, operands, results, device);
  std::vector<void *> inputs, outputs;
  for (const ArrayRef &operand : operands) inputs.push_back(operand.data);
  for (const ArrayRef &result : results) outputs.push_back(result.data);
  recipe.plan->run(inputs, outputs, {});
}

/// With the line and the layer of the operation.
static Failure explain(const GraphNode &node, const Error &error) {
  std::string text = error.what();
  if (node.source.line && text.starts_with(placeText(node.source))) return std::make_shared<Error>(error);
  return std::make_shared<Error>(error.kind(), placeText(node.source, node.op->text, node.layer) + ": " + text);
}

void runNode(const Node &node, std::span<Value *const> results, DeviceId device) {
  Failure failure;
  for (const Value *operand : node.operands)
    if (operand->failure) failure = operand->failure;
  if (!failure) try {
      for (Value *result : results) result->storage = Storage::allocate(result->type.bytes());
      auto refOf = [](const Value *value) { return ArrayRef{value->storage->data, &value->type}; };
      Few<ArrayRef, 8> in;
      Few<ArrayRef, 4> out;
      in.reserve(node.operands.size());
      out.reserve(results.size());
      for (const Value *operand : node.operands) in.push_back(refOf(operand));
      for (const Value *result : results) out.push_back(refOf(result));
      const GraphNode &description = node.description;
      ProfileSpan span("operation",
                       [&] { return placeText(description.source, description.op->text, description.layer); });
      computeNode(description, in, out, device);
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
