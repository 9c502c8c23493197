#include "lib/Lengths/Length.h"
#include "llvm/Support/MathExtras.h"

namespace sprig {

int64_t Length::at(int64_t t) const { return llvm::divideFloorSigned(multiple * t + add, divisor); }

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

std::string Length::text() const {
  if (isFixed()) return std::to_string(at(0));
  std::string text = (multiple == 1 ? "" : std::to_string(multiple) + " ") + "t";
  if (add) text += (add > 0 ? " + " : " - ") + std::to_string(std::abs(add));
  return divisor == 1 ? text : "(" + text + ") / " + std::to_string(divisor);
}

} // namespace sprig
