#include "test/gpu/ptx/Parser.h"
#include "test/gpu/ptx/ParserState.h"
#include <cstdlib>
#include <cstring>

using namespace sprig::ptx;

Module sprig::ptx::parse(std::string_view text, const std::string &file) { return Parser(text, file).run(); }

Parser::Parser(std::string_view text, const std::string &file) : tokens(lex(text, file)), file(file) {
  module.file = file;
}

void Parser::fail(const std::string &what, unsigned line) const {
  throw PtxError(file + ":" + std::to_string(line) + ": " + what);
}
std::string Parser::got() const { return "got '" + std::string(peek().text) + "'"; }

bool Parser::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}
void Parser::expect(std::string_view text, const char *where) {
  if (!accept(text)) fail("expected '" + std::string(text) + "' " + where + ", " + got());
}
std::string Parser::word(const char *what) {
  if (peek().form != Token::Form::Word) fail(std::string("expected ") + what + ", " + got());
  return std::string(take().text);
}
uint64_t Parser::integer(const char *what) {
  bool isNegative = accept("-");
  std::string text = got();
  Operand value;
  value.form = Operand::Form::Sink;
  if (peek().form == Token::Form::Number) value = number();
  if (value.form != Operand::Form::Integer) fail(std::string("expected ") + what + ", " + text);
  return isNegative ? -value.value : value.value;
}

Operand Parser::number() {
  Token token = take();
  std::string text(token.text);
  Operand result;
  char *end = nullptr;
  char second = text.size() > 1 ? text[1] : 0;
  if (text[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    bool isDouble = second == 'd' || second == 'D';
    result.form = isDouble ? Operand::Form::Float64 : Operand::Form::Float32;
    if (text.size() != (isDouble ? 18u : 10u)) fail("'" + text + "' has not the digits of its type", token.line);
    result.value = std::strtoull(text.c_str() + 2, &end, 16);
  } else if (text.find_first_of(".eE") != text.npos && second != 'x' && second != 'X') {
    result.form = Operand::Form::Float64;
    double value = std::strtod(text.c_str(), &end);
    std::memcpy(&result.value, &value, 8);
  } else {
    bool isBinary = second == 'b' || second == 'B';
    result.value = std::strtoull(text.c_str() + (isBinary ? 2 : 0), &end, isBinary ? 2 : 0);
    if (*end == 'U') ++end;
  }
  if (*end) fail("'" + text + "' is not a number", token.line);
  return result;
}

void Parser::skipLine() {
  for (unsigned line = peek().line; peek().line == line && peek().form != Token::Form::End;) take();
}
void Parser::skipBraces() {
  expect("{", "around a section");
  for (unsigned depth = 1; depth;) {
    if (peek().form == Token::Form::End) fail("expected '}' at a section's end, " + got());
    Token token = take();
    depth += token.is("{");
    depth -= token.is("}");
  }
}

Module Parser::run() {
  while (peek().form != Token::Form::End) topLevel();
  if (module.target.empty()) fail("expected a .target, the text has none");
  return std::move(module);
}

void Parser::topLevel() {
  Token first = peek();
  if (accept(".version")) {
    module.version = take().text;
  } else if (accept(".target")) {
    module.target = word("an architecture");
    while (accept(",")) word("an option of .target");
  } else if (accept(".address_size")) {
    module.addressBits = unsigned(integer("a number of bits"));
    if (module.addressBits != 64)
      fail("addresses of " + std::to_string(module.addressBits) + " bits are not known here, only of 64", first.line);
  } else if (first.is(".file")) {
    skipLine();
  } else if (accept(".section")) {
    word("a section's name");
    skipBraces();
  } else if (accept(".pragma")) {
    take();
    expect(";", "behind a .pragma");
  } else {
    bool isDeclaration = false;
    while (peek().is(".visible") || peek().is(".extern") || peek().is(".weak") || peek().is(".common"))
      isDeclaration |= take().is(".extern");
    Space space;
    if (accept(".entry")) {
      function(true, isDeclaration);
    } else if (accept(".func")) {
      function(false, isDeclaration);
    } else if (isSpace(peek(), space)) {
      take();
      Variable result = variable(space);
      result.isDeclaration = isDeclaration && space != Space::Shared;
      module.variables.push_back(std::move(result));
    } else {
      fail("expected .entry, .func or a variable, " + got());
    }
  }
}

std::vector<Variable> Parser::parameterList() {
  std::vector<Variable> result;
  if (!accept("(")) return result;
  while (!accept(")")) {
    if (accept(".reg")) fail("parameters in registers (.reg) are not known here");
    expect(".param", "in front of a parameter");
    result.push_back(variable(Space::Param));
    if (!accept(",") && !peek().is(")")) fail("expected ',' or ')' behind a parameter, " + got());
  }
  return result;
}

void Parser::function(bool isEntry, bool isDeclaration) {
  Function result;
  result.line = peek().line;
  result.isEntry = isEntry;
  if (!isEntry) result.results = parameterList();
  result.name = word("a function's name");
  result.parameters = parameterList();
  directives(result);
  functionNames.insert(result.name);
  if (accept(";")) {
    result.isDeclaration = true;
  } else if (isDeclaration) {
    fail("expected ';' behind the declaration of '" + result.name + "', " + got());
  } else {
    body(result);
  }
  module.functions.push_back(std::move(result));
}

void Parser::directives(Function &function) {
  while (peek().form == Token::Form::Word) {
    unsigned line = peek().line;
    std::string name = word("a directive");
    auto dimensions = [&](uint32_t (&values)[3]) {
      for (unsigned i = 0; i < 3; ++i) values[i] = i == 0 || accept(",") ? uint32_t(integer("a number of threads")) : 1;
    };
    if (name == ".maxntid") {
      dimensions(function.maxThreads);
    } else if (name == ".reqntid") {
      dimensions(function.requiredThreads);
    } else if (name == ".minnctapersm") {
      function.minBlocks = uint32_t(integer("a number of blocks"));
    } else if (name == ".maxnreg" || name == ".maxnctapersm") {
      integer("a number"); // for ptxas alone
    } else if (name == ".pragma") {
      take();
      expect(";", "behind a .pragma");
    } else if (name != ".noreturn") {
      fail("the directive '" + name + "' of '" + function.name + "' is not known here", line);
    }
  }
}
