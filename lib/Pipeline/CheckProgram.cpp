#include "lib/Pipeline/CheckProgram.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/PortNames.h"
#include "dialects/NN/Storage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace sprig;

namespace {

constexpr int64_t kMostRank = 64; // the runtime's limit
constexpr int kMostAttributeDepth = 256;

// Why a value cannot have this type; empty when it can.
std::string distrust(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!isa<RankedTensorType, MemRefType>(type)) return "expected a tensor of static shape";
  if (!shaped.hasStaticShape()) return "expected a static shape";
  if (!ir::isStorable(shaped.getElementType()))
    return "expected elements of f64, f32, f16, bf16, i64, i32, i16, i8, ui64, ui32, ui16, ui8 or i1";
  if (shaped.getRank() > kMostRank) return "expected at most " + std::to_string(kMostRank) + " dimensions";
  if (!ir::isCountable(shaped.getShape())) return "expected at most 2^48 elements";
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
    return "expected a tensor without an encoding";
  if (auto memref = dyn_cast<MemRefType>(type); memref && (!memref.getLayout().isIdentity() || memref.getMemorySpace()))
    return "expected a buffer without layout or memory space";
  return "";
}

// Depth of nesting below attributes, each looked at once; with a stack of its own, since they may be too deep for this
// thread's.
class AttributeDepth {
public:
  bool isWithin(Attribute attribute) {
    if (!depths.contains(attribute.getAsOpaquePointer())) measure(attribute);
    return depths.lookup(attribute.getAsOpaquePointer()) <= kMostAttributeDepth;
  }

private:
  struct Frame {
    const void *key;
    SmallVector<Attribute, 4> attributes;
    SmallVector<Type, 4> types;
    int deepest = 0;
  };
  llvm::DenseMap<const void *, int> depths;

  template <typename Node> Frame frameOf(Node node) {
    depths[node.getAsOpaquePointer()] = 0; // until it is known: types may contain themselves
    Frame frame{node.getAsOpaquePointer(), {}, {}};
    node.walkImmediateSubElements([&](Attribute inner) { frame.attributes.push_back(inner); },
                                  [&](Type inner) { frame.types.push_back(inner); });
    return frame;
  }

  // A node's depth is known once those of all below it are.
  void measure(Attribute root) {
    SmallVector<Frame> stack = {frameOf(root)};
    while (!stack.empty()) {
      Frame &top = stack.back();
      auto enter = [&](auto node) {
        auto known = depths.find(node.getAsOpaquePointer());
        if (known != depths.end())
          top.deepest = std::max(top.deepest, known->second);
        else
          stack.push_back(frameOf(node));
      };
      if (!top.attributes.empty()) {
        enter(top.attributes.pop_back_val());
      } else if (!top.types.empty()) {
        enter(top.types.pop_back_val());
      } else {
        int depth = top.deepest + 1;
        depths[top.key] = depth;
        stack.pop_back();
        if (!stack.empty()) stack.back().deepest = std::max(stack.back().deepest, depth);
      }
    }
  }
};

// Arrays and files are called after ports: each by a name of its own.
LogicalResult checkNames(func::FuncOp function) {
  if (function.getSymName().contains('\0'))
    return function.emitOpError("has a name with a NUL: ") << function.getSymNameAttr();
  auto check = [&](const std::vector<std::string> &names, StringRef what,
                   llvm::function_ref<Attribute(unsigned)> state) -> LogicalResult {
    llvm::StringSet<> seen;
    for (auto [i, name] : llvm::enumerate(names))
      if (!state(unsigned(i)) && !seen.insert(name).second)
        return function.emitOpError("has two ") << what << "s called '" << name << "'";
    return success();
  };
  auto stateIn = [&](unsigned i) { return function.getArgAttr(i, ir::kStateAttr); };
  auto stateOut = [&](unsigned i) { return function.getResultAttr(i, ir::kStateAttr); };
  return failure(failed(check(ir::argumentNames(function), "input", stateIn)) ||
                 failed(check(ir::resultNames(function), "output", stateOut)));
}

LogicalResult checkFunction(func::FuncOp function) {
  if (!isa_and_nonnull<ModuleOp>(function->getParentOp()) || function->getParentOp()->getParentOp())
    return function.emitOpError("stands within another operation, expected in the module itself");
  if (function.isExternal()) return function.emitOpError("has no body; there is nothing to link it with");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("has ") << function.getBody().getBlocks().size() << " blocks, expected one";
  for (Type type : function.getResultTypes())
    if (std::string why = distrust(type); !why.empty())
      return function.emitOpError("gives a value of type ") << type << ": " << why;
  return checkNames(function);
}

// Which rank a program is of, and what all ranks' programs leave to that.
LogicalResult checkRanks(func::FuncOp function) {
  namespace dist = ir::dist;
  bool hasMesh = function->hasAttr(dist::kMeshAttr);
  auto result = function.walk([&](Operation *op) {
    if (!dist::collectiveUse(op)) return WalkResult::advance();
    hasMesh = true;
    return failed(dist::verifyEvenParts(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted()) return failure();
  auto rank = function->getAttrOfType<IntegerAttr>(dist::kRankAttr);
  bool hasPieces = false;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) hasPieces |= bool(function.getArgAttr(i, dist::kPieceAttr));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    hasPieces |= bool(function.getResultAttr(i, dist::kPieceAttr));
  if (hasPieces && (!rank || !hasMesh))
    return function.emitOpError("has '") << dist::kPieceAttr << "' and is not the program of one rank of a mesh: '"
                                         << dist::kRankAttr << "' and '" << dist::kMeshAttr << "' say which";
  if (hasMesh || !rank || rank.getInt() == 0) return success();
  return function.emitOpError("is of rank ")
         << rank.getInt() << ", and neither '" << dist::kMeshAttr << "' nor a collective in it says of which mesh";
}

LogicalResult checkDepth(Operation *op, AttributeDepth &depth) {
  if (!depth.isWithin(op->getLoc())) {
    op->setLoc(UnknownLoc::get(op->getContext())); // the message prints it
    return op->emitOpError("has a location that is nested more than ") << kMostAttributeDepth << " deep";
  }
  for (NamedAttribute attribute : op->getAttrs())
    if (!depth.isWithin(attribute.getValue()))
      return op->emitOpError("has an attribute '")
             << attribute.getName().getValue() << "' that is nested more than " << kMostAttributeDepth << " deep";
  return success();
}

LogicalResult checkTypes(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    std::string reason;
    if (auto elements = dyn_cast<ElementsAttr>(attribute.getValue());
        elements && !ir::isReadableConstant(elements, reason))
      return op->emitOpError("has an attribute '") << attribute.getName().getValue() << "' that " << reason;
  }
  for (Value result : op->getResults())
    if (std::string why = distrust(result.getType()); !why.empty())
      return op->emitOpError("has a result of type ") << result.getType() << ": " << why;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (std::string why = distrust(argument.getType()); !why.empty())
          return op->emitOpError("takes a value of type ") << argument.getType() << ": " << why;
  return success();
}

// Passes change what shardings are about and do not keep them.
LogicalResult checkUnsharded(Operation *op) {
  namespace dist = ir::dist;
  bool states = isa<dist::ShardOp>(op) || op->hasAttr(dist::kShardingAttr) || op->hasAttr(dist::kShardingsAttr);
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      states |= bool(function.getArgAttr(i, dist::kShardingAttr));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      states |= bool(function.getResultAttr(i, dist::kShardingAttr));
  }
  if (!states) return success();
  return op->emitOpError("states a sharding, and what is compiled is the program of one rank, which 'sprig-opt "
                         "--sprig-propagate-shardings --sprig-partition' makes");
}

} // namespace

LogicalResult sprig::checkProgram(ModuleOp module) {
  AttributeDepth depth;
  auto check = [&](Operation *op) -> LogicalResult {
    if (failed(checkDepth(op, depth)) || failed(checkTypes(op))) return failure();
    if (isa<ModuleOp>(op) && op != module) return op->emitOpError("stands within another module, expected one alone");
    auto function = dyn_cast<func::FuncOp>(op);
    return function ? checkFunction(function) : success();
  };
  auto result = module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return failure(result.wasInterrupted());
}

LogicalResult sprig::checkProgramAt(ModuleOp module, const Phase &phase) {
  if (failed(checkProgram(module))) return failure();
  auto sharded = module.walk<WalkOrder::PreOrder>(
      [](Operation *op) { return failed(checkUnsharded(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (sharded.wasInterrupted()) return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkRanks(function))) return failure();
  llvm::DenseSet<OperationName> reported;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (phase.allows(op) || !reported.insert(op->getName()).second) return;
    auto diagnostic = op->emitOpError("cannot stand in a program ");
    if (phase.name == phases().front().name)
      diagnostic << "that is given: expected functions of nn operations";
    else
      diagnostic << "as it is after phase '" << phase.name << "'";
  });
  if (!reported.empty()) return failure();
  bool hasEntry = !module.getOps<exec::ProgramOp>().empty() ||
                  llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isPrivate(); });
  return hasEntry ? success() : module.emitError("has no entry: expected a func.func that is not private");
}
