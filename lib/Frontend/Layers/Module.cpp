#include "lib/Frontend/Layers/LayerText.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <new>

namespace sprig::nn {

using frontend::fail;

void Module::State::checkName(const std::string &name, const char *what, const Module &owner, Source at) const {
  std::string op = std::string("Module::") + what;
  auto refuse = [&](const std::string &text) { fail(at, op, "'" + name + "' of a " + owner.typeName() + " " + text); };
  if (name.empty()) fail(at, op, "the name is empty");
  if (name.find('.') != std::string::npos) refuse("has a dot, which separates the names of a path");
  for (const Child &child : children)
    if (child.name == name) refuse("is there already, a " + child.module->typeName());
  for (const Entry &entry : parameters)
    if (entry.name == name) refuse("is there already, a parameter of " + describe(entry.parameter.type()));
  for (const Entry &entry : buffers)
    if (entry.name == name) refuse("is there already, a buffer of " + describe(entry.parameter.type()));
}

void Module::State::setPath(const std::string &newPath) {
  path = &frontend::intern(newPath);
  for (auto *entries : {&parameters, &buffers})
    for (Entry &entry : *entries) entry.parameter.setName(join(newPath, entry.name));
  for (Child &child : children) child.module->rawState().setPath(join(newPath, child.name));
}

bool Module::State::contains(const State *other) const {
  if (this == other) return true;
  for (const Child &child : children)
    if (child.module->rawState().contains(other)) return true;
  return false;
}

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

Module::Module() : state(std::make_shared<State>()) {}
Module::~Module() = default;

void Module::attach(const std::string &name, std::shared_ptr<Module> child, const ModuleClass *type, Source at) const {
  state->checkName(name, "add", *this, at);
  if (child->state->contains(state.get()))
    fail(at, "Module::add", "'" + name + "' has the " + typeName() + " that it is added to below it");
  child->state->setPath(State::join(path(), name));
  state->children.push_back({name, std::move(child), type});
}

Parameter Module::addParameter(const std::string &name, const Tensor &initial, Source at) {
  state->checkName(name, "addParameter", *this, at);
  frontend::requireDefined(initial, "Module::addParameter", "the value", at);
  Tensor value = initial.detach(at);
  Parameter parameter(value, /*trainable=*/true, at);
  parameter.setName(State::join(path(), name));
  state->parameters.push_back({name, parameter, [value](const TensorType &) { return value; }});
  return parameter;
}

Parameter Module::addParameter(const std::string &name, const Shape &shape, Initializer initializer, Source at) {
  state->checkName(name, "addParameter", *this, at);
  for (int64_t size : shape)
    if (size < 0)
      fail(at, "Module::addParameter", "'" + name + "' of a " + typeName() + " has the shape " + describe(shape));
  Parameter parameter(initializer({defaultDType(), shape}), /*trainable=*/true, at);
  parameter.setName(State::join(path(), name));
  state->parameters.push_back({name, parameter, std::move(initializer)});
  return parameter;
}

Parameter Module::addParameter(const std::string &name, const Parameter &shared, Source at) {
  state->checkName(name, "addParameter", *this, at);
  if (!shared.defined()) fail(at, "Module::addParameter", "'" + name + "' shares a parameter that is not defined");
  state->parameters.push_back({name, shared, nullptr});
  return shared;
}

Parameter Module::addBuffer(const std::string &name, const Tensor &initial, bool persistent, Source at) {
  state->checkName(name, "addBuffer", *this, at);
  frontend::requireDefined(initial, "Module::addBuffer", "the value", at);
  Tensor value = initial.detach(at);
  Parameter buffer(value, /*trainable=*/false, at);
  buffer.setName(State::join(path(), name));
  state->buffers.push_back({name, buffer, [value](const TensorType &) { return value; }, persistent});
  return buffer;
}

const std::string &Module::path() const {
  static const std::string none;
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
  InLayer in(child.module->scope());
  if (!child.type->call)
    fail(x.at, typeName(),
         "'" + child.name + "', a " + child.module->typeName() + ", does not take one tensor and give one");
  return child.type->call(*child.module, x);
}

} // namespace sprig::nn
