#include "test/gpu/mutation/Mutants.h"
#include "test/gpu/ptx/Parser.h"
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>

using namespace sprig;
using namespace sprig::gpu;

namespace {

// An instruction as words: `@%p1 add.rn.f32 %r1, %r2, %r3`.
struct Words {
  std::string guard, head;
  std::vector<std::string> operands;

  std::string text() const {
    std::string result = (guard.empty() ? "" : guard + " ") + head;
    for (size_t i = 0; i < operands.size(); ++i) result += (i ? ", " : " ") + operands[i];
    return result;
  }
};

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::optional<Words> wordsOf(const std::string &line) {
  std::string text = trimmed(line);
  if (text.empty() || text.back() != ';' || text[0] == '.' || text[0] == '/') return std::nullopt;
  text.pop_back();
  Words words;
  auto word = [&] {
    size_t end = std::min(text.find_first_of(" \t"), text.size());
    std::string result = text.substr(0, end);
    text = trimmed(std::string_view(text).substr(end));
    return result;
  };
  if (text[0] == '@') words.guard = word();
  words.head = word();
  int depth = 0;
  std::string operand;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == ',' && depth == 0)
      words.operands.push_back(trimmed(std::exchange(operand, "")));
    else
      operand += c;
  }
  if (!trimmed(operand).empty()) words.operands.push_back(trimmed(operand));
  return words;
}

std::vector<std::string> partsOf(const std::string &head) {
  std::vector<std::string> parts;
  std::istringstream stream(head);
  for (std::string part; std::getline(stream, part, '.');) parts.push_back(part);
  return parts;
}

std::string joined(const std::vector<std::string> &parts) {
  std::string head;
  for (const std::string &part : parts) head += (head.empty() ? "" : ".") + part;
  return head;
}

std::optional<int64_t> integerOf(const std::string &text) {
  int64_t value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

unsigned bytesOf(const std::string &type) {
  ptx::Type parsed;
  return ptx::parseType(type, parsed) ? std::max(parsed.bytes(), 1u) : 1;
}

// The faults of one instruction.
class Faults {
public:
  explicit Faults(Words words) : words(std::move(words)), parts(partsOf(this->words.head)) {
    leaveOut();
    turn();
    replace();
    exchange();
    raiseIntegers();
    moveAddress();
  }
  std::vector<std::string> all; // empty: the instruction is left out

private:
  const std::string &opcode() const { return parts.front(); }
  void add(const Words &changed) { all.push_back(changed.text()); }
  void addHead(const std::vector<std::string> &changed) {
    Words copy = words;
    copy.head = joined(changed);
    add(copy);
  }

  void leaveOut() {
    static const std::set<std::string> mayGo = {"bar", "barrier", "st", "red", "membar", "fence", "cp"};
    if (mayGo.contains(opcode())) all.push_back("");
  }

  // What decides which way to go.
  void turn() {
    if (opcode() == "bra" && !words.guard.empty()) {
      Words copy = words;
      copy.guard = words.guard[1] == '!' ? "@" + words.guard.substr(2) : "@!" + words.guard.substr(1);
      add(copy);
    }
    if (opcode() != "setp" && opcode() != "set") return;
    // The border belongs to the other side; equal is unequal.
    static const std::map<std::string, std::string> other = {
        {"lt", "le"},   {"le", "lt"},   {"gt", "ge"},   {"ge", "gt"},   {"lo", "ls"},   {"ls", "lo"},
        {"hi", "hs"},   {"hs", "hi"},   {"eq", "ne"},   {"ne", "eq"},   {"ltu", "leu"}, {"leu", "ltu"},
        {"gtu", "geu"}, {"geu", "gtu"}, {"equ", "neu"}, {"neu", "equ"}, {"num", "nan"}, {"nan", "num"}};
    auto changed = parts;
    changed[1] = other.at(parts[1]);
    addHead(changed);
  }

  void replace() {
    static const std::map<std::string, std::string> neighbour = {
        {"add", "sub"}, {"sub", "add"}, {"min", "max"}, {"max", "min"}, {"and", "or"},  {"or", "and"},  {"xor", "or"},
        {"shl", "shr"}, {"shr", "shl"}, {"div", "mul"}, {"rem", "div"}, {"abs", "neg"}, {"neg", "abs"}, {"not", "mov"}};
    auto found = neighbour.find(opcode());
    bool isFloat = parts.back() == "f32" || parts.back() == "f64" || parts.back() == "f16" || parts.back() == "bf16";
    auto changed = parts;
    if (opcode() == "mul" && isFloat) {
      changed[0] = "add";
    } else if (found == neighbour.end()) {
      return;
    } else {
      changed[0] = found->second;
      if (opcode() == "shl") changed.back()[0] = 'u';
      if (opcode() == "shr") changed.back()[0] = 'b';
      if (opcode() == "div" && !isFloat) changed.insert(changed.begin() + 1, "lo");
      // Logic of predicates alone has no subtraction to stand in for it; no carry and packed forms are known.
      if (std::find(parts.begin(), parts.end(), "cc") != parts.end()) return;
    }
    addHead(changed);
  }

  void exchange() {
    bool isSelection = opcode() == "selp", isDifference = opcode() == "sub" || opcode() == "div" || opcode() == "rem";
    if ((!isSelection && !isDifference) || words.operands.size() < 3) return;
    Words copy = words;
    std::swap(copy.operands[1], copy.operands[2]);
    add(copy);
  }

  // The last integer that the instruction names; of a shuffle its distance.
  void raiseIntegers() {
    static const std::set<std::string> counts = {"add", "sub", "mul",  "mad", "div",  "rem", "and",
                                                 "or",  "xor", "setp", "mov", "selp", "shl", "shr"};
    Words copy = words;
    if (opcode() == "shfl") {
      if (auto distance = integerOf(words.operands[2])) {
        copy.operands[2] = std::to_string(*distance / 2);
        add(copy);
      }
      return;
    }
    if (!counts.contains(opcode())) return;
    for (size_t i = words.operands.size(); i-- > 1;)
      if (auto value = integerOf(words.operands[i])) {
        copy.operands[i] = std::to_string(*value + 1);
        return add(copy);
      }
  }

  void moveAddress() {
    static const std::set<std::string> accesses = {"ld", "st", "atom", "red"};
    if (!accesses.contains(opcode()) || (parts.size() > 1 && parts[1] == "param")) return;
    for (std::string &operand : words.operands) {
      if (operand.front() != '[') continue;
      Words copy = words;
      std::string &address = copy.operands[&operand - words.operands.data()];
      std::string inside = operand.substr(1, operand.size() - 2);
      size_t plus = inside.find('+');
      int64_t offset = plus == std::string::npos ? 0 : integerOf(inside.substr(plus + 1)).value_or(0);
      address = "[" + inside.substr(0, plus) + "+" + std::to_string(offset + int64_t(bytesOf(parts.back()))) + "]";
      add(copy);
    }
  }

  Words words;
  std::vector<std::string> parts;
};

} // namespace

std::string Mutant::name() const {
  std::string text = was + " -> " + (is.empty() ? "(nothing)" : is), result;
  bool inRegister = false;
  for (char c : text) {
    if (c == '%') inRegister = true;
    if (inRegister && std::isdigit(static_cast<unsigned char>(c))) continue;
    if (c != '%' && !std::isalpha(static_cast<unsigned char>(c))) inRegister = false;
    result += c;
  }
  return result;
}

std::vector<Mutant> sprig::gpu::mutantsOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::vector<Mutant> mutants;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::optional<Words> words = wordsOf(lines[i]);
    if (!words) continue;
    for (const std::string &fault : Faults(*words).all) {
      Mutant mutant{unsigned(i + 1), words->text(), fault, ""};
      for (size_t l = 0; l < lines.size(); ++l) {
        if (l != i)
          mutant.text += lines[l];
        else if (!fault.empty())
          mutant.text += "\t" + fault + ";";
        mutant.text += '\n';
      }
      mutants.push_back(std::move(mutant));
    }
  }
  return mutants;
}
