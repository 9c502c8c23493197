#include "lib/Import/ONNX/Importer.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Data/CountedName.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <unordered_set>

using namespace mlir;

namespace sprig::onnximport {

Importer::Importer(const Model &model, ModuleOp module, const ImportLimits &limits)
    : model(model), module(module), builder(module.getContext()), state{builder, module, limits, {}} {}

//===- Entries ---------------------------------------------------------------------------------------------------===//

void Importer::importEntry(const EntryAtLength &given) {
  entry = &given.entry;
  bound.clear();
  // All of its own nodes are imported: one that is past the limit is not begun.
  if (int64_t own = model.proto.graph().node_size(); own > state.limits.nodes)
    model.fail(ErrorKind::unsupported,
               "has " + std::to_string(own) + " nodes; the limit is " + std::to_string(state.limits.nodes));
  if (parameters.contains(entry->name) || !functions.insert(entry->name).second)
    badUse(model.file + ": two entries or parameters are called '" + entry->name + "'");
  // Every round binds at least one more input or number.
  while (!tryImportEntry(given.entry)) {
  }
  if (given.sample) setLengthSample(function, *given.sample);
}

bool Importer::tryImportEntry(const ImportEntry &given) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    state.diagnostic = diagnostic.str();
    return success();
  });
  materialized.clear();
  argumentNames.clear();
  isOpen = false;
  current = nullptr; // a try that ended in the middle has left one
  state.dropouts = state.draws = state.rolledLoops = 0;
  state.seed.reset();
  nodeCount = 0;
  const onnx::GraphProto &graph = model.proto.graph();
  Location loc = FileLineColLoc::get(builder.getContext(), model.file, 0, 0); // a name would be that of a layer
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, loc, given.name, builder.getFunctionType({}, {}));
  try {
    builder.setInsertionPointToStart(function.addEntryBlock());
    Scope scope;
    scope.opsets = &model.opsets;
    std::unordered_map<std::string, const onnx::ValueInfoProto *> declared;
    for (const auto &info : graph.value_info()) declared[info.name()] = &info;
    scope.declared = &declared;
    addInitializers(graph, scope);
    bindInputs(given, scope);
    runNodes(graph.node(), scope);
    finishFunction(scope);
  } catch (const NeedsValues &needs) {
    function.erase();
    bound.insert(needs.inputs.begin(), needs.inputs.end());
    return false;
  } catch (const NeedsConstants &) {
    function.erase();
    eraseUnusedParameters();
    return false;
  } catch (...) {
    function.erase();
    throw;
  }
  return true;
}

void Importer::eraseUnusedParameters() {
  llvm::StringSet<> read;
  module.walk([&](ir::GetParamOp get) { read.insert(get.getParam()); });
  for (auto it = symbols.begin(); it != symbols.end();) {
    if (read.contains(it->second)) {
      ++it;
      continue;
    }
    auto unused = parameters.find(it->second);
    unused->second.erase();
    parameters.erase(unused);
    it = symbols.erase(it);
  }
}

void Importer::addInitializers(const onnx::GraphProto &graph, Scope &scope) {
  for (const auto &tensor : graph.initializer()) {
    // Wrong ones are refused even if nothing reads them.
    readTensorType(builder.getContext(), model, tensor, scope.prefix + "initializer '" + tensor.name() + "'",
                   state.limits.tensorBytes);
    scope.initializers[tensor.name()] = &tensor;
  }
  if (graph.sparse_initializer_size() > 0)
    model.fail(ErrorKind::unsupported, scope.prefix + "initializer '" + graph.sparse_initializer(0).values().name() +
                                           "' is a sparse tensor, which Sprig does not have");
}

void Importer::finishFunction(Scope &scope) {
  const onnx::GraphProto &graph = model.proto.graph();
  EntryResults results;
  for (const auto &output : graph.output()) giveOutput(output, lookup(scope, output.name()), results);
  auto &[values, counts, names, countNames] = results;
  if (values.empty() && graph.output_size() > 0)
    model.fail(ErrorKind::unsupported, "gives no tensor: its outputs are empty sequences or absent optionals");
  std::unordered_set<std::string> different;
  for (const std::string &name : names)
    if (!different.insert(name).second)
      model.fail(ErrorKind::unsupported, "output '" + name + "' is called as an element of a sequence");
  // By its name a count is known: no other output may be taken for one.
  for (auto [value, name] : llvm::zip(values, names))
    for (int64_t d = 0; d < Emit::rank(value); ++d)
      if (std::string count = data::countName(name, d); different.count(count))
        model.fail(ErrorKind::unsupported, "output '" + count + "' is called as the count of output '" + name + "'");
  for (auto [count, name] : llvm::zip(counts, countNames)) {
    names.push_back(name);
    values.push_back(count);
  }
  func::ReturnOp::create(builder, function.getLoc(), values);
  Block &block = function.front();
  // Folded operands and outputs that nothing reads.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) op.erase();
  function.setFunctionType(builder.getFunctionType(block.getArgumentTypes(), ValueRange(values).getTypes()));
  // All at once: the list of attributes is made anew for each that is set.
  auto named = [&](const std::string &name) {
    return builder.getDictionaryAttr(builder.getNamedAttr(ir::kNameAttr, builder.getStringAttr(name)));
  };
  function.setAllArgAttrs(llvm::map_to_vector(argumentNames, named));
  function.setAllResultAttrs(llvm::map_to_vector(names, named));
}

Importer::Sources Importer::sourcesOf(Value v) {
  Sources sources;
  SmallVector<Value> stack{v};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    if (!seen.insert(next).second) continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == &function.front())
        sources.inputs.insert(argumentNames[argument.getArgNumber()]);
      else
        sources.isOfStep = true;
    } else if (auto parameter = next.getDefiningOp<ir::GetParamOp>()) {
      auto named = [&](auto &entry) { return entry.second == parameter.getParam(); };
      sources.initializers.insert(llvm::find_if(symbols, named)->first->name());
      sources.largest = std::max(sources.largest, parameter.getType().getNumElements());
    } else {
      stack.append(next.getDefiningOp()->operand_begin(), next.getDefiningOp()->operand_end());
    }
  }
  return sources;
}

void Importer::makeConstant(const std::set<std::string> &initializers) {
  numbers.insert(initializers.begin(), initializers.end());
  throw NeedsConstants();
}

void Importer::requestNumbers(Value v) {
  // A tensor of more elements is something that a model has learnt.
  constexpr int64_t kMostNumbers = 64;
  Sources sources = sourcesOf(v);
  if (!sources.isOfStep && sources.inputs.empty() && !sources.initializers.empty() && sources.largest <= kMostNumbers)
    makeConstant(sources.initializers);
}

bool Importer::isOfCall(Value v) {
  Sources sources = sourcesOf(v);
  return !sources.isOfStep &&
         llvm::any_of(sources.inputs, [&](const std::string &name) { return !entry->values.count(name); });
}

void Importer::requestValues(const Node &node, Value v, const std::string &what) {
  Sources sources = sourcesOf(v);
  if (sources.isOfStep) throw NeedsNumber();
  std::string names;
  bool allGiven = true;
  for (const std::string &name : sources.inputs) {
    allGiven &= entry->values.count(name) > 0;
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  if (!allGiven) node.unsupported(what + " has to be known when compiling, but depends on the values of " + names);
  if (!sources.inputs.empty()) throw NeedsValues{sources.inputs};
  if (!sources.initializers.empty()) makeConstant(sources.initializers);
  node.unsupported(what + " has to be known when compiling, but cannot be computed then");
}

//===- Values ----------------------------------------------------------------------------------------------------===//

std::shared_ptr<const void> Importer::tensorOwner() const {
  const Scope *outermost = current;
  while (outermost && outermost->outer) outermost = outermost->outer;
  if (outermost && outermost->isFunction) return bodies;
  return ownerOf(model);
}

Value Importer::parameter(const onnx::TensorProto &tensor) {
  auto found = materialized.find(&tensor);
  if (found != materialized.end()) return found->second;
  std::string what = "initializer '" + tensor.name() + "'";
  Location loc = NameLoc::get(builder.getStringAttr(tensor.name()));
  Type element = storageType(builder.getContext(), tensor.data_type());
  // Integers and booleans are no state: shapes, axes and masks, which the import computes with. Nor are numbers that do
  // the same.
  if (element && (!isa<FloatType>(element) || numbers.count(tensor.name()))) {
    ElementsAttr value = readTensor(builder.getContext(), model, tensor, what, state.limits.tensorBytes, tensorOwner());
    return materialized[&tensor] = ir::ConstantOp::create(builder, loc, value);
  }
  std::string &symbol = symbols[&tensor];
  if (symbol.empty()) {
    ElementsAttr value = readTensor(builder.getContext(), model, tensor, what, state.limits.tensorBytes, tensorOwner());
    symbol = tensor.name();
    auto isTaken = [&] { return functions.contains(symbol) || parameters.contains(symbol); };
    for (int suffix = 1; isTaken(); ++suffix) symbol = tensor.name() + "_" + std::to_string(suffix);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    OperationState param(loc, ir::ParamOp::getOperationName());
    param.addAttribute("sym_name", builder.getStringAttr(symbol));
    param.addAttribute("value", value);
    parameters[symbol] = cast<ir::ParamOp>(builder.create(param));
  }
  auto param = parameters.lookup(symbol);
  Value value =
      ir::GetParamOp::create(builder, loc, param.getTensorType(), FlatSymbolRefAttr::get(builder.getContext(), symbol));
  return materialized[&tensor] = value;
}

Item Importer::lookup(Scope &scope, const std::string &name) {
  for (Scope *at = &scope; at; at = at->outer) {
    if (auto found = at->items.find(name); found != at->items.end()) return found->second;
    if (auto found = at->initializers.find(name); found != at->initializers.end())
      return Item(parameter(*found->second), narrowType(found->second->data_type()));
  }
  return {};
}

ElementsAttr Importer::readTensorOf(const Node &node, const onnx::TensorProto &tensor, const std::string &what) {
  return readTensor(builder.getContext(), model, tensor, node.label.substr(model.file.size() + 1) + ": " + what,
                    state.limits.tensorBytes, tensorOwner());
}

//===- Nodes -----------------------------------------------------------------------------------------------------===//

void Importer::runNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope) {
  for (int i = 0; i < nodes.size(); ++i) runNode(nodes[i], i, scope);
}

void Importer::runNode(const onnx::NodeProto &proto, int64_t index, Scope &scope) {
  std::string label = scope.prefix + nodeLabel(proto, index);
  if (++nodeCount > state.limits.nodes)
    unsupported(model.file + ":" + label + ": is past the limit of " + std::to_string(state.limits.nodes) +
                " nodes (unrolled iterations and inlined functions count)");
  Location loc = NameLoc::get(builder.getStringAttr(proto.name().empty() ? nodeLabel(proto, index) : proto.name()),
                              FileLineColLoc::get(builder.getContext(), model.file, unsigned(index), 0));
  Items inputs;
  for (const std::string &name : proto.input()) {
    Item item = name.empty() ? Item() : lookup(scope, name);
    if (!name.empty() && !item) badInput(model.file + ":" + label + ": reads '" + name + "', which nothing makes");
    inputs.push_back(std::move(item));
  }
  std::string domain = normalizeDomain(proto.domain());
  auto opset = scope.opsets->find(domain);
  Node node(*this, state, loc, model.file + ":" + label, proto, opset == scope.opsets->end() ? 0 : opset->second,
            std::move(inputs));
  Scope *before = std::exchange(current, &scope);
  state.diagnostic.clear();
  dispatch(node, scope);
  current = before;
  for (unsigned i = 0; i < node.outputs.size(); ++i) {
    if (!node.wants(i)) continue;
    if (!node.outputs[i])
      node.unsupported("its output " + std::to_string(i) + " ('" + proto.output(int(i)) + "') is not supported");
    const std::string &name = proto.output(int(i));
    if (scope.declared && node.outputs[i].value)
      if (auto found = scope.declared->find(name); found != scope.declared->end())
        checkDeclared(*found->second, node.outputs[i], label + ": makes '" + name + "'");
    scope.items[name] = std::move(node.outputs[i]);
  }
}

void Importer::checkRepeats(const Node &node, int64_t nodesBefore, int64_t times) const {
  int64_t each = nodeCount - nodesBefore;
  if (each > 0 && times > (state.limits.nodes - nodesBefore) / each)
    node.unsupported("unrolls " + std::to_string(times) + " iterations of " + std::to_string(each) +
                     " nodes; the limit is " + std::to_string(state.limits.nodes) + " nodes in all");
}

Importer::Attempt::~Attempt() {
  importer.current = current;
  if (kept) return;
  importer.nodeCount = nodeCount;
  for (auto it = importer.materialized.begin(); it != importer.materialized.end();)
    it = it->second.getParentBlock() == &block ? importer.materialized.erase(it) : std::next(it);
}

Items Importer::runBody(const onnx::GraphProto &body, ArrayRef<Item> inputs, Node &at) {
  Scope scope;
  scope.outer = current;
  scope.prefix = at.label.substr(model.file.size() + 1) + ": ";
  scope.opsets = current->opsets;
  scope.depth = current->depth + 1;
  if (scope.depth > state.limits.nesting)
    at.unsupported("nests deeper than " + std::to_string(state.limits.nesting) + " graphs");
  if (int(inputs.size()) != body.input_size())
    at.bad("its graph '" + body.name() + "' takes " + std::to_string(body.input_size()) + " inputs, but gets " +
           std::to_string(inputs.size()));
  addInitializers(body, scope);
  for (int i = 0; i < body.input_size(); ++i) scope.items[body.input(i).name()] = inputs[size_t(i)];
  runNodes(body.node(), scope);
  Items outputs;
  for (const auto &output : body.output()) {
    outputs.push_back(lookup(scope, output.name()));
    if (outputs.back().narrow)
      at.unsupported("its graph '" + body.name() + "' gives " + itemText(outputs.back()) +
                     ", a type that Sprig stores and converts only");
    if (outputs.back().counted && at.proto.op_type() != "If")
      at.unsupported("its graph '" + body.name() + "' gives '" + output.name() + "', whose size the data decide");
  }
  return outputs;
}

} // namespace sprig::onnximport
