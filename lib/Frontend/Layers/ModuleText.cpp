// How modules print: the tree with each layer's settings, in the form of PyTorch.
#include "lib/Frontend/Layers/ModuleState.h"
#include <cxxabi.h>
#include <cstdlib>
#include <ostream>
#include <typeinfo>

namespace sprig::nn {

namespace {

std::string indented(const std::string &text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

} // namespace

std::string Module::typeName() const { return classText(typeid(*this)); }

std::string classText(const std::type_info &type) {
  int status = 0;
  char *demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = demangled ? demangled : type.name();
  std::free(demangled);
  // Without arguments of templates; the last component of what is left.
  std::string plain;
  int depth = 0;
  for (char c : name) {
    depth += c == '<';
    if (depth == 0) plain += c;
    depth -= c == '>';
  }
  size_t colon = plain.rfind("::");
  return colon == std::string::npos ? plain : plain.substr(colon + 2);
}

std::string Module::text() const {
  std::string own = extra();
  const std::vector<std::string> missing = state->unregisteredNow();
  if (state->children.empty() && missing.empty()) return typeName() + "(" + own + ")";
  std::string result = typeName() + "(";
  if (!own.empty()) result += "\n  " + own;
  for (const State::Child &child : state->children)
    result += "\n  (" + child.name + "): " + indented(child.module->text());
  for (const std::string &layer : missing) result += "\n  not registered: " + layer;
  return result + "\n)";
}

std::ostream &operator<<(std::ostream &out, const Module &module) { return out << module.text(); }

} // namespace sprig::nn
