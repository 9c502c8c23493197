#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <new>

namespace sprig::nn {

using frontend::fail;

static thread_local DType defaultType = DType::f32;
DType defaultDType() {
  static constexpr frontend::HostSetting kDefaultType = {
      [](const void *) { return uint64_t(defaultType); },
      [](const void *) { return std::string(name(defaultType)); },
  };
  if (frontend::isRecording()) frontend::observe(kDefaultType, nullptr, "defaultDType()");
  return defaultType;
}
void setDefaultDType(DType type, Source at) {
  frontend::requireNotRecording("setDefaultDType", at);
  if (!isFloat(type)) fail(at, "setDefaultDType", std::string("parameters are floats, asked for is ") + name(type));
  defaultType = type;
}

const std::string &Module::path() const {
  static const auto &none = *new std::string;
  return state->path ? *state->path : none;
}
const std::string *Module::scope() const { return state->path; }

Scope::Scope(const std::string *path) : active(path != nullptr) {
  static_assert(sizeof(frontend::LayerScope) <= sizeof inside && alignof(frontend::LayerScope) <= alignof(void *));
  if (active) new (inside) frontend::LayerScope(path);
}
Scope::~Scope() {
  if (active) std::launder(reinterpret_cast<frontend::LayerScope *>(inside))->~LayerScope();
}
Scope Module::enter() const { return Scope(scope()); }

size_t Module::childCount() const { return state->children.size(); }
const std::string &Module::childName(size_t index) const { return state->children[index].name; }

Module &Module::childAt(size_t index, Source at) const {
  if (index >= state->children.size())
    fail(at, typeName(),
         "child " + std::to_string(index) + " is asked for, there are " + std::to_string(state->children.size()));
  return *state->children[index].module;
}

Module &Module::childNamed(const std::string &name, Source at) const {
  for (auto &child : state->children)
    if (child.name == name) return *child.module;
  fail(at, typeName(), "there is no '" + name + "'");
}

Tensor Module::callChild(size_t index, const Operand &x) const {
  const State::Child &child = state->children[index];
  Scope in(child.module->scope());
  if (!child.type->call)
    fail(x.at, typeName(),
         "'" + child.name + "', a " + child.module->typeName() + ", does not take one tensor and give one");
  return child.type->call(*child.module, x);
}

} // namespace sprig::nn
