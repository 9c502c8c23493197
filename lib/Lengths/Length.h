// How long a dimension is that depends on an axis which grows: floor((multiple * t + add) / divisor) elements, t being
// the axis's length in a call. For the pass that masks what lies behind, and for whoever states such dimensions.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sprig {

struct Length {
  int64_t multiple = 0, add = 0, divisor = 1;

  static Length fixed(int64_t size) { return {0, size, 1}; }
  static Length axis() { return {1, 0, 1}; }

  bool isFixed() const { return multiple == 0; }
  int64_t at(int64_t t) const {
    int64_t count = multiple * t + add, whole = count / divisor;
    return whole - (count % divisor < 0);
  }
  Length plus(int64_t count) const { return {multiple, add + count * divisor, divisor}; }
  /// Every step-th of the elements, the first among them: ceil(length / step).
  Length everyNth(int64_t step) const { return {multiple, add + (step - 1) * divisor, divisor * step}; }
  Length times(int64_t factor) const;
  /// Of two lengths that are whole multiples of the axis.
  std::optional<Length> plus(const Length &other) const;
  /// As if elements were taken together, `count` at a time; none where that does not divide.
  std::optional<Length> dividedBy(int64_t count) const;
  /// "t", "2 t + 1", "(t + 1) / 2".
  std::string text() const {
    if (isFixed()) return std::to_string(at(0));
    std::string text = (multiple == 1 ? "" : std::to_string(multiple) + " ") + "t";
    if (add) text += (add > 0 ? " + " : " - ") + std::to_string(add > 0 ? add : -add);
    return divisor == 1 ? text : "(" + text + ") / " + std::to_string(divisor);
  }
  bool operator==(const Length &other) const = default;
};

} // namespace sprig
