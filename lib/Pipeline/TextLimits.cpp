#include "lib/Pipeline/TextLimits.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "sprig/error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <algorithm>
#include <vector>

using namespace sprig;
using llvm::StringRef;

namespace {

constexpr int64_t kMostDepth = 256;
constexpr uint64_t kLeastExpansion = 256 << 20; // bytes that aliases may stand for in any text
constexpr uint64_t kExpansion = 64;             // and in proportion to it
constexpr uint64_t kMostResults = 65535;        // the parser makes room for all below
constexpr size_t kMostAffine = 4096;            // a sum nests once for each operator, without a bracket

// Walks over text as the lexer does: strings and comments are one piece, and brackets in them count for nothing.
class NestingScan {
public:
  NestingScan(StringRef text, StringRef name) : text(text), name(name) {}

  void run() {
    while (at < text.size()) step();
    open.clear();
    endAffine();
  }

private:
  struct Alias {
    int64_t depth = 0;  // of brackets, those of the aliases in it included
    uint64_t bytes = 0; // with its aliases written out
  };

  StringRef text, name;
  size_t at = 0;
  std::vector<size_t> open;                      // where the brackets around this place are
  std::vector<std::pair<size_t, size_t>> affine; // depth and place of the affine maps and sets around it
  llvm::StringMap<Alias> aliases;
  std::string defining;     // the alias whose value this is
  size_t start = 0;         // of that value
  bool expectsMore = false; // whether the value goes on after what was read last
  Alias value;
  StringRef last, beforeLast; // words and signs before this place

  void note(StringRef token) {
    beforeLast = last;
    last = token;
  }

  [[noreturn]] void fail(size_t place, const std::string &what) const {
    StringRef before = text.take_front(place);
    size_t line = before.count('\n') + 1, column = place - (before.rfind('\n') + 1) + 1;
    badInput(name.str() + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what);
  }

  bool has(StringRef word) const { return text.substr(at).starts_with(word); }

  void reach(int64_t depth) {
    value.depth = std::max(value.depth, depth);
    if (depth > kMostDepth)
      fail(at, "brackets, regions, attributes or types are nested more than " + std::to_string(kMostDepth) + " deep");
  }

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\') ++at;
    ++at;
  }

  void step() {
    char c = text[at];
    if (has("//")) {
      at = std::min(text.find('\n', at), text.size());
      return;
    }
    if (llvm::isSpace(c)) {
      ++at;
      return;
    }
    bool begins = open.empty() && !expectsMore && isFirstOfLine();
    if (begins && (c == '"' || c == '%' || c == '_' || llvm::isAlpha(c))) endAlias(); // an operation
    expectsMore = c == ':' || c == '=' || c == ',' || has("->");
    if (llvm::isAlpha(c) || c == '_') return word();
    note(text.substr(at, 1));
    if (c == '"') return skipString();
    if (has("->") || has(">=") || has("<=")) { // these are no brackets
      at += 2;
      return;
    }
    if (StringRef("([{<").contains(c)) return enter();
    if (StringRef(")]}>").contains(c)) return leave();
    if (c == '#' || c == '!') return reference();
    ++at;
  }

  void enter() {
    open.push_back(at);
    reach(int64_t(open.size()));
    ++at;
  }

  void leave() {
    if (!open.empty()) open.pop_back();
    endAffine();
    ++at;
  }

  void endAffine() {
    for (; !affine.empty() && affine.back().first > open.size(); affine.pop_back())
      if (at - affine.back().second > kMostAffine)
        fail(affine.back().second, "an affine map or set has more than " + std::to_string(kMostAffine) + " characters");
  }

  bool isFirstOfLine() const {
    StringRef before = text.take_front(at).rtrim(" \t");
    return before.empty() || before.ends_with("\n");
  }

  StringRef identifier(StringRef punctuation) const {
    return text.substr(at).take_while([&](char c) { return llvm::isAlnum(c) || punctuation.contains(c); });
  }

  void word() {
    StringRef name = identifier("_$.");
    if (name == "index" && last == "<" && beforeLast == "array")
      fail(at, "an array of index; its elements are integers or floats");
    note(name);
    at += name.size();
    if ((name == "affine_map" || name == "affine_set") && text.substr(at).ltrim().starts_with("<"))
      affine.emplace_back(open.size() + 1, at);
  }

  // An alias: where it is defined, else where it is used. After a value, the number of a result.
  void reference() {
    bool first = open.empty() && isFirstOfLine();
    char kind = text[at++];
    if (StringRef number = text.substr(at).take_while(llvm::isDigit); kind == '#' && !number.empty()) {
      if (uint64_t result = 0; number.getAsInteger(10, result) || result > kMostResults)
        fail(at, "the number of a result is above " + std::to_string(kMostResults));
    }
    std::string name = (StringRef(&kind, 1) + identifier("_$.-")).str();
    at += name.size() - 1;
    StringRef behind = text.substr(at).ltrim();
    if (first && behind.starts_with("=") && !behind.starts_with("==")) {
      endAlias();
      defining = name;
      start = at;
      return;
    }
    auto found = aliases.find(name);
    if (found == aliases.end()) return;
    reach(int64_t(open.size()) + found->second.depth);
    value.bytes = llvm::SaturatingAdd(value.bytes, found->second.bytes);
    if (value.bytes > std::max<uint64_t>(kLeastExpansion, kExpansion * text.size()))
      fail(at, "the aliases up to here stand for more than " + std::to_string(value.bytes) + " bytes");
  }

  void endAlias() {
    if (!defining.empty()) {
      value.bytes = llvm::SaturatingAdd(value.bytes, uint64_t(at - start));
      aliases[defining] = value;
    }
    defining.clear();
    value = {};
  }
};

} // namespace

void sprig::checkNesting(StringRef text, StringRef name) {
  if (!mlir::isBytecode(llvm::MemoryBufferRef(text, name))) NestingScan(text, name).run();
}
