#include "lib/NonFinite/NonFinite.h"
#include <algorithm>
#include <atomic>

namespace sprig::nonfinite {

namespace {

uint64_t nextOrder() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

/// The origins of one result of an operation.
class ResultOrigins {
public:
  ResultOrigins(const Event &event, size_t result) : event(event), result(result) {}

  Origins all() const {
    Origins origins;
    for (Kind kind : kKinds)
      if (event.results[result][kind]) origins[kind] = originOf(kind);
    return origins;
  }

private:
  using Held = Event::Held;

  std::shared_ptr<const Origin> originOf(Kind kind) const {
    std::vector<Held> same = held([&](Kind other) { return other == kind; });
    if (same.size() > 1)
      if (std::vector<Held> causes = causesAmong(same, kind); !causes.empty()) same = std::move(causes);
    if (!same.empty()) return earliest(same);
    std::vector<Held> infinities = held([&](Kind other) { return other != kind && other != Kind::nan; });
    std::vector<Held> causes = causesAmong(infinities, kind);
    std::shared_ptr<const Origin> cause = causes.empty() ? nullptr : earliest(causes);
    if (cause && kind != Kind::nan) return cause;
    return std::make_shared<Origin>(
        Origin{kind, Origin::Source::operation, event.what(), event.type(result), nextOrder(), std::move(cause)});
  }

  template <typename F> std::vector<Held> held(F isWanted) const {
    std::vector<Held> found;
    for (size_t i = 0; i < event.operands.size(); ++i)
      for (Kind kind : kKinds)
        if (isWanted(kind) && event.operands[i].counts[kind]) found.push_back({i, kind});
    return found;
  }

  /// Those without which the result holds less of a kind, each by itself, or else all together.
  std::vector<Held> causesAmong(const std::vector<Held> &candidates, Kind kind) const {
    auto isCause = [&](std::span<const Held> some) {
      std::optional<std::vector<Counts>> counts = event.without ? event.without(some) : std::nullopt;
      return !counts || (*counts)[result][kind] < event.results[result][kind];
    };
    std::vector<Held> causes;
    for (const Held &each : candidates)
      if (isCause({&each, 1})) causes.push_back(each);
    if (causes.empty() && candidates.size() > 1 && isCause(candidates)) return candidates;
    return causes;
  }

  /// Operations before states, and those before what was given: a mask is harmless more often than an overflow.
  std::shared_ptr<const Origin> earliest(std::span<const Held> some) const {
    auto originOf = [&](const Held &held) { return (*event.operands[held.operand].origins)[held.kind]; };
    auto rank = [](const Origin &origin) { return std::pair(origin.source, origin.order); };
    std::shared_ptr<const Origin> first = originOf(some[0]);
    for (const Held &each : some.subspan(1))
      if (auto other = originOf(each); rank(*other) < rank(*first)) first = other;
    return first;
  }

  const Event &event;
  const size_t result;
};

} // namespace

const char *nameOf(Kind kind) {
  switch (kind) {
  case Kind::nan: return "NaN";
  case Kind::infinity: return "infinity";
  case Kind::negativeInfinity: return "-infinity";
  }
  return "?";
}

Origins Origins::of(const Counts &counts) const {
  Origins some;
  for (Kind kind : kKinds)
    if (counts[kind]) some[kind] = (*this)[kind];
  return some;
}

void Origins::complete(const Counts &counts, Origin::Source source, const std::string &what, const std::string &type) {
  for (Kind kind : kKinds)
    if (auto &origin = (*this)[kind]; counts[kind] && !origin)
      origin = std::make_shared<Origin>(Origin{kind, source, what, type, nextOrder(), nullptr});
}

std::vector<Origins> originsOf(const Event &event) {
  std::vector<Origins> origins;
  for (size_t i = 0; i < event.results.size(); ++i) origins.push_back(ResultOrigins(event, i).all());
  return origins;
}

std::string textOf(const Origin &origin) {
  const char *verb = origin.source == Origin::Source::operation ? " gives " : " holds ";
  std::string text = origin.what + verb + nameOf(origin.kind) + " in " + origin.type;
  if (!origin.cause) return text;
  const Origin &cause = *origin.cause;
  return text + ", from the " + nameOf(cause.kind) + " that " + cause.what +
         (cause.source == Origin::Source::operation ? " gives in " : " holds in ") + cause.type;
}

} // namespace sprig::nonfinite
