// Inputs and outputs of an entry that are sequences or optionals.
#include "lib/Import/ONNX/Holding.h"
#include "lib/Data/CountedName.h"
#include "lib/Import/ONNX/Counted.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

Holding holdingOf(const onnx::TypeProto &type) {
  Holding holding;
  const onnx::TypeProto *inner = &type;
  bool isOptional = inner->has_optional_type();
  if (isOptional) inner = &inner->optional_type().elem_type();
  bool isSequence = inner->has_sequence_type();
  if (isSequence) inner = &inner->sequence_type().elem_type();
  holding.holder = isOptional   ? isSequence ? data::Holder::optionalSequence : data::Holder::optional
                   : isSequence ? data::Holder::sequence
                                : data::Holder::tensor;
  if (inner->has_tensor_type()) holding.tensor = &inner->tensor_type();
  return holding;
}

// Elements of a sequence may differ in size, whatever their dimensions are called.
onnx::ValueInfoProto tensorOf(const Holding &holding, const std::string &name) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  *info.mutable_type()->mutable_tensor_type() = *holding.tensor;
  if (data::isSequence(holding.holder) && holding.tensor->has_shape())
    for (auto &dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) dim.clear_dim_param();
  return info;
}

void refuseRanges(const onnx::GraphProto &graph, const ImportEntry &entry) {
  for (const auto &input : graph.input())
    data::refuseRanges(holdingOf(input.type()).holder, input.name(),
                       [&](const std::string &dim) { return entry.ranges.count(dim) > 0; });
}

std::vector<const onnx::ValueInfoProto *> Importer::tensorInputs(const ImportEntry &given, const Scope &scope,
                                                                 EntryHolders &holders) {
  std::vector<const onnx::ValueInfoProto *> inputs;
  std::string missing;
  auto isGiven = [&](const std::string &name) {
    return given.shapes.count(name) || given.values.count(name) || given.fixed.count(name);
  };
  for (const auto &input : model.proto.graph().input()) {
    if (scope.initializers.count(input.name())) continue;
    Holding holding = holdingOf(input.type());
    if (holding.holder == data::Holder::tensor || !holding.tensor) {
      inputs.push_back(&input);
      continue;
    }
    std::optional<data::Held> held;
    try {
      held = data::heldBy(holding.holder, input.name(), given.dims, isGiven);
    } catch (const Error &error) {
      throw Error(error.kind(), model.file + ": " + error.what());
    }
    if (!held) {
      missing += "\n  '" + input.name() + "', " +
                 data::describe(holding.holder, dataTypeName(holding.tensor->elem_type())) + ": " +
                 data::flagOf(holding.holder, input.name());
      continue;
    }
    if (held->count > state.limits.nodes)
      model.fail(ErrorKind::unsupported, "input '" + input.name() + "' has " + std::to_string(held->count) +
                                             " elements; the limit is " + std::to_string(state.limits.nodes));
    EntryHolders::One one{input.name(), holding.holder, *held, {}};
    one.tensors = data::namesOf(holding.holder, input.name(), *held);
    for (const std::string &name : one.tensors) inputs.push_back(&holders.made.emplace_back(tensorOf(holding, name)));
    holders.all.push_back(std::move(one));
  }
  if (!missing.empty()) badUse(model.file + ": how much these inputs hold has to be known when compiling:" + missing);
  std::set<std::string> names;
  for (const auto *input : inputs)
    if (!names.insert(input->name()).second)
      model.fail(ErrorKind::unsupported, "input '" + input->name() + "' is called as an element of a sequence");
  return inputs;
}

void Importer::gatherHolders(const EntryHolders &holders, Scope &scope) {
  for (const EntryHolders::One &one : holders.all) {
    Item item;
    if (!one.held.isPresent) {
      item.emptyOptional = true;
    } else if (data::isSequence(one.holder)) {
      // Nodes do not see elements by their names, which may be those of other values.
      item.list = std::make_shared<Items>();
      for (const std::string &name : one.tensors) {
        item.list->push_back(scope.items.at(name));
        scope.items.erase(name);
      }
    } else {
      continue;
    }
    scope.items[one.name] = std::move(item);
  }
}

void Importer::giveOutput(const onnx::ValueInfoProto &output, const Item &item, EntryResults &results) {
  Holding declared = holdingOf(output.type());
  std::string what = "output '" + output.name() + "'";
  auto give = [&](const onnx::ValueInfoProto &info, Item tensor) {
    std::string label = "output '" + info.name() + "'";
    if (!tensor.value) model.fail(ErrorKind::unsupported, label + " is no tensor, which an entry cannot give");
    checkDeclared(info, tensor, label);
    results.names.push_back(info.name());
    if (tensor.counted) {
      results.countNames.push_back(data::countName(info.name(), tensor.counted->axis));
      results.counts.push_back(tensor.counted->count);
      Emit emit(state, function.getLoc(), model.file);
      tensor.value = padded(emit, tensor.value, *tensor.counted, 0);
    }
    results.values.push_back(tensor.value);
  };
  auto expect = [&](bool isRight, const char *made) {
    if (isRight || output.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) return;
    std::string element = declared.tensor ? dataTypeName(declared.tensor->elem_type()) : "something else";
    model.fail(ErrorKind::badInput,
               what + " is declared as " + data::describe(declared.holder, element) + ", but the graph makes " + made);
  };
  if (item.emptyOptional) return expect(data::isOptional(declared.holder), "nothing");
  if (!item.list) {
    expect(!item.value || !data::isSequence(declared.holder), "a tensor");
    bool isOptional = declared.holder == data::Holder::optional && declared.tensor;
    return give(isOptional ? tensorOf(declared, output.name()) : output, item);
  }
  expect(data::isSequence(declared.holder), "a sequence");
  for (size_t i = 0; i < item.list->size(); ++i) {
    std::string name = data::elementName(output.name(), int64_t(i));
    onnx::ValueInfoProto info;
    info.set_name(name);
    give(declared.tensor ? tensorOf(declared, name) : info, (*item.list)[i]);
  }
}

} // namespace sprig::onnximport
