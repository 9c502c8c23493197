#include "test/gpu/ptx/ParserState.h"

using namespace sprig::ptx;

void Parser::body(Function &function) {
  current = &function;
  expect("{", "in front of a body");
  openScope();
  while (!scopes.empty()) {
    if (accept("}")) {
      scopes.pop_back();
    } else if (accept("{")) {
      openScope();
    } else if (peek().form == Token::Form::End) {
      fail("expected '}' at the end of '" + function.name + "', " + got());
    } else {
      statement();
    }
  }
  current = nullptr;
}

// Labels may be used before they stand: those of this scope, not of the scopes inside, are collected first.
void Parser::openScope() {
  Scope scope;
  unsigned depth = 1;
  for (size_t i = next; depth && tokens[i].form != Token::Form::End; ++i) {
    depth += tokens[i].is("{");
    depth -= tokens[i].is("}");
    bool isLabel = depth == 1 && tokens[i].form == Token::Form::Word && tokens[i + 1].is(":");
    if (!isLabel || tokens[i + 2].is(".branchtargets")) continue;
    std::string name(tokens[i].text);
    if (!scope.labels.emplace(name, unsigned(current->labels.size())).second)
      fail("there are two labels '" + name + "'", tokens[i].line);
    current->labels.push_back(name);
  }
  scopes.push_back(std::move(scope));
}

void Parser::statement() {
  Space space;
  if (accept(";")) return;
  if (accept(".reg")) return registers();
  if (peek().is(".loc") || peek().is(".file")) return skipLine();
  if (accept(".pragma")) {
    take();
    return expect(";", "behind a .pragma");
  }
  if (isSpace(peek(), space)) {
    take();
    return bodyVariable(space);
  }
  if (peek().form == Token::Form::Word && peek(1).is(":")) {
    std::string name = word("a label");
    take();
    if (accept(".branchtargets")) return branchTargets(name);
    if (peek().is(".callprototype") || peek().is(".calltargets"))
      fail("calls of functions that a register names are not known here");
    current->body.push_back(
        {.form = Statement::Form::Label, .instruction = {}, .index = scopes.back().labels.at(name)});
    return;
  }
  instruction();
}

void Parser::branchTargets(const std::string &name) {
  do current->branchTargets[name].push_back(word("a label"));
  while (accept(","));
  expect(";", "behind .branchtargets");
}

void Parser::registers() {
  Type type;
  std::string typeWord = word("a register's type");
  if (typeWord == ".v2" || typeWord == ".v4") fail("registers of vectors (" + typeWord + ") are not known here");
  if (!parseType(typeWord.substr(1), type)) fail("expected a register's type, got '" + typeWord + "'");
  auto declare = [&](const std::string &name) {
    if (!scopes.back().registers.emplace(name, unsigned(current->registers.size())).second)
      fail("there are two registers '" + name + "'");
    current->registers.push_back({name, type});
  };
  do {
    std::string name = word("a register's name");
    if (accept("<")) {
      uint64_t count = integer("a number of registers");
      if (count > 1u << 20) fail("a million registers '" + name + "'");
      for (uint64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
      expect(">", "behind a number of registers");
    } else {
      declare(name);
    }
  } while (accept(","));
  expect(";", "behind registers");
}

void Parser::bodyVariable(Space space) {
  Variable result = variable(space);
  std::string name = result.name;
  // Scopes may name another variable alike; an index makes names unique.
  result.name += "$" + std::to_string(current->variables.size());
  if (space == Space::Global || space == Space::Const)
    fail("a ." + std::string(space == Space::Global ? "global" : "const") + " variable in a function");
  scopes.back().variables[name] = unsigned(current->variables.size());
  current->variables.push_back(std::move(result));
}

int Parser::findRegister(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->registers.find(name); found != scope->registers.end()) return int(found->second);
  return -1;
}

void Parser::instruction() {
  Instruction result;
  result.line = peek().line;
  if (accept("@")) {
    result.guardNegated = accept("!");
    std::string name = word("a predicate");
    result.guard = findRegister(name);
    if (result.guard < 0 || current->registers[result.guard].type.kind != Kind::Predicate)
      fail("'" + name + "' is no predicate register", result.line);
  }
  std::string name = word("an instruction");
  if (name[0] == '.') fail("expected an instruction, got '" + name + "'", result.line);
  size_t begin = 0;
  for (size_t dot; (dot = name.find('.', begin)) != name.npos; begin = dot + 1)
    result.modifiers.push_back(name.substr(begin, dot - begin));
  result.modifiers.push_back(name.substr(begin));
  result.opcode = result.modifiers.front();
  result.modifiers.erase(result.modifiers.begin());
  if (!peek().is(";")) {
    do result.operands.push_back(operand());
    while (accept(","));
  }
  expect(";", ("behind '" + result.text() + "'").c_str());
  current->body.push_back({.form = Statement::Form::Instruction, .instruction = std::move(result)});
}

Operand Parser::operand() {
  Operand result = simpleOperand();
  if (!accept("|")) return result;
  Operand pair;
  pair.form = Operand::Form::Pair;
  pair.elements.push_back(std::move(result));
  pair.elements.push_back(simpleOperand());
  return pair;
}

Operand Parser::elements(Operand::Form form, const char *close) {
  Operand result;
  result.form = form;
  take();
  while (!accept(close)) {
    result.elements.push_back(operand());
    if (!accept(",") && !peek().is(close))
      fail(std::string("expected ',' or '") + close + "' between operands, " + got());
  }
  return result;
}

Operand Parser::simpleOperand() {
  if (peek().is("{")) return elements(Operand::Form::Vector, "}");
  if (peek().is("(")) return elements(Operand::Form::List, ")");
  if (accept("[")) return address();
  if (accept("!")) {
    Operand result = named(word("a predicate"));
    if (result.form != Operand::Form::Predicate) fail("expected a predicate behind '!', " + got());
    result.negated = true;
    return result;
  }
  bool isNegative = accept("-");
  if (peek().form == Token::Form::Number) {
    Operand result = number();
    if (isNegative && result.form == Operand::Form::Integer) result.value = -result.value;
    if (isNegative && result.form == Operand::Form::Float32) result.value ^= 1u << 31;
    if (isNegative && result.form == Operand::Form::Float64) result.value ^= uint64_t(1) << 63;
    return result;
  }
  if (isNegative) fail("expected a number behind '-', " + got());
  Operand result = named(word("an operand"));
  if (result.form == Operand::Form::Symbol && (peek().is("+") || peek().is("-"))) {
    bool minus = take().is("-");
    uint64_t offset = integer("an offset");
    result.value = minus ? -offset : offset;
  }
  return result;
}

Operand Parser::address() {
  Operand result;
  result.form = Operand::Form::Address;
  if (peek().form == Token::Form::Number) {
    result.value = integer("an address");
  } else {
    Operand base = named(word("an address"));
    if (base.form != Operand::Form::Register && base.form != Operand::Form::Symbol)
      fail("an address begins with a register or a variable");
    result.elements.push_back(std::move(base));
    if (peek().is("+") || peek().is("-")) {
      bool minus = take().is("-");
      uint64_t offset = integer("an offset");
      result.value = minus ? -offset : offset;
    }
  }
  expect("]", "behind an address");
  return result;
}

Operand Parser::named(const std::string &name) {
  Operand result;
  if (name == "_") {
    result.form = Operand::Form::Sink;
    return result;
  }
  if (int index = findRegister(name); index >= 0) {
    result.form =
        current->registers[index].type.kind == Kind::Predicate ? Operand::Form::Predicate : Operand::Form::Register;
    result.index = unsigned(index);
    return result;
  }
  result.name = name;
  if (name[0] == '%') {
    result.form = Operand::Form::Special;
    return result;
  }
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->labels.find(name); found != scope->labels.end()) {
      result.form = Operand::Form::Label;
      result.index = found->second;
      return result;
    }
    if (auto found = scope->variables.find(name); found != scope->variables.end()) {
      result.form = Operand::Form::Symbol;
      result.name = current->variables[found->second].name;
      return result;
    }
  }
  result.form = Operand::Form::Symbol;
  bool isKnown =
      name == "WARP_SZ" || functionNames.count(name) || module.findVariable(name) || current->branchTargets.count(name);
  for (const Variable &parameter : current->parameters) isKnown |= parameter.name == name;
  for (const Variable &variable : current->results) isKnown |= variable.name == name;
  if (!isKnown) fail("there is no register, label or variable '" + name + "'");
  return result;
}
