// Which operation is to blame for a NaN or an infinity: one rule for `sprig train --debug-nan` and DetectNonFinite.
// An operation makes a kind of such numbers where its results hold it and none of its operands does. Callers report
// each operation after it has run. The origins of a value's numbers are kept with the value, so no earlier value is.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sprig::nonfinite {

enum class Kind : uint8_t { nan, infinity, negativeInfinity };
inline constexpr Kind kKinds[] = {Kind::nan, Kind::infinity, Kind::negativeInfinity};
inline constexpr size_t kKindCount = std::size(kKinds);
const char *nameOf(Kind kind);

/// How many elements of a value are of each kind.
class Counts {
public:
  int64_t operator[](Kind kind) const { return counts[size_t(kind)]; }
  bool any() const { return counts != decltype(counts){}; }
  void add(double element) {
    if (std::isfinite(element)) [[likely]]
      return;
    ++counts[size_t(std::isnan(element) ? Kind::nan : element > 0 ? Kind::infinity : Kind::negativeInfinity)];
  }

private:
  std::array<int64_t, kKindCount> counts{};
};

/// Whether an element is of a kind.
inline bool isOf(Kind kind, double element) {
  return kind == Kind::nan ? std::isnan(element) : std::isinf(element) && (element > 0) == (kind == Kind::infinity);
}

/// What brought numbers of a kind about.
struct Origin {
  enum class Source : uint8_t {
    operation, ///< made them of others
    state,     ///< a parameter or another state that held them from the start
    given,     ///< a constant or an input
  };
  Kind kind;
  Source source;
  std::string what;                    ///< "nn.log at model.onnx:node", "parameter 'fc.weight'"
  std::string type;                    ///< of the value: "f32[3]"
  uint64_t order;                      ///< later ones are larger
  std::shared_ptr<const Origin> cause; ///< of the infinity that an operation made a NaN of; null: there was none
};

/// The origins of the numbers that a value holds, by kind; null where it holds none of that kind.
class Origins {
public:
  const std::shared_ptr<const Origin> &operator[](Kind kind) const { return origins[size_t(kind)]; }
  std::shared_ptr<const Origin> &operator[](Kind kind) { return origins[size_t(kind)]; }
  /// NaN before infinities; null where all is finite.
  std::shared_ptr<const Origin> first() const {
    for (const auto &origin : origins)
      if (origin) return origin;
    return nullptr;
  }
  /// Adds what no operation has made, of the kinds that the value holds and has no origins of.
  void complete(const Counts &counts, Origin::Source source, const std::string &what, const std::string &type);
  /// Of a value that some other one became a part of, or all of: of the kinds that it holds.
  Origins of(const Counts &counts) const;

private:
  std::array<std::shared_ptr<const Origin>, kKindCount> origins;
};

/// An operation that has run.
struct Event {
  struct Operand {
    Counts counts;
    const Origins *origins; ///< of all kinds that it holds
  };
  struct Held {
    size_t operand;
    Kind kind;
  };
  std::span<const Operand> operands;
  std::span<const Counts> results;
  /// The results' counts when elements of these kinds in these operands are ones; none where that is unknown.
  std::function<std::optional<std::vector<Counts>>(std::span<const Held>)> without;
  std::function<std::string()> what;
  std::function<std::string(size_t result)> type;
};

/// The origins of each result. A kind that operands hold, too, comes from them. A NaN that the operation makes has the
/// cause of an infinity in an operand, where it would not be there without; an infinity of the other sign is the same
/// infinity.
std::vector<Origins> originsOf(const Event &event);

/// "nn.mul at loss gives NaN in f32[3], from the -infinity that nn.log at node gives in f32[3]"
std::string textOf(const Origin &origin);

} // namespace sprig::nonfinite
