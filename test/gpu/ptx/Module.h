// PTX text as data: what the parser makes and the translator to x86-64 reads. Names are resolved (registers and labels
// are numbers, symbols are known to exist), everything keeps its line; what an instruction means is not known here.
#ifndef SPRIG_TEST_GPU_PTX_MODULE_H
#define SPRIG_TEST_GPU_PTX_MODULE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sprig::ptx {

enum class Kind : uint8_t { Bits, Signed, Unsigned, Float, BFloat, TFloat, Predicate };

// A fundamental type; `lanes` is 2 for the packed types (f16x2).
struct Type {
  Kind kind = Kind::Bits;
  uint16_t bits = 0; // of one lane
  uint8_t lanes = 1;

  unsigned totalBits() const { return bits * lanes; }
  unsigned bytes() const { return kind == Kind::Predicate ? 1 : totalBits() / 8; }
  bool isFloat() const { return kind == Kind::Float || kind == Kind::BFloat || kind == Kind::TFloat; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool operator==(const Type &) const = default;
};
// The type that a name without its dot stands for ("f32"); false where it is none.
bool parseType(const std::string &name, Type &type);
std::string typeName(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

struct Register {
  std::string name;
  Type type;
};

// A variable of any space. Initial values are bytes; `pointers` are offsets of words there that hold a symbol's
// address.
struct Variable {
  std::string name;
  Space space = Space::Generic;
  Type type;
  unsigned alignment = 1;
  uint64_t size = 0; // in bytes; 0 and `isDynamic`: as much as the launch gives
  bool isDynamic = false, isDeclaration = false;
  std::vector<uint8_t> bytes;
  struct Pointer {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
  };
  std::vector<Pointer> pointers;
  unsigned line = 0;
};

struct Operand {
  enum class Form : uint8_t {
    Register,  // index
    Predicate, // index of a predicate register, perhaps negated
    Special,   // name: %tid.x
    Integer,   // value
    Float32,   // value: bits
    Float64,   // value: bits
    Symbol,    // name of a variable, parameter or function, perhaps with value as offset
    Label,     // index
    Address,   // [elements[0] + value], or [value] without elements
    Vector,    // {elements}
    Pair,      // elements joined by `|`
    List,      // (elements) of a call
    Sink       // _
  };
  Form form = Form::Integer;
  bool negated = false;
  unsigned index = 0;
  uint64_t value = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  unsigned line = 0;
  std::string opcode;                 // the first word: ld
  std::vector<std::string> modifiers; // the others: global, v4, f32
  std::vector<Operand> operands;
  int guard = -1; // a predicate register
  bool guardNegated = false;
  std::string text() const; // ld.global.v4.f32
};

struct Statement {
  enum class Form : uint8_t { Instruction, Label, Variable } form = Form::Instruction;
  Instruction instruction; // Form::Instruction
  unsigned index = 0;      // of the label or of the variable in the function
};

struct Function {
  std::string name;
  bool isEntry = false, isDeclaration = false;
  std::vector<Variable> results, parameters;
  std::vector<Register> registers;
  std::vector<Variable> variables; // .shared, .local and .param variables of the body, their names made unique
  std::vector<std::string> labels;
  std::map<std::string, std::vector<std::string>> branchTargets;
  std::vector<Statement> body;
  uint32_t requiredThreads[3] = {}, maxThreads[3] = {}, minBlocks = 0;
  unsigned line = 0;
};

struct Module {
  std::string file, version, target;
  unsigned addressBits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  const Function *findFunction(const std::string &name) const;
  const Variable *findVariable(const std::string &name) const;
};

} // namespace sprig::ptx
#endif
