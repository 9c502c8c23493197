// Walks a model's graph and imports it node by node into one function.
// Owns scopes of names, parameters, calls of functions, and the bodies of control flow.
#pragma once
#include "dialects/NN/NNState.h"
#include "lib/Import/ONNX/EntryLengths.h"
#include "lib/Import/ONNX/Model.h"
#include "lib/Import/ONNX/Node.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace onnx {
class OpSchema;
}

namespace sprig::onnximport {

using Opsets = std::map<std::string, int64_t>;

/// Names that a graph sees, its own and those around it.
struct Scope {
  Scope *outer = nullptr;
  std::string prefix; ///< of labels
  std::unordered_map<std::string, Item> items;
  std::unordered_map<std::string, const onnx::TensorProto *> initializers;
  const Opsets *opsets = nullptr;
  /// What the model's own graph declares of its values; null in bodies and functions.
  const std::unordered_map<std::string, const onnx::ValueInfoProto *> *declared = nullptr;
  int64_t depth = 0;
  bool isFunction = false; ///< the outermost scope of a function's body
};

class Importer {
public:
  Importer(const Model &model, mlir::ModuleOp module, const ImportLimits &limits);

  void importEntry(const EntryAtLength &entry);
  /// Parameters that no entry reads: their numbers are in shapes and constants.
  void eraseUnusedParameters();

  // For rows of the table.
  int64_t importedNodes() const { return nodeCount; }
  /// Refuses a loop whose first iteration shows that all of them are too many.
  void checkRepeats(const Node &node, int64_t nodesBefore, int64_t times) const;
  /// Imports a graph of an attribute with the given inputs; its outputs.
  Items runBody(const onnx::GraphProto &body, llvm::ArrayRef<Item> inputs, Node &at);
  ElementsAttr readTensorOf(const Node &node, const onnx::TensorProto &tensor, const std::string &what);
  /// A value has to be known when compiling: binds the entry inputs that it depends on, or fails.
  [[noreturn]] void requestValues(const Node &node, Value v, const std::string &what);
  /// The same of what decides where control goes, which data may tell too: returns where initializers alone do not, or
  /// where they are tensors rather than numbers.
  void requestNumbers(Value v);

  /// Whether only a call tells a value, which depends on inputs that are not given when compiling.
  bool isOfCall(Value v);
  /// Inputs of the entry whose values a value is computed from.
  std::set<std::string> inputsBehind(Value v) { return sourcesOf(v).inputs; }

  /// The import of a body into a block of its own that may be given up: what it left here is then forgotten.
  class Attempt {
  public:
    Attempt(Importer &importer, mlir::Block &block)
        : importer(importer), block(block), current(importer.current), nodeCount(importer.nodeCount) {}
    ~Attempt();
    void keep() { kept = true; }

  private:
    Importer &importer;
    mlir::Block &block;
    Scope *current;
    int64_t nodeCount;
    bool kept = false;
  };

  EmitState &emitState() { return state; }
  void setWarn(std::function<void(const std::string &)> function) { warn = std::move(function); }

private:
  bool tryImportEntry(const ImportEntry &entry);
  /// What a value is computed from.
  struct Sources {
    std::set<std::string> inputs;       ///< of the entry
    std::set<std::string> initializers; ///< that are parameters
    int64_t largest = 0;                ///< elements of one of those
    bool isOfStep = false;              ///< it differs from step to step of a loop that is imported as one
  };
  Sources sourcesOf(Value v);
  /// Starts the import again with these as constants.
  [[noreturn]] void makeConstant(const std::set<std::string> &initializers);
  void bindInputs(const ImportEntry &entry, Scope &scope);
  /// Inputs that are sequences or optionals, and the declarations of the tensors that they stand for.
  struct EntryHolders {
    struct One {
      std::string name;
      data::Holder holder;
      data::Held held;
      std::vector<std::string> tensors;
    };
    std::vector<One> all;
    std::deque<onnx::ValueInfoProto> made;
  };
  /// What the entry takes, each a tensor; the entry says how many a sequence has, and whether an optional is there.
  std::vector<const onnx::ValueInfoProto *> tensorInputs(const ImportEntry &given, const Scope &scope,
                                                         EntryHolders &holders);
  /// Makes them of their tensors.
  void gatherHolders(const EntryHolders &holders, Scope &scope);
  void bindGiven(IntsRef shape, const onnx::ValueInfoProto &input, std::map<std::string, int64_t> &dims);
  void bindFixed(const onnx::ValueInfoProto &input, size_t count, std::map<std::string, int64_t> &dims);
  Value fixedInput(Emit &emit, const std::string &name, RankedTensorType type, const std::vector<double> &values);
  void bindSums(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                std::map<std::string, int64_t> &dims);
  void requireNamed(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                    const EntryHolders &holders);
  void requireSizes(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                    const std::map<std::string, int64_t> &dims);
  Ints declaredShape(const onnx::ValueInfoProto &input, const std::map<std::string, int64_t> &dims);
  void addInitializers(const onnx::GraphProto &graph, Scope &scope);
  Item lookup(Scope &scope, const std::string &name);
  Value parameter(const onnx::TensorProto &tensor);
  /// Who keeps the tensors that the current scope sees.
  std::shared_ptr<const void> tensorOwner() const;

  void runNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void runNode(const onnx::NodeProto &proto, int64_t index, Scope &scope);
  void dispatch(Node &node, Scope &scope);
  bool callSchemaFunction(Node &node, const onnx::OpSchema &schema);
  void callFunction(Node &node, const onnx::FunctionProto &function);
  struct EntryResults {
    llvm::SmallVector<Value> values, counts;
    std::vector<std::string> names, countNames;
  };
  /// The tensors of an output.
  void giveOutput(const onnx::ValueInfoProto &output, const Item &item, EntryResults &results);
  void finishFunction(Scope &scope);
  /// Holds a value to what the file declares of it; `label` is how errors call what makes it.
  void checkDeclared(const onnx::ValueInfoProto &declared, const Item &item, const std::string &label);

  const Model &model;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  EmitState state;
  Scope *current = nullptr; ///< of the node being imported
  mlir::func::FuncOp function;
  const ImportEntry *entry = nullptr;
  llvm::StringSet<> functions;             ///< of the module
  llvm::StringMap<ir::ParamOp> parameters; ///< of the module
  std::vector<std::string> argumentNames;
  std::set<std::string> bound; ///< inputs that are constants in this entry
  /// Float initializers that a shape or the flow of control is computed from: constants in all entries, no parameters.
  std::set<std::string> numbers;
  bool isOpen = false; ///< whether the entry chose sizes that the model leaves open
  std::function<void(const std::string &)> warn;
  std::set<std::string> warned; ///< values whose declaration does not fit, over all entries
  /// Nodes of functions with the callers' attributes in them, where they have tensors: constants may be bytes of these,
  /// and the maps below know tensors by their places.
  std::shared_ptr<std::deque<onnx::NodeProto>> bodies = std::make_shared<std::deque<onnx::NodeProto>>();
  std::unordered_map<const onnx::TensorProto *, std::string> symbols;
  std::unordered_map<const onnx::TensorProto *, Value> materialized; ///< in the function being built
  int64_t nodeCount = 0;
};

/// Checks a node against its operator's schema: arity, attributes, element types.
void checkAgainstSchema(const Node &node, const onnx::OpSchema &schema);

} // namespace sprig::onnximport
