// Functions whose inputs are partly state, as entries of a module: what packages and plans are compiled from.
// For the files of this folder.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Lower.h"
#include <map>

namespace sprig::frontend::bridge {

class EntryBuilder {
public:
  /// `isDivided`: by ranks.
  explicit EntryBuilder(mlir::ModuleOp module, bool isDivided = false)
      : module(module), lowering(module.getContext(), isDivided) {}

  /// Adds a function; states of names that other entries have are theirs. Throws Error (usage) where slots do not fit
  /// the graph or one another.
  mlir::func::FuncOp add(const PackageEntry &entry);

private:
  void declare(const PackageEntry &entry, const StateSlot &slot);

  mlir::ModuleOp module;
  Lowering lowering;
  std::map<std::string, TensorType> states;
  int functions = 0;
};

/// The options of a compilation that starts from a module of the front-end.
CompileOptions entryOptions(const CompileOptions &given, const std::string &name);

} // namespace sprig::frontend::bridge
