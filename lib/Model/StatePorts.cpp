#include "lib/Model/StatePorts.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/PortNames.h"
#include "sprig/error.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <set>

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

/// What one function reads and writes of a state.
struct Turn {
  func::FuncOp function;
  RankedTensorType read, written;
};

/// An input and an output of all functions.
struct State {
  Pair pair; // as it was given
  std::string input, output;
  std::vector<Turn> turns;
};

class StateMarker {
public:
  explicit StateMarker(ModuleOp module) : module(module) {}

  void mark(func::FuncOp function, const Pair &pair) {
    bool isThere = false;
    for (auto [i, input] : llvm::enumerate(ir::argumentNames(function))) {
      std::optional<StringRef> text = matchOf(pair.first, input);
      if (!text) continue;
      isThere = true;
      markPort(function, pair, input, unsigned(i), filled(pair.second, *text));
    }
    if (!isThere) fail(pair, "the model has no input '" + pair.first + "'");
  }

  void addParameters() {
    SymbolTable symbols(module);
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    for (auto &[name, state] : states) {
      RankedTensorType type = typeOf(state);
      if (symbols.lookup(name)) fail(state.pair, "the model has a parameter or an entry that is called '" + name + "'");
      ir::ParamOp::create(b, module.getLoc(), name, ir::makeSplat(type, 0), /*sym_visibility=*/StringAttr());
    }
  }

private:
  [[noreturn]] static void fail(const Pair &pair, const std::string &what) {
    badUse("state " + pair.first + "=" + pair.second + ": " + what);
  }

  void markPort(func::FuncOp function, const Pair &pair, const std::string &input, unsigned argument,
                const std::string &output) {
    auto symbol = FlatSymbolRefAttr::get(module.getContext(), input);
    if (function.getArgAttr(argument, ir::kStateAttr)) fail(pair, "input '" + input + "' is a state already");
    std::vector<std::string> outputs = ir::resultNames(function);
    auto result = unsigned(llvm::find(outputs, output) - outputs.begin());
    if (result == outputs.size())
      fail(pair, "the model has no output '" + output + "', which input '" + input + "' would be of the call before");
    if (function.getResultAttr(result, ir::kStateAttr)) fail(pair, "output '" + output + "' is a state already");
    states.try_emplace(input, State{pair, input, output, {}})
        .first->second.turns.push_back({function, cast<RankedTensorType>(function.getArgumentTypes()[argument]),
                                        cast<RankedTensorType>(function.getResultTypes()[result])});
    function.setArgAttr(argument, ir::kStateAttr, symbol);
    function.setResultAttr(result, ir::kStateAttr, symbol);
  }

  [[noreturn]] static void refuse(const State &state, const Turn &turn, const std::string &what) {
    fail(state.pair, "input '" + state.input + "' is " + ir::describe(turn.read) + ", output '" + state.output + "' " +
                         ir::describe(turn.written) + what);
  }

  /// The one dimension in which what is written is longer than what was read.
  static std::optional<size_t> growingDim(const State &state) {
    std::optional<size_t> growing;
    for (const Turn &turn : state.turns) {
      if (turn.read.getElementType() != turn.written.getElementType() || turn.read.getRank() != turn.written.getRank())
        refuse(state, turn, ": expected tensors of one type");
      for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(turn.read.getShape(), turn.written.getShape()))) {
        auto [before, after] = sizes;
        if (before == after) continue;
        if (after < before || growing.value_or(dim) != dim) refuse(state, turn, ": expected one dimension that grows");
        growing = dim;
      }
    }
    return growing;
  }

  /// Of the longest that is written; all functions have the same but for what grows.
  RankedTensorType typeOf(const State &state) const {
    std::optional<size_t> growing = growingDim(state);
    RankedTensorType type = state.turns.front().written;
    std::set<int64_t> before;
    for (const Turn &turn : state.turns) {
      bool isAlike = turn.written.getElementType() == type.getElementType() && turn.written.getRank() == type.getRank();
      for (int64_t dim = 0; isAlike && dim < type.getRank(); ++dim)
        isAlike = turn.written.getDimSize(dim) == type.getDimSize(dim) || (growing && size_t(dim) == *growing);
      if (!isAlike)
        refuse(state, turn, " in one entry, and " + ir::describe(type) + " in another, which have one state");
      if (!growing) continue;
      before.insert(turn.read.getDimSize(*growing));
      if (turn.written.getDimSize(*growing) > type.getDimSize(*growing)) type = turn.written;
    }
    if (!growing) return type;
    if (before.size() == 1)
      refuse(state, state.turns.front(),
             "; what grows from call to call takes a range of lengths, as --dim past=0..127 (ranges)");
    requireTold(state, *growing);
    return type;
  }

  /// Entries are chosen by what calls give: where that is the same, the states have to be.
  static void requireTold(const State &state, size_t growing) {
    std::map<std::vector<const void *>, int64_t> sizes;
    for (const Turn &turn : state.turns) {
      func::FuncOp function = turn.function;
      std::vector<const void *> given;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (!function.getArgAttr(i, ir::kStateAttr))
          given.push_back(function.getArgumentTypes()[i].getAsOpaquePointer());
      int64_t size = turn.read.getDimSize(growing);
      if (sizes.try_emplace(std::move(given), size).first->second != size)
        fail(state.pair, "no input but the states is of another size with '" + state.input +
                             "', so that nothing tells how much of it is there");
    }
  }

  ModuleOp module;
  std::map<std::string, State> states; // by the input's name, which the parameter has too
};
} // namespace

void sprig::markStates(ModuleOp module, const std::vector<Pair> &states, const std::string &compileFrom) {
  if (states.empty()) return;
  if (!compileFrom.empty() && compileFrom != "import" && compileFrom != "canonicalize")
    badUse("state " + states.front().first + "=" + states.front().second + ": what phase '" + compileFrom +
           "' begins with has its states already");
  for (const Pair &pair : states)
    if (StringRef(pair.first).count('*') > 1 || StringRef(pair.first).count('*') != StringRef(pair.second).count('*'))
      badUse("state " + pair.first + "=" + pair.second + ": expected one '*' in both names, or none");
  StateMarker marker(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    ir::keepPortNames(function);
    for (const Pair &pair : states) marker.mark(function, pair);
  }
  marker.addParameters();
}
