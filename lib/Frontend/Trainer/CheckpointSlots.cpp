#include "lib/Frontend/Trainer/CheckpointSlots.h"
#include "lib/Training/StateNames.h"
#include "sprig/create.h"
#include "sprig/random.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace sprig::frontend {

namespace {

/// Counter of random numbers; the key is training::kSeed.
constexpr const char *kRandomCounter = "random/counter";

TensorType typeOf(const data::Array &array) { return {DType(array.dtype), Shape(array.shape)}; }

/// Counts that states have only where they are not 0: those of an optimizer.
bool isZeroWhereMissing(const std::string &name) { return name.find(training::kSkippedPrefix) != std::string::npos; }

} // namespace

CheckpointSlots::CheckpointSlots(Source at, const std::vector<data::Array> &loaded) : at(at) {
  for (const data::Array &array : loaded) this->loaded.push_back(array.name);
}

std::vector<std::string> CheckpointSlots::namesOf(const std::string &part) const {
  if (part.empty()) return loaded;
  std::vector<std::string> names;
  for (const std::string &name : loaded)
    if (name.starts_with(part + "/")) names.push_back(name.substr(part.size() + 1));
  return names;
}

void CheckpointSlots::addRandomState() {
  RandomState now = randomState();
  auto state = std::make_shared<RandomState>(now);
  add(training::kSeed, Tensor(int64_t(now.seed)),
      [state, at = at](const Tensor &value) { state->seed = uint64_t(value.item<int64_t>(at)); });
  add(kRandomCounter, Tensor(int64_t(now.draws)), [state, at = at](const Tensor &value) {
    state->draws = uint64_t(value.item<int64_t>(at));
    setRandomState(*state);
  });
}

std::string CheckpointSlots::types() const {
  std::string text;
  for (const Slot &slot : slots)
    if (!isZeroWhereMissing(slot.name)) text += slot.name + " " + describe(slot.value.type()) + "\n";
  return text;
}

std::string CheckpointSlots::twice() const {
  std::set<std::string> names;
  for (const Slot &slot : slots)
    if (!names.insert(slot.name).second) return slot.name;
  return "";
}

std::vector<data::Array> CheckpointSlots::arrays() const {
  std::vector<data::Array> result;
  for (const Slot &slot : slots) {
    const auto *bytes = static_cast<const char *>(slot.value.bytes(at));
    result.push_back({slot.name,
                      data::DType(slot.value.dtype()),
                      slot.value.shape().vector(),
                      {bytes, bytes + slot.value.type().bytes()}});
  }
  return result;
}

std::string CheckpointSlots::misfits(const std::vector<data::Array> &arrays) const {
  std::map<std::string, const data::Array *> given;
  for (const data::Array &array : arrays) given[array.name] = &array;
  std::string text;
  for (const Slot &slot : slots) {
    auto row = given.find(slot.name);
    if (row == given.end()) {
      if (isZeroWhereMissing(slot.name)) continue;
      text += "\n  missing: " + slot.name + ": " + describe(slot.value.type());
      continue;
    }
    const data::Array &array = *row->second;
    if (!(typeOf(array) == slot.value.type()))
      text += "\n  other type: " + slot.name + ": here it is " + describe(slot.value.type()) + ", in the checkpoint " +
              describe(typeOf(array));
    else if (slot.isFixed && std::memcmp(array.bytes.data(), slot.value.bytes(at), array.bytes.size()) != 0)
      text += "\n  other " + slot.name + ": here it is " + slot.value.text(at) + ", in the checkpoint " +
              Tensor::copyOf(array.bytes.data(), typeOf(array)).text(at);
    else if (slot.holds && !slot.holds(Tensor::copyOf(array.bytes.data(), typeOf(array))))
      text += "\n  beyond its type: " + slot.name + ": in the checkpoint it is " +
              Tensor::copyOf(array.bytes.data(), typeOf(array)).text(at);
    given.erase(row);
  }
  for (auto &[name, array] : given) text += "\n  unexpected: " + name + ": " + describe(typeOf(*array));
  return text;
}

void CheckpointSlots::set(const std::vector<data::Array> &arrays) const {
  std::map<std::string, const data::Array *> given;
  for (const data::Array &array : arrays) given[array.name] = &array;
  for (const Slot &slot : slots) {
    if (!slot.set) continue;
    auto row = given.find(slot.name);
    slot.set(row == given.end() ? zeros(slot.value.shape(), slot.value.dtype(), at)
                                : Tensor::copyOf(row->second->bytes.data(), slot.value.type()));
  }
}

} // namespace sprig::frontend
