#include "test/gpu/image/Layout.h"
#include "test/gpu/ptx/Lexer.h"
#include <algorithm>
#include <functional>
#include <set>

using namespace sprig::gpu;
using namespace sprig;

static uint64_t alignTo(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

ModuleLayout::ModuleLayout(const ptx::Module &module) {
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ptx::Space::Shared) continue;
    std::string where = module.file + ":" + std::to_string(variable.line) + ": ";
    if (variable.isDeclaration)
      throw ptx::PtxError(where + "the variable '" + variable.name + "' is of another module");
    if (variable.space != ptx::Space::Global && variable.space != ptx::Space::Const)
      throw ptx::PtxError(where + "the variable '" + variable.name + "' is of no space that a module has");
    bytes = alignTo(bytes, variable.alignment);
    offsets[variable.name] = bytes;
    bytes += variable.size;
  }
  initial.resize(bytes);
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ptx::Space::Shared) continue;
    uint64_t at = offsets[variable.name];
    std::copy(variable.bytes.begin(), variable.bytes.end(), initial.begin() + at);
    for (const ptx::Variable::Pointer &pointer : variable.pointers) {
      auto target = offsets.find(pointer.symbol);
      if (target == offsets.end())
        throw ptx::PtxError(module.file + ":" + std::to_string(variable.line) + ": '" + variable.name +
                            "' holds the address of '" + pointer.symbol + "', which is no global or constant variable");
      uint64_t value = target->second + uint64_t(pointer.addend);
      for (unsigned i = 0; i < 8; ++i) initial[at + pointer.offset + i] = uint8_t(value >> (8 * i));
      pointers.push_back(at + pointer.offset);
    }
  }
}

// Names of module variables that operands anywhere in a function name, and of functions that it calls.
static void collectNames(const ptx::Operand &operand, std::set<std::string> &names) {
  if (operand.form == ptx::Operand::Form::Symbol) names.insert(operand.name);
  for (const ptx::Operand &element : operand.elements) collectNames(element, names);
}

KernelLayout::KernelLayout(const ptx::Module &module, const ptx::Function &kernel) {
  std::set<std::string> names;
  std::vector<std::string> path;
  std::function<void(const ptx::Function &)> visit = [&](const ptx::Function &function) {
    if (std::find(path.begin(), path.end(), function.name) != path.end())
      throw ptx::PtxError(module.file + ":" + std::to_string(function.line) + ": '" + function.name +
                          "' calls itself, which is not known here");
    if (std::find(functions.begin(), functions.end(), &function) != functions.end()) return;
    functions.push_back(&function);
    path.push_back(function.name);
    for (const ptx::Statement &statement : function.body) {
      std::set<std::string> used;
      for (const ptx::Operand &operand : statement.instruction.operands) collectNames(operand, used);
      for (const std::string &name : used) {
        names.insert(name);
        const ptx::Function *callee = module.findFunction(name);
        if (callee && callee->isDeclaration)
          throw ptx::PtxError(module.file + ":" + std::to_string(statement.instruction.line) + ": calls '" + name +
                              "', which has no body");
        if (callee) visit(*callee);
      }
    }
    path.pop_back();
  };
  visit(kernel);

  uint64_t shared = 0, local = 0;
  std::vector<std::pair<std::pair<std::string, std::string>, const ptx::Variable *>> dynamic;
  auto place = [&](const std::string &function, const ptx::Variable &variable) {
    std::pair<std::string, std::string> key{function, variable.name};
    if (variable.space == ptx::Space::Shared && variable.isDynamic) {
      dynamic.push_back({key, &variable});
    } else if (variable.space == ptx::Space::Shared) {
      shared = alignTo(shared, variable.alignment);
      places[key] = {variable.space, shared};
      shared += variable.size;
    } else if (variable.space == ptx::Space::Local) {
      local = alignTo(local, variable.alignment);
      places[key] = {variable.space, local};
      local += variable.size;
    }
  };
  for (const ptx::Variable &variable : module.variables)
    if (names.count(variable.name)) place("", variable);
  for (const ptx::Function *function : functions)
    for (const ptx::Variable &variable : function->variables) place(function->name, variable);
  // All dynamic shared variables begin at one place: behind the static ones, aligned as the strictest wants.
  unsigned strictest = 1;
  for (auto &[key, variable] : dynamic) strictest = std::max(strictest, variable->alignment);
  if (!dynamic.empty()) shared = alignTo(shared, strictest);
  for (auto &[key, variable] : dynamic) places[key] = {ptx::Space::Shared, shared};
  staticSharedBytes = uint32_t(shared);
  localBytes = uint32_t(local);

  uint64_t offset = 0;
  for (const ptx::Variable &parameter : kernel.parameters) {
    offset = alignTo(offset, parameter.alignment);
    parameterOffsets.push_back(uint32_t(offset));
    offset += parameter.size;
  }
  parameterBytes = uint32_t(offset);
}
