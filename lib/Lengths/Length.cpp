#include "lib/Lengths/Length.h"

namespace sprig {

Length Length::times(int64_t factor) const {
  if (divisor == 1) return {multiple * factor, add * factor, 1};
  // floor(x / d) * k is of this form for k = 1 alone.
  return factor == 1 ? *this : fixed(-1);
}

std::optional<Length> Length::plus(const Length &other) const {
  if (other.isFixed()) return plus(other.at(0));
  if (isFixed()) return other.plus(at(0));
  if (divisor != 1 || other.divisor != 1) return std::nullopt;
  return Length{multiple + other.multiple, add + other.add, 1};
}

std::optional<Length> Length::dividedBy(int64_t count) const {
  if (count == 1) return *this;
  if (divisor != 1 || multiple % count || add % count) return std::nullopt;
  return Length{multiple / count, add / count, 1};
}

} // namespace sprig
