#include "lib/Data/Holders.h"
#include "include/sprig/error.h"

namespace sprig::data {

static constexpr int64_t kMostElements = 1 << 16; // of a sequence: each is an input of its own

std::string describe(Holder holder, const std::string &element) {
  return std::string(isOptional(holder) ? "optional " : "") + (isSequence(holder) ? "sequence of " : "") + element;
}

std::string elementName(const std::string &sequence, int64_t index) { return sequence + "." + std::to_string(index); }

std::optional<Held> heldBy(Holder holder, const std::string &name, const std::map<std::string, int64_t> &dims,
                           const std::function<bool(const std::string &)> &isGiven) {
  if (holder == Holder::tensor) return Held();
  auto fail = [&](const std::string &what) { badUse("input '" + name + "' " + what); };
  auto dim = [&](const char *which) -> std::optional<int64_t> {
    auto found = dims.find(name + which);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  };
  int64_t given = 0;
  if (!isSequence(holder)) given = isGiven(name);
  while (isSequence(holder) && isGiven(elementName(name, given))) ++given;
  std::optional<int64_t> length = isSequence(holder) ? dim(".length") : std::nullopt;
  std::optional<int64_t> present = isOptional(holder) ? dim(".present") : std::nullopt;
  if (length && *length < 0) fail("is given " + std::to_string(*length) + " elements (" + name + ".length)");
  if (length && *length > kMostElements)
    fail("is given " + std::to_string(*length) + " elements (" + name + ".length); programs take " +
         std::to_string(kMostElements) + " at most");
  if (length && *length < given)
    fail("is given " + std::to_string(*length) + " elements (" + name + ".length), and '" +
         elementName(name, given - 1) + "' as well");
  if (present && *present != 0 && *present != 1)
    fail("is given " + std::to_string(*present) + " as " + name + ".present; expected 0 or 1");
  if (present && !*present) {
    if (length || given) fail("is given as absent (" + name + ".present), and what it holds as well");
    return Held{false, 0};
  }
  if (!isSequence(holder)) return present || given ? std::optional(Held()) : std::nullopt;
  if (length || given) return Held{true, length.value_or(given)};
  return std::nullopt;
}

void refuseRanges(Holder holder, const std::string &name, const std::function<bool(const std::string &)> &isRange) {
  for (const char *which : {".length", ".present"})
    if (holder != Holder::tensor && isRange(name + which))
      badUse("dimension '" + name + which +
             "' is given as a range; it says which inputs a program takes: expected a size");
}

void bind(Holder holder, const std::string &name, const Held &held, std::map<std::string, int64_t> &dims) {
  if (isSequence(holder) && held.isPresent)
    dims[name + ".length"] = held.count;
  else if (isOptional(holder))
    dims[name + ".present"] = held.isPresent;
}

std::string flagOf(Holder holder, const std::string &name) {
  std::string length = "--dim " + name + ".length=N";
  if (!isOptional(holder)) return length;
  std::string present = "--dim " + name + ".present=";
  return isSequence(holder) ? length + " or " + present + "0" : present + "1 or 0";
}

std::vector<std::string> namesOf(Holder holder, const std::string &name, const Held &held) {
  if (!isSequence(holder)) return held.isPresent ? std::vector{name} : std::vector<std::string>();
  std::vector<std::string> names;
  for (int64_t i = 0; i < held.count; ++i) names.push_back(elementName(name, i));
  return names;
}

} // namespace sprig::data
