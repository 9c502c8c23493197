// What the handles of a module share.
// For the implementation of nn::Module and of its containers.
#pragma once
#include "lib/Frontend/Layers/Members.h"
#include "sprig/nn/module.h"
#include <optional>

namespace sprig::nn {

struct Module::State : std::enable_shared_from_this<Module::State> {
  struct Child {
    std::string name;
    std::shared_ptr<Module> module; ///< a handle with its C++ class, for apply() and calls
    const ModuleClass *type;
    std::shared_ptr<Slot> slot;
  };
  struct Entry {
    std::string name;
    Parameter parameter;     ///< not defined: there is none, but there may be one later
    Initializer initializer; ///< empty for another module's parameter, which that module resets
    bool persistent = true;
    std::shared_ptr<Slot> slot;
  };

  /// Of a layer whose weight is computed (Parametrize.cpp): what it is computed of are children of the layer.
  struct Norm {
    Shape shape; ///< the weight's
    int axis;
    int iterations; ///< of power iterations in training; 0: none
    double eps;
    int bits = 0; ///< of a weight that is fake-quantised, in which case axis -1 is one scale for all; 0: a norm
  };

  State() = default;
  /// For nn::clone: with slots of its own; the children are still the other's.
  State(const State &other);
  ~State();

  std::vector<Entry> parameters, buffers;
  std::vector<Child> children;
  std::vector<State *> parents;      ///< whose children it is one of
  const std::string *path = nullptr; ///< interned; null for a root
  std::shared_ptr<bool> training = std::make_shared<bool>(true);
  std::optional<Norm> norm;
  std::vector<std::pair<uint64_t, ForwardHook>> hooks; ///< by number
  const ModuleClass *element = nullptr;                ///< of lists: the class that children must have
  /// Layers beside it that its losses reach and nobody has registered, with what to say of each.
  std::vector<std::pair<std::weak_ptr<const State>, std::string>> unregistered;

  /// What is to be said of `unregistered` ones that are so still: "a Linear made at net.cpp:12".
  std::vector<std::string> unregisteredNow() const;

  /// "a.b" of "a" and "b".
  static std::string join(const std::string &path, const std::string &name) {
    return path.empty() ? name : path + "." + name;
  }
  /// Throws where a child, parameter or buffer cannot have this name.
  void checkName(const std::string &name, const char *what, const Module &owner, Source at) const;
  /// Names this module's parameters and all below it.
  void setPath(const std::string &path);
  bool contains(const State *other) const;

  std::shared_ptr<Slot> makeSlot(Slot::Kind kind, const std::string &name) {
    return std::make_shared<Slot>(Slot{kind, name, this, {}});
  }
  std::shared_ptr<Slot> slotOf(Slot::Kind kind, const std::string &name) const;
  Child *childOf(const Slot &slot);
  Entry *entryOf(const Slot &slot);
  Entry *entryNamed(const std::string &name);
  /// The entry that was reserved under this name, or a new one; checks the name.
  Entry &newEntry(const std::string &name, const char *what, const Module &owner, Source at);
};

/// "Linear" of nn::Linear: without namespaces and arguments of templates.
std::string classText(const std::type_info &type);

/// Parameters of a module and of all below it, each once, by dotted name; without those that are not defined.
std::vector<std::pair<std::string, Parameter>> parametersOf(const Module::State &state, bool buffers = false);

/// What a copy of a handle shares; a new one while nn::clone copies (Clone.cpp).
std::shared_ptr<Module::State> stateOfCopy(const std::shared_ptr<Module::State> &original);

/// Makes `next` the child of a slot, in the module and in all handles that are members. `type` is next's class; null
/// for that of the handle `assigned`, in whose assignment it is done. Throws where it cannot be; then nothing was
/// changed.
void replaceChild(Slot &slot, const Module &next, const ModuleClass *type, Module *assigned, Source at);

/// What was registered below `parent` is there no more: parameters that are nowhere else below its roots are marked.
void markRemoved(Module::State &parent, const std::vector<Parameter> &parameters, const std::string &how);
/// All below a module that was added somewhere.
void markAdded(const Module::State &state);

} // namespace sprig::nn
