#include "lib/Frontend/Layers/Members.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <algorithm>

namespace sprig::nn {

using frontend::PlaceAccess;

namespace {

// It outlives the modules that are destroyed at the program's end.
std::recursive_mutex &structureMutex() {
  static auto &mutex = *new std::recursive_mutex;
  return mutex;
}

frontend::Place *&placeOf(const Module &handle) { return ModuleAccess::place(handle); }
frontend::Place *&placeOf(const Parameter &handle) { return PlaceAccess::place(handle); }
frontend::Place *&placeOf(const MemberPlace &place) {
  return place.slot->kind == Slot::Kind::child ? placeOf(*static_cast<Module *>(place.handle))
                                               : placeOf(*static_cast<Parameter *>(place.handle));
}

bool isRegistered(const Slot &slot, const Module &handle) {
  Module::State::Child *child = slot.parent->childOf(slot);
  return child && child->module->same(handle);
}
bool isRegistered(const Slot &slot, const Parameter &handle) {
  Module::State::Entry *entry = slot.parent->entryOf(slot);
  return entry && entry->parameter.same(handle);
}

void dropHeir(MemberPlace &place) {
  MemberPlace *heir = std::exchange(place.heir, nullptr);
  if (!heir) return;
  placeOf(*heir) = nullptr;
  delete heir;
}

template <typename H> MemberPlace &bind(H &handle, std::shared_ptr<Slot> slot, Module *owner) {
  if (placeOf(handle)) static_cast<MemberPlace *>(placeOf(handle))->release();
  auto *place = new MemberPlace;
  place->slot = std::move(slot);
  place->handle = &handle;
  place->owner = owner;
  place->level = owner ? &typeid(*owner) : nullptr;
  place->stored = !owner;
  place->born = nextMoment();
  place->slot->places.push_back(place);
  placeOf(handle) = place;
  return *place;
}

template <typename H> void inherit(H &handle, MemberPlace &place) {
  if (placeOf(handle)) return;
  dropHeir(place);
  auto *heir = new MemberPlace;
  heir->slot = place.slot;
  heir->handle = &handle;
  heir->before = &place;
  place.heir = heir;
  placeOf(handle) = heir;
}

template <typename H> void follow(H &copy, MemberPlace &place) {
  if (place.before || place.stored) return;
  // The owner is being copied, member by member: this is the copy's. One whose class is Module itself has no members.
  Module *owner = place.owner ? ModuleAccess::lastCopy(*place.owner) : nullptr;
  if (owner && place.born < ModuleAccess::copied(*place.owner) &&
      (typeid(*owner) != typeid(Module) || *place.level == typeid(Module))) {
    std::shared_ptr<Slot> slot = ModuleAccess::state(*owner)->slotOf(place.slot->kind, place.slot->name);
    bool isNew = slot && isRegistered(*slot, copy) &&
                 std::none_of(slot->places.begin(), slot->places.end(), [&](auto *p) { return p->owner == owner; });
    if (isNew) {
      bind(copy, std::move(slot), owner);
      return;
    }
  }
  inherit(copy, place);
}

} // namespace

StructureLock::StructureLock() : held(structureMutex()) {}

uint64_t nextMoment() {
  static uint64_t moment = 0; // under the lock
  return ++moment;
}

bool MemberPlace::isMember() const {
  if (before || !slot->parent) return false;
  return stored || (owner && ModuleAccess::state(*owner).get() == slot->parent);
}

MemberPlace &bindMember(Module &handle, std::shared_ptr<Slot> slot, Module *owner) {
  return bind(handle, std::move(slot), owner);
}
MemberPlace &bindMember(Parameter &handle, std::shared_ptr<Slot> slot, Module *owner) {
  return bind(handle, std::move(slot), owner);
}
void followMember(Module &copy, MemberPlace &place) { follow(copy, place); }
void makeHeir(Module &handle, MemberPlace &place) { inherit(handle, place); }
void dropHeirs(Slot &slot) {
  for (MemberPlace *place : slot.places) dropHeir(*place);
}

void MemberPlace::followedBy(Parameter &copy) noexcept {
  StructureLock lock;
  follow(copy, *this);
}

void MemberPlace::assign(Parameter &to, const Parameter &from) {
  StructureLock lock;
  auto *mine = static_cast<MemberPlace *>(PlaceAccess::place(to));
  if (mine && mine->isMember()) {
    if (!to.same(from)) replaceParameter(*mine->slot, from, {});
    return;
  }
  if (mine) mine->release();
  PlaceAccess::cell(to) = PlaceAccess::cell(const_cast<Parameter &>(from));
  if (auto *its = static_cast<MemberPlace *>(PlaceAccess::place(from))) follow(to, *its);
}

void MemberPlace::release() noexcept {
  dropHeir(*this);
  leave();
}

void MemberPlace::leave() noexcept {
  StructureLock lock;
  placeOf(*this) = nullptr;
  if (before) {
    before->heir = nullptr;
  } else {
    std::erase(slot->places, this);
    if (heir) {
      heir->before = nullptr;
      heir->owner = owner;
      heir->level = level;
      heir->born = born;
      slot->places.push_back(heir);
    }
  }
  delete this;
}

} // namespace sprig::nn
