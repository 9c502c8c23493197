// One ONNX node while it is imported: its inputs as nn values, its attributes, its outputs.
// What rows of the operator table work on. Readers of attributes and constants fail with the node's place in front.
#pragma once
#include "lib/Import/ONNX/Emit.h"
#include "onnx/onnx_pb.h"
#include <memory>
#include <optional>
#include <set>

namespace sprig::onnximport {

struct NarrowType; // Narrow.h

/// A dimension whose size the data decide: what lies behind the first `count` elements is padding.
struct Counted {
  int64_t axis;
  Value count; ///< a scalar, i64
};

/// What a name stands for: a tensor, a list of items (an ONNX sequence), or an empty optional.
struct Item {
  Value value;
  std::shared_ptr<std::vector<Item>> list;
  bool emptyOptional = false;
  const NarrowType *narrow = nullptr; ///< what the bytes of the tensor stand for, where its element type is not its own
  std::optional<Counted> counted;     ///< a dimension of the tensor; see Counted.h

  Item() = default;
  Item(Value value, const NarrowType *narrow = nullptr) : value(value), narrow(narrow) {}
  explicit operator bool() const { return value || list || emptyOptional; }
};
using Items = std::vector<Item>;

class Importer;

/// Thrown when a shape depends on entry inputs whose values are at hand: the import starts again with them as
/// constants.
struct NeedsValues {
  std::set<std::string> inputs;
};

/// Thrown when a shape or the flow of control is computed from initializers that are parameters: the import starts
/// again with them as constants.
struct NeedsConstants {};

/// Thrown when a shape depends on what differs from step to step of a loop that is imported as one: it is unrolled.
struct NeedsNumber {};

class Node : public Emit {
public:
  Node(Importer &importer, EmitState &state, mlir::Location loc, std::string label, const onnx::NodeProto &proto,
       int64_t opset, Items inputs)
      : Emit(state, loc, std::move(label)), importer(importer), proto(proto), opset(opset), items(std::move(inputs)),
        outputs(size_t(proto.output_size())) {}

  // Inputs.
  unsigned inputs() const { return unsigned(items.size()); }
  bool has(unsigned i) const { return i < items.size() && bool(items[i]); }
  const Item &item(unsigned i) const; ///< required
  Value in(unsigned i) const;         ///< required, a tensor
  Value inOr(unsigned i, Value otherwise) const { return has(i) ? in(i) : otherwise; }
  Values tensors() const;              ///< all inputs, each a tensor
  const Items &list(unsigned i) const; ///< required, a sequence

  // Inputs whose value has to be known when compiling.
  ElementsAttr known(unsigned i) const;
  Ints knownInts(unsigned i) const;
  std::vector<double> knownReals(unsigned i) const;
  int64_t knownInt(unsigned i) const; ///< one element
  double knownReal(unsigned i) const; ///< one element
  /// The same for any value that this node works on.
  ElementsAttr known(Value v, const std::string &what) const;
  /// The value if it is constant.
  std::optional<Ints> tryInts(Value v) const;
  /// The same of what decides where control goes, which it is too where numbers among the initializers alone say it.
  std::optional<Ints> tryControl(Value v) const;

  // Attributes.
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int64_t intAttr(llvm::StringRef name, int64_t otherwise) const;
  int64_t intAttr(llvm::StringRef name) const; ///< required
  double realAttr(llvm::StringRef name, double otherwise) const;
  std::string stringAttr(llvm::StringRef name, const std::string &otherwise) const;
  std::optional<Ints> intsAttr(llvm::StringRef name) const;
  std::vector<double> realsAttr(llvm::StringRef name) const;
  std::vector<std::string> stringsAttr(llvm::StringRef name) const;
  ElementsAttr tensorAttr(llvm::StringRef name) const;
  const onnx::GraphProto &graphAttr(llvm::StringRef name) const; ///< required
  Type typeAttr(llvm::StringRef name, Type otherwise) const;     ///< an int that names an ONNX data type
  Type typeOf(int64_t dataType, const std::string &what) const;

  // Outputs.
  bool wants(unsigned i) const { return int(i) < proto.output_size() && !proto.output(int(i)).empty(); }
  void out(Value v, unsigned i = 0) {
    if (wants(i)) outputs[i] = Item(v);
  }
  void outItem(Item item, unsigned i = 0) {
    if (wants(i)) outputs[i] = std::move(item);
  }
  void outList(Items items, unsigned i = 0);

  Importer &importer;
  const onnx::NodeProto &proto;
  int64_t opset;
  Items items;
  Items outputs;
};

/// The numbers of a constant.
Ints intsOf(ElementsAttr value);
std::vector<double> realsOf(ElementsAttr value);

} // namespace sprig::onnximport
