// Times, rates, sizes and lengths as people write them: "5us", "32GB/s", "100Gbit/s", "16GB", "10000km". Header-only.
// Bits and bytes are never taken for each other: a rate says which it is when it is made and when it is read, and text
// that leaves it open ("10Gbps", "1Gb/s") is refused. A number without a unit is refused, too.
#ifndef SPRIG_RT_UNITS_HPP
#define SPRIG_RT_UNITS_HPP

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace sprig::rt {

// How much goes by in a second.
class Rate {
public:
  constexpr Rate() = default;
  static constexpr Rate ofBytes(double perSecond) { return Rate(perSecond); }
  static constexpr Rate ofBits(double perSecond) { return Rate(perSecond / 8); }

  constexpr double bytesPerSecond() const { return bytes; }
  constexpr double bitsPerSecond() const { return bytes * 8; }
  // Multiplied out first: whole numbers of bytes take the whole nanoseconds that they should.
  constexpr double nanoseconds(double count) const { return count * 1e9 / bytes; }

  constexpr auto operator<=>(const Rate &) const = default;
  constexpr Rate operator*(double factor) const { return Rate(bytes * factor); }

private:
  explicit constexpr Rate(double bytes) : bytes(bytes) {}
  double bytes = 0;
};

namespace units {

struct Unit {
  std::string_view name;
  double factor;
};

inline constexpr std::array kTimes = {Unit{"s", 1e9}, Unit{"ms", 1e6}, Unit{"us", 1e3}, Unit{"\u00b5s", 1e3},
                                      Unit{"ns", 1}};
inline constexpr std::array kSizes = {Unit{"B", 1},         Unit{"kB", 1e3},
                                      Unit{"KB", 1e3},      Unit{"MB", 1e6},
                                      Unit{"GB", 1e9},      Unit{"TB", 1e12},
                                      Unit{"KiB", 1 << 10}, Unit{"MiB", 1 << 20},
                                      Unit{"GiB", 1 << 30}, Unit{"TiB", 1024.0 * (1 << 30)}};
inline constexpr std::array kBits = {Unit{"bit", 1},    Unit{"kbit", 1e3}, Unit{"Kbit", 1e3},
                                     Unit{"Mbit", 1e6}, Unit{"Gbit", 1e9}, Unit{"Tbit", 1e12}};
inline constexpr std::array kWork = {Unit{"FLOP/s", 1}, Unit{"MFLOP/s", 1e6}, Unit{"GFLOP/s", 1e9},
                                     Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15}};
inline constexpr std::array kLengths = {Unit{"m", 1}, Unit{"km", 1e3}};

template <typename List> const Unit *find(const List &list, std::string_view name) {
  for (const Unit &unit : list)
    if (unit.name == name) return &unit;
  return nullptr;
}

// A number that is not negative, and what stands behind it. No number: none.
struct Quantity {
  double value;
  std::string_view unit;
};
inline std::optional<Quantity> split(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return Quantity{value, text};
}

template <typename List> std::optional<double> parse(std::string_view text, const List &list, double most) {
  auto quantity = split(text);
  const Unit *unit = quantity ? find(list, quantity->unit) : nullptr;
  if (!unit || quantity->value * unit->factor > most) return std::nullopt;
  return quantity->value * unit->factor;
}

// "32GB": in the largest unit that leaves a number of 1 or more and reads back as this very value. Each list has a unit
// of factor 1, which does.
template <typename List> std::string write(double value, const List &list) {
  std::string best;
  double bestFactor = 0;
  for (const Unit &unit : list) {
    // Of two names of one factor the first.
    if (unit.factor <= bestFactor || (unit.factor > value && unit.factor != 1)) continue;
    char digits[32];
    char *end = std::to_chars(digits, digits + sizeof digits, value / unit.factor).ptr;
    double read = 0;
    std::from_chars(digits, end, read);
    if (read * unit.factor != value) continue;
    bestFactor = unit.factor;
    best.assign(digits, end).append(unit.name);
  }
  return best;
}

inline constexpr std::array kDecimalSizes = {Unit{"B", 1}, Unit{"kB", 1e3}, Unit{"MB", 1e6}, Unit{"GB", 1e9},
                                             Unit{"TB", 1e12}};

} // namespace units

// What texts may say at most: beyond it something was meant otherwise, and nothing overflows below.
inline constexpr double kMostNanoseconds = 1e15; // some 11 days
inline constexpr double kMostPerSecond = 1e18;
inline constexpr double kMostBytes = 1e18;

// What is expected, for messages.
inline constexpr std::string_view kTimeForm = "a time with its unit, as 5us (ns, us, ms, s)";
inline constexpr std::string_view kRateForm = "a rate above 0 with its unit, as 32GB/s in bytes or 100Gbit/s in bits";
inline constexpr std::string_view kSizeForm = "a size with its unit, as 16GB or 256KiB";
inline constexpr std::string_view kWorkForm = "work above 0 with its unit, as 15.7TFLOP/s";
inline constexpr std::string_view kLengthForm = "a length with its unit, as 10000km (m, km)";

inline std::optional<double> parseNanoseconds(std::string_view text) {
  return units::parse(text, units::kTimes, kMostNanoseconds);
}
inline std::optional<Rate> parseRate(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  std::optional<Rate> rate;
  if (auto bytes = units::parse(text, units::kSizes, kMostPerSecond)) rate = Rate::ofBytes(*bytes);
  if (auto bits = units::parse(text, units::kBits, kMostPerSecond * 8)) rate = Rate::ofBits(*bits);
  // A byte a year is no rate either: times stay finite.
  if (!rate || rate->bytesPerSecond() < 1) return std::nullopt;
  return rate;
}
inline std::optional<double> parseBytes(std::string_view text) { return units::parse(text, units::kSizes, kMostBytes); }
inline std::optional<double> parseFlops(std::string_view text) {
  auto work = units::parse(text, units::kWork, kMostPerSecond * 1e3);
  return work && *work >= 1 ? work : std::nullopt;
}
inline std::optional<double> parseMeters(std::string_view text) { return units::parse(text, units::kLengths, 1e12); }

inline std::string writeNanoseconds(double ns) { return units::write(ns, units::kTimes); }
inline std::string writeRate(Rate rate) { return units::write(rate.bytesPerSecond(), units::kDecimalSizes) + "/s"; }
inline std::string writeBytes(double bytes) { return units::write(bytes, units::kDecimalSizes); }
inline std::string writeFlops(double work) { return units::write(work, units::kWork); }
inline std::string writeMeters(double meters) { return units::write(meters, units::kLengths); }

// What a copy goes over: "5us,32GB/s", a time until the first byte is there and a rate from then on.
struct LinkRates {
  double latencyNs = 0;
  Rate rate;
  double nanoseconds(double bytes) const { return latencyNs + rate.nanoseconds(bytes); }
};
inline constexpr std::string_view kLinkForm = "a time and a rate with their units, as 5us,32GB/s";
inline std::optional<LinkRates> parseLink(std::string_view text) {
  size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  auto latency = parseNanoseconds(text.substr(0, comma));
  auto rate = parseRate(text.substr(comma + 1));
  if (!latency || !rate) return std::nullopt;
  return LinkRates{*latency, *rate};
}

} // namespace sprig::rt

#endif
