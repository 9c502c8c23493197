// Numbers as decimal text, and back, with a point in every locale. printf, strtod, std::to_string and streams follow
// the locale that the process has set, and write "0,5" where that has decimal commas.
#ifndef SPRIG_RUNTIME_BASE_DECIMAL_H
#define SPRIG_RUNTIME_BASE_DECIMAL_H

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sprig::decimal {

inline std::string format(double value, std::chars_format form, int digits) {
  char text[400]; // the largest double has 309 digits before its point
  return {text, std::to_chars(text, text + sizeof text, value, form, digits).ptr};
}

/// As printf's "%.{digits}g": significant digits, at most 17.
inline std::string general(double value, int digits = 6) { return format(value, std::chars_format::general, digits); }

/// As printf's "%.{decimals}f": digits behind the point, at most 60.
inline std::string fixed(double value, int decimals) { return format(value, std::chars_format::fixed, decimals); }

/// The number that `text` starts with, which is taken off; none where it starts with none. Knows a sign, an exponent,
/// "inf" and "nan".
inline std::optional<double> take(std::string_view &text) {
  std::string_view number = text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

/// The number that `text` is; none where it is none, or beyond what a double holds.
inline std::optional<double> parse(std::string_view text) {
  std::optional<double> value = take(text);
  return text.empty() ? value : std::nullopt;
}

/// Whole numbers below 10^15 in full, others by as few digits as tell a float from its neighbours, or a double where it
/// is none.
inline std::string shortest(double value) {
  if (value == std::trunc(value) && std::fabs(value) < 1e15) return fixed(value, 0);
  std::string text;
  for (int digits : {6, 7, 8, 9, 15, 16, 17}) {
    text = general(value, digits);
    double read = parse(text).value_or(value);
    if (read == value || float(read) == value) break;
  }
  return text;
}

/// Three digits with the largest of the units, each `base` of the one before it, that leaves a whole: "235 us", "1.2
/// ms".
inline std::string scaled(double value, double base, std::initializer_list<const char *> units) {
  auto unit = units.begin();
  while (std::fabs(value) >= base && unit + 1 != units.end()) {
    value /= base;
    ++unit;
  }
  int decimals = value == std::floor(value) || std::fabs(value) >= 99.95 ? 0 : std::fabs(value) >= 9.995 ? 1 : 2;
  return fixed(value, decimals) + " " + *unit;
}

} // namespace sprig::decimal

#endif // SPRIG_RUNTIME_BASE_DECIMAL_H
