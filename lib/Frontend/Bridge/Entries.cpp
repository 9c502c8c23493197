#include "lib/Frontend/Bridge/Entries.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "lib/Pipeline/Pipeline.h"
#include "sprig/error.h"
#include <set>

using namespace mlir;

namespace sprig::frontend::bridge {

[[noreturn]] static void refuseEntry(const PackageEntry &entry, const std::string &text) {
  badUse("function '" + entry.name + "': " + text);
}

void EntryBuilder::declare(const PackageEntry &entry, const StateSlot &slot) {
  const TensorType &type = entry.graph->types[slot.input];
  auto [known, isNew] = states.try_emplace(slot.name, type);
  if (!isNew) {
    if (known->second != type)
      refuseEntry(entry, "state '" + slot.name + "' is " + describe(type) + " here and " + describe(known->second) +
                             " in another function");
    return;
  }
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  if (!states.empty())
    for (auto last : module.getOps<ir::ParamOp>()) b.setInsertionPointAfter(last);
  RankedTensorType tensor = toType(module.getContext(), type);
  ElementsAttr initial =
      slot.initial ? ir::makeConstant(tensor, ArrayRef(static_cast<const char *>(slot.initial), size_t(type.bytes())))
                   : ir::makeSplat(tensor, 0);
  auto param = ir::ParamOp::create(b, NameLoc::get(b.getStringAttr(slot.name)), slot.name, initial,
                                   /*sym_visibility=*/StringAttr());
  if (slot.isPiece) param->setAttr(ir::kOptimizerStateAttr, b.getUnitAttr());
}

// Names of inputs and outputs, as far as they are given.
static StringAttr portName(Builder &b, const std::vector<std::string> &names, size_t index) {
  return index < names.size() && !names[index].empty() ? b.getStringAttr(names[index]) : StringAttr();
}

func::FuncOp EntryBuilder::add(const PackageEntry &entry) {
  const Graph &graph = *entry.graph;
  MLIRContext *context = module.getContext();
  std::map<uint32_t, const StateSlot *> slotOf;
  std::set<std::string> names;
  std::set<int32_t> updated;
  for (const StateSlot &slot : entry.states) {
    if (slot.input >= graph.inputCount) refuseEntry(entry, "state '" + slot.name + "' is none of its inputs");
    if (slot.output >= int32_t(graph.outputs.size()))
      refuseEntry(entry, "state '" + slot.name + "' is none of its outputs");
    if (!slotOf.try_emplace(slot.input, &slot).second || !names.insert(slot.name).second)
      refuseEntry(entry, "state '" + slot.name + "' is there twice");
    if (slot.output >= 0) {
      updated.insert(slot.output);
      const TensorType &next = graph.types[graph.outputs[size_t(slot.output)]], &type = graph.types[slot.input];
      if (next != type)
        refuseEntry(entry, "state '" + slot.name + "' is " + describe(type) + ", its next value " + describe(next));
    }
    declare(entry, slot);
  }

  std::vector<TensorType> inputs;
  for (uint32_t i = 0; i < graph.inputCount; ++i)
    if (!slotOf.contains(i)) inputs.push_back(graph.types[i]);
  // Symbols of functions must not meet those of states.
  std::string symbol;
  do symbol = "function" + std::to_string(functions++);
  while (states.contains(symbol));
  func::FuncOp function = lowering.makeFunction(module, symbol, inputs);
  function->setLoc(NameLoc::get(StringAttr::get(context, entry.name)));
  function->setAttr(ir::kEntryAttr, StringAttr::get(context, entry.name));

  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  SmallVector<Value> values;
  unsigned next = 0;
  for (uint32_t i = 0; i < graph.inputCount; ++i) {
    auto slot = slotOf.find(i);
    if (slot == slotOf.end()) {
      if (StringAttr name = portName(b, entry.inputNames, next)) function.setArgAttr(next, ir::kNameAttr, name);
      values.push_back(function.getArgument(next++));
      continue;
    }
    const std::string &name = slot->second->name;
    values.push_back(ir::GetParamOp::create(b, NameLoc::get(b.getStringAttr(name)), toType(context, graph.types[i]),
                                            FlatSymbolRefAttr::get(context, name)));
  }
  SmallVector<Value> all = outputsOf(graph, lowering.lowerNodes(b, graph, values)), results;
  for (const StateSlot &slot : entry.states)
    if (slot.output >= 0 && all[size_t(slot.output)] != values[slot.input])
      ir::SetParamOp::create(b, NameLoc::get(b.getStringAttr(slot.name)), FlatSymbolRefAttr::get(context, slot.name),
                             all[size_t(slot.output)]);
  for (size_t i = 0; i < all.size(); ++i)
    if (!updated.contains(int32_t(i))) results.push_back(all[i]);
  giveResults(b, function, results);
  for (unsigned i = 0; i < results.size(); ++i)
    if (StringAttr name = portName(b, entry.outputNames, i)) function.setResultAttr(i, ir::kNameAttr, name);
  return function;
}

CompileOptions entryOptions(const CompileOptions &given, const std::string &name) {
  CompileOptions options = given;
  options.compileFrom.clear();
  options.compileTo.clear();
  if (options.modelName.empty()) options.modelName = name;
  return options;
}

} // namespace sprig::frontend::bridge
