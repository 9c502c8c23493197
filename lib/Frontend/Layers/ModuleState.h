// What the handles of a module share.
// For the implementation of nn::Module and of its containers.
#pragma once
#include "sprig/nn/module.h"

namespace sprig::nn {

struct Module::State {
  struct Child {
    std::string name;
    std::shared_ptr<Module> module; ///< a handle with its C++ class, for apply() and calls
    const ModuleClass *type;
  };
  struct Entry {
    std::string name;
    Parameter parameter;
    Initializer initializer; ///< empty for another module's parameter, which that module resets
    bool persistent = true;
  };

  std::vector<Entry> parameters, buffers;
  std::vector<Child> children;
  const std::string *path = nullptr; ///< interned; null for a root
  std::shared_ptr<bool> training = std::make_shared<bool>(true);

  /// "a.b" of "a" and "b".
  static std::string join(const std::string &path, const std::string &name) {
    return path.empty() ? name : path + "." + name;
  }
  /// Throws where a child, parameter or buffer cannot have this name.
  void checkName(const std::string &name, const char *what, const Module &owner, Source at) const;
  /// Names this module's parameters and all below it.
  void setPath(const std::string &path);
  bool contains(const State *other) const;
};

} // namespace sprig::nn
