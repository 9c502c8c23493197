// Members of modules: the handles `net.head` and `layer.weight` stand for what the module has registered, so an
// assignment to one is a change of the module.
//
// A name that something is registered under is a slot. Each handle that is a member has a place in its slot, with the
// handle object around it (its owner). Places begin in add() and addParameter(), whose result is the member, or is
// moved or copied to it; a copy of the owner brings places for its members along. A lone copy (`auto h = net.head`) has
// no place, it only waits to inherit one: the result of add() dies after `head = add(...)`, elements of vectors move.
// All of it happens under one lock.
#pragma once
#include "lib/Frontend/Base/Place.h"
#include "sprig/nn/module.h"
#include <mutex>
#include <typeinfo>

namespace sprig::nn {

class MemberPlace;

struct Slot {
  enum class Kind : uint8_t { child, parameter, buffer };
  Kind kind;
  std::string name;
  Module::State *parent; ///< null when it is gone
  std::vector<MemberPlace *> places;
};

class MemberPlace final : public frontend::Place {
public:
  std::shared_ptr<Slot> slot;
  void *handle; ///< the Module, or the Parameter
  /// The handle object that has it as a member; null where it is gone, and of heirs.
  Module *owner = nullptr;
  const std::type_info *level = nullptr; ///< the owner's class
  uint64_t born = 0;                     ///< a moment; copies of the owner that are older have none of it
  bool stored = false;                   ///< of the module's own handle to its child
  MemberPlace *heir = nullptr;           ///< whose handle takes the place when this one's dies
  MemberPlace *before = nullptr;         ///< of an heir: what it waits for

  /// Whether an assignment to the handle is one to the module.
  bool isMember() const;

  void followedBy(Parameter &copy) noexcept override;
  void assign(Parameter &to, const Parameter &from) override;
  void leave() noexcept override;
  /// The handle is something else from now on; nobody inherits.
  void release() noexcept;
};

/// The parts of a module that its own operations must not go through.
struct ModuleAccess {
  static std::shared_ptr<Module::State> &state(const Module &module) { return const_cast<Module &>(module).state; }
  static frontend::Place *&place(const Module &module) { return const_cast<Module &>(module).place; }
  static Module *lastCopy(const Module &module) { return module.lastCopy; }
  static uint64_t copied(const Module &module) { return module.copied; }
};

/// What is held while members and modules change.
class StructureLock {
public:
  StructureLock();

private:
  std::unique_lock<std::recursive_mutex> held;
};

/// 1, 2, ...; under the lock.
uint64_t nextMoment();

/// `handle` is a member of `owner` (null: the module's own handle) from now on.
MemberPlace &bindMember(Module &handle, std::shared_ptr<Slot> slot, Module *owner);
MemberPlace &bindMember(Parameter &handle, std::shared_ptr<Slot> slot, Module *owner);
/// `copy` was made of the handle that has this place.
void followMember(Module &copy, MemberPlace &place);
/// `handle` takes the place when the handle that has it dies.
void makeHeir(Module &handle, MemberPlace &place);
void dropHeirs(Slot &slot);

/// The parameter of a place is `next` from now on, in the module and in all handles that have the place. Throws where
/// that cannot be.
void replaceParameter(Slot &slot, const Parameter &next, Source at);

} // namespace sprig::nn
