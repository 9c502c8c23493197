#include "lib/Model/StatePorts.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/NNState.h"
#include "sprig/error.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>

using namespace mlir;
using namespace sprig;

namespace {
using Pair = std::pair<std::string, std::string>;

/// What a pattern with at most one `*` leaves of a name for it; nothing where it does not fit.
std::optional<StringRef> matchOf(StringRef pattern, StringRef name) {
  size_t star = pattern.find('*');
  if (star == StringRef::npos) return pattern == name ? std::optional<StringRef>("") : std::nullopt;
  StringRef before = pattern.take_front(star), behind = pattern.drop_front(star + 1);
  if (name.size() + 1 < pattern.size() || !name.starts_with(before) || !name.ends_with(behind)) return std::nullopt;
  return name.drop_front(before.size()).drop_back(behind.size());
}

std::string filled(StringRef pattern, StringRef text) {
  size_t star = pattern.find('*');
  if (star == StringRef::npos) return pattern.str();
  return (pattern.take_front(star) + text + pattern.drop_front(star + 1)).str();
}

class StateMarker {
public:
  StateMarker(ModuleOp module, bool grows) : module(module), grows(grows) {}

  void mark(func::FuncOp function, const Pair &pair) {
    bool isThere = false;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      std::string input = nameOf(function.getArgAttrOfType<StringAttr>(i, ir::kNameAttr), "input", i);
      std::optional<StringRef> text = matchOf(pair.first, input);
      if (!text) continue;
      isThere = true;
      markPort(function, pair, input, i, filled(pair.second, *text));
    }
    if (!isThere) fail(pair, "the model has no input '" + pair.first + "'");
  }

  void addParameters() {
    SymbolTable symbols(module);
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    for (auto &[name, type] : types) {
      if (symbols.lookup(name))
        throw Error(ErrorKind::usage, "state '" + name + "': the model has a parameter or an entry of that name");
      ir::ParamOp::create(b, module.getLoc(), name, ir::makeSplat(type, 0), /*sym_visibility=*/StringAttr());
    }
  }

private:
  [[noreturn]] static void fail(const Pair &pair, const std::string &what) {
    throw Error(ErrorKind::usage, "state " + pair.first + "=" + pair.second + ": " + what);
  }

  static std::string nameOf(StringAttr name, const char *what, unsigned index) {
    return name ? name.str() : what + std::to_string(index);
  }

  void markPort(func::FuncOp function, const Pair &pair, const std::string &input, unsigned argument,
                const std::string &output) {
    auto symbol = FlatSymbolRefAttr::get(module.getContext(), input);
    if (function.getArgAttr(argument, ir::kStateAttr)) fail(pair, "input '" + input + "' is a state already");
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      if (nameOf(function.getResultAttrOfType<StringAttr>(i, ir::kNameAttr), "output", i) != output) continue;
      if (function.getResultAttr(i, ir::kStateAttr)) fail(pair, "output '" + output + "' is a state already");
      join(pair, input, function.getArgumentTypes()[argument], output, function.getResultTypes()[i]);
      function.setArgAttr(argument, ir::kStateAttr, symbol);
      function.setResultAttr(i, ir::kStateAttr, symbol);
      return;
    }
    fail(pair, "the model has no output '" + output + "', which input '" + input + "' would be of the call before");
  }

  /// The state's type takes both.
  void join(const Pair &pair, const std::string &input, Type read, const std::string &output, Type written) {
    auto from = cast<RankedTensorType>(read), to = cast<RankedTensorType>(written);
    auto differ = [&](const std::string &what) {
      fail(pair, "input '" + input + "' is " + ir::describe(read) + ", output '" + output + "' " +
                     ir::describe(written) + what);
    };
    if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank())
      differ(": expected tensors of one type");
    if (from != to && !grows)
      differ("; what grows from call to call takes a range of lengths, as --dim past=0..127 (ranges)");
    SmallVector<int64_t> sizes;
    auto &all = types.try_emplace(input, to).first->second;
    unsigned differing = 0;
    for (auto [a, b, c] : llvm::zip_equal(from.getShape(), to.getShape(), all.getShape())) {
      sizes.push_back(std::max({a, b, c}));
      differing += a != b;
    }
    if (differing > 1) differ(": expected one dimension that grows");
    all = RankedTensorType::get(sizes, to.getElementType());
  }

  ModuleOp module;
  bool grows;
  std::map<std::string, RankedTensorType> types; // by the input's name, which the parameter has too
};
} // namespace

void sprig::markStates(ModuleOp module, const std::vector<Pair> &states, bool grows) {
  if (states.empty()) return;
  auto functions = module.getOps<func::FuncOp>();
  grows |= llvm::any_of(functions, [](func::FuncOp function) { return function->hasAttr(ir::kLengthsAttr); });
  StateMarker marker(module, grows);
  for (const Pair &pair : states)
    if (StringRef(pair.first).count('*') > 1 || StringRef(pair.first).count('*') != StringRef(pair.second).count('*'))
      throw Error(ErrorKind::usage,
                  "state " + pair.first + "=" + pair.second + ": expected one '*' in both names, or none");
  for (func::FuncOp function : functions)
    for (const Pair &pair : states) marker.mark(function, pair);
  marker.addParameters();
}
