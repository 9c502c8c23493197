// The parser's private state: a position among the words and the names that are in scope there. Parser.cpp reads what
// stands at the top of a module, ParseVariables.cpp declarations with their initial values, ParseBody.cpp the bodies of
// functions.
#ifndef SPRIG_TEST_GPU_PTX_PARSERSTATE_H
#define SPRIG_TEST_GPU_PTX_PARSERSTATE_H

#include "test/gpu/ptx/Lexer.h"
#include "test/gpu/ptx/Module.h"
#include <set>
#include <unordered_map>

namespace sprig::ptx {

class Parser {
public:
  Parser(std::string_view text, const std::string &file);
  Module run();

private:
  // Words.
  const Token &peek(unsigned ahead = 0) const { return tokens[std::min(next + ahead, tokens.size() - 1)]; }
  Token take() { return next + 1 < tokens.size() ? tokens[next++] : tokens[next]; }
  bool accept(std::string_view text);
  void expect(std::string_view text, const char *where);
  std::string word(const char *what);
  [[noreturn]] void fail(const std::string &what) const { fail(what, peek().line); }
  [[noreturn]] void fail(const std::string &what, unsigned line) const;
  std::string got() const; // "got 'x'"
  uint64_t integer(const char *what);
  Operand number(); // an integer or a float's bits, with its sign
  void skipLine();
  void skipBraces();

  // The top of a module.
  void topLevel();
  void function(bool isEntry, bool isDeclaration);
  void directives(Function &function);
  std::vector<Variable> parameterList();

  // Declarations. `space` is what the first word names.
  static bool isSpace(const Token &token, Space &space);
  Variable variable(Space space);
  void initialiser(Variable &variable);
  void appendInitial(Variable &variable);

  // Bodies.
  struct Scope {
    std::unordered_map<std::string, unsigned> registers, labels, variables;
  };
  void body(Function &function);
  void statement();
  void openScope();
  void registers();
  void bodyVariable(Space space);
  void branchTargets(const std::string &name);
  void instruction();
  Operand operand();
  Operand simpleOperand();
  Operand address();
  Operand named(const std::string &name);
  Operand elements(Operand::Form form, const char *close);
  int findRegister(const std::string &name) const;

  std::vector<Token> tokens;
  std::string file;
  size_t next = 0;
  Module module;
  Function *current = nullptr; // whose body is read
  std::vector<Scope> scopes;
  std::set<std::string> functionNames;
};

} // namespace sprig::ptx
#endif
