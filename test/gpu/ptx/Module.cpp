#include "test/gpu/ptx/Module.h"
#include <algorithm>

using namespace sprig::ptx;

bool sprig::ptx::parseType(const std::string &name, Type &type) {
  static const std::map<std::string, Type> types = {
      {"pred", {Kind::Predicate, 1}},     {"b8", {Kind::Bits, 8}},
      {"b16", {Kind::Bits, 16}},          {"b32", {Kind::Bits, 32}},
      {"b64", {Kind::Bits, 64}},          {"b128", {Kind::Bits, 128}},
      {"u8", {Kind::Unsigned, 8}},        {"u16", {Kind::Unsigned, 16}},
      {"u32", {Kind::Unsigned, 32}},      {"u64", {Kind::Unsigned, 64}},
      {"s8", {Kind::Signed, 8}},          {"s16", {Kind::Signed, 16}},
      {"s32", {Kind::Signed, 32}},        {"s64", {Kind::Signed, 64}},
      {"f16", {Kind::Float, 16}},         {"f32", {Kind::Float, 32}},
      {"f64", {Kind::Float, 64}},         {"bf16", {Kind::BFloat, 16}},
      {"tf32", {Kind::TFloat, 32}},       {"f16x2", {Kind::Float, 16, 2}},
      {"f32x2", {Kind::Float, 32, 2}},    {"bf16x2", {Kind::BFloat, 16, 2}},
      {"u16x2", {Kind::Unsigned, 16, 2}}, {"s16x2", {Kind::Signed, 16, 2}}};
  auto found = types.find(name);
  if (found == types.end()) return false;
  type = found->second;
  return true;
}

std::string sprig::ptx::typeName(Type type) {
  if (type.kind == Kind::Predicate) return "pred";
  const char *kinds[] = {"b", "s", "u", "f", "bf", "tf"};
  return kinds[unsigned(type.kind)] + std::to_string(type.bits) + (type.lanes == 2 ? "x2" : "");
}

std::string Instruction::text() const {
  std::string text = opcode;
  for (const std::string &modifier : modifiers) text += "." + modifier;
  return text;
}

template <class T> static const T *find(const std::vector<T> &all, const std::string &name) {
  auto found = std::find_if(all.begin(), all.end(), [&](const T &one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}
const Variable *Module::findVariable(const std::string &name) const { return find(variables, name); }
const Function *Module::findFunction(const std::string &name) const {
  // A definition counts more than the declaration before it.
  for (const Function &function : functions)
    if (function.name == name && !function.isDeclaration) return &function;
  return find(functions, name);
}
