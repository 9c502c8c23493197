#include "test/gpu/ptx/ParserState.h"
#include <bit>
#include <cstring>

using namespace sprig::ptx;

bool Parser::isSpace(const Token &token, Space &space) {
  static const std::pair<const char *, Space> spaces[] = {{".global", Space::Global},
                                                          {".shared", Space::Shared},
                                                          {".local", Space::Local},
                                                          {".const", Space::Const},
                                                          {".param", Space::Param}};
  for (auto &[name, value] : spaces)
    if (token.is(name)) return space = value, true;
  return false;
}

// What follows the space: .align 4 .b8 name[16] = {...}; the list of a function's parameters is written alike, without
// `;`.
Variable Parser::variable(Space space) {
  Variable result;
  result.space = space;
  result.line = peek().line;
  bool hasType = false, isAligned = false;
  unsigned vector = 1;
  while (peek().form == Token::Form::Word && peek().text[0] == '.') {
    std::string name = word("a type");
    Space pointee;
    if (name == ".align") {
      result.alignment = unsigned(integer("an alignment"));
      isAligned = true;
    } else if (name == ".v2" || name == ".v4") {
      vector = unsigned(name[2] - '0');
    } else if (name == ".ptr") {
      // What a pointer parameter points to: a hint.
      if (isSpace(peek(), pointee)) take();
      if (accept(".align")) integer("an alignment");
    } else if (parseType(name.substr(1), result.type)) {
      hasType = true;
    } else {
      fail("expected a type, got '" + name + "'");
    }
  }
  if (!hasType) fail("expected a type, " + got());
  result.name = word("a variable's name");
  result.size = uint64_t(result.type.bytes()) * vector;
  if (!isAligned) result.alignment = unsigned(result.size);
  if (!std::has_single_bit(result.alignment)) fail("the alignment of '" + result.name + "' is no power of two");
  bool isUnsized = false;
  while (accept("[")) {
    if (accept("]")) {
      isUnsized = true;
      continue;
    }
    result.size *= integer("a number of elements");
    expect("]", "behind a number of elements");
  }
  if (accept("=")) {
    initialiser(result);
    if (isUnsized) result.size = result.bytes.size();
    if (result.bytes.size() > result.size) fail("'" + result.name + "' has more initial values than elements");
  } else if (isUnsized) {
    if (space != Space::Shared) fail("'" + result.name + "' has no size");
    result.isDynamic = true;
    result.size = 0;
  }
  if (space != Space::Param || current) expect(";", "behind a variable");
  return result;
}

void Parser::initialiser(Variable &variable) {
  if (!accept("{")) return appendInitial(variable);
  while (!accept("}")) {
    initialiser(variable);
    if (!accept(",") && !peek().is("}"))
      fail("expected ',' or '}' in the initial values of '" + variable.name + "', " + got());
  }
}

void Parser::appendInitial(Variable &variable) {
  uint64_t value = 0;
  unsigned bytes = variable.type.bytes();
  if (peek().form == Token::Form::Word) {
    std::string symbol = word("a symbol");
    bool isGeneric = symbol == "generic" && accept("(");
    if (isGeneric) symbol = word("a symbol");
    if (isGeneric) expect(")", "behind a symbol");
    int64_t addend = 0;
    if (accept("+")) addend = int64_t(integer("an offset"));
    if (bytes != 8) fail("an address in a variable of " + std::to_string(bytes) + " bytes");
    variable.pointers.push_back({variable.bytes.size(), symbol, addend});
  } else {
    bool isNegative = accept("-");
    if (peek().form != Token::Form::Number) fail("expected an initial value of '" + variable.name + "', " + got());
    Operand operand = number();
    value = operand.value;
    bool isInteger = operand.form == Operand::Form::Integer;
    if (isInteger && variable.type.isFloat()) {
      double real = double(value);
      std::memcpy(&value, &real, 8);
      operand.form = Operand::Form::Float64, isInteger = false;
    }
    if (operand.form == Operand::Form::Float64 && bytes == 4) {
      double real;
      std::memcpy(&real, &value, 8);
      value = std::bit_cast<uint32_t>(float(real));
    }
    if (isNegative) value = isInteger ? -value : value ^ uint64_t(1) << (bytes * 8 - 1);
  }
  for (unsigned i = 0; i < bytes; ++i) variable.bytes.push_back(uint8_t(i < 8 ? value >> (8 * i) : 0));
}
