#include "lib/Target/CodeGen/KernelIdentity.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/Constants.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;
using namespace sprig;

namespace {
// Writes what code depends on: operations, types, attributes, who reads whose value. No locations, names or labels.
class Describer {
public:
  explicit Describer(raw_ostream &out) : out(out) {}

  void describe(Operation *op);

private:
  void attribute(NamedAttribute named);

  raw_ostream &out;
  llvm::DenseMap<Value, unsigned> numbers;
};

void Describer::attribute(NamedAttribute named) {
  out << ' ' << named.getName().getValue() << '=';
  auto elements = dyn_cast<ElementsAttr>(named.getValue());
  std::string reason;
  if (!elements || !ir::isReadableConstant(elements, reason)) {
    out << named.getValue();
    return;
  }
  // By content: a resource prints as its name.
  ir::ConstantView view(elements);
  ArrayRef<char> bytes = view.bytes();
  out << elements.getType() << (view.isSplat() ? " splat " : " dense ") << bytes.size() << ':';
  out.write(bytes.data(), bytes.size());
}

void Describer::describe(Operation *op) {
  out << op->getName() << '(';
  for (Value operand : op->getOperands()) out << numbers.lookup(operand) << ',';
  out << ')';
  // What a kernel is called, and what the scheduler and the cost model know of it, is not in its code.
  static const StringRef around[] = {"sym_name", "label", "tiles", "grain", "flops", "bytes"};
  bool isFrame = isa<exec::KernelOp, kernel::DispatchOp>(op);
  for (NamedAttribute named : op->getAttrDictionary())
    if (!isFrame || !llvm::is_contained(around, named.getName().getValue())) attribute(named);
  for (Value result : op->getResults()) {
    out << ' ' << result.getType();
    numbers.try_emplace(result, numbers.size() + 1);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      out << '{';
      for (BlockArgument argument : block.getArguments()) {
        out << argument.getType() << ',';
        numbers.try_emplace(argument, numbers.size() + 1);
      }
      for (Operation &inner : block) describe(&inner);
      out << '}';
    }
  out << '\n';
}
} // namespace

std::string sprig::contentHash(StringRef text) {
  llvm::BLAKE3 hash;
  hash.update(text);
  auto bytes = hash.final<16>();
  return llvm::toHex(ArrayRef<uint8_t>(bytes.data(), bytes.size()), /*LowerCase=*/true);
}

std::string sprig::describeForCode(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Describer(out).describe(op);
  return text;
}

std::string sprig::identityOf(Operation *op) { return contentHash(describeForCode(op)); }
