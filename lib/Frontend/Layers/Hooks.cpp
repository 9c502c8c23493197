// What is called behind layers.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"

namespace sprig::nn {

HookHandle Module::registerForwardHook(ForwardHook f, Source at) const {
  static uint64_t last = 0; // under the lock
  StructureLock lock;
  frontend::requireNotRecording("Module::registerForwardHook", at);
  if (!f) frontend::fail(at, "Module::registerForwardHook", "the function is empty");
  if (!runsHooks())
    frontend::fail(at, "Module::registerForwardHook",
                   "a " + typeName() +
                       " runs no hooks: layers of the library that give one tensor do, and classes that "
                       "say so (runsHooks) and give hooked(x, y)");
  HookHandle handle;
  handle.state = state;
  handle.id = ++last;
  state->hooks.emplace_back(handle.id, std::move(f));
  frontend::noteReplacement();
  return handle;
}

void HookHandle::remove() const {
  StructureLock lock;
  auto held = std::static_pointer_cast<Module::State>(state.lock());
  if (held && std::erase_if(held->hooks, [this](const auto &hook) { return hook.first == id; }))
    frontend::noteReplacement();
}

Tensor Module::hooked(const Operand &input, const Tensor &output) const {
  if (state->hooks.empty()) return output;
  Tensor result = output;
  auto hooks = state->hooks; // those of now: one may remove itself
  for (auto &[id, hook] : hooks)
    if (Tensor next = hook(*this, input.tensor, result); next.defined()) result = next;
  return result;
}

} // namespace sprig::nn
