// Links as people write them: "cpu:0-cpu:1=5us,1GB/s", and behind that if wanted ",half" (both directions share the
// rate) and a length of fibre, ",10000km". One notation for who runs over links and for who plays them. Header-only.
#ifndef SPRIG_RT_LINKS_HPP
#define SPRIG_RT_LINKS_HPP

#include "sprig/rt/units.hpp"

#include <algorithm>

namespace sprig::rt {

// Of light in fibre.
inline constexpr double kMetersPerSecond = 2e8;

struct GivenLink {
  std::string a, b; // the places that it joins
  LinkRates rates;  // without the length
  bool halfDuplex = false;
  double meters = 0;

  double latencyNs() const { return rates.latencyNs + meters / kMetersPerSecond * 1e9; }
};

// What is wrong with the text, with what was expected; empty: nothing.
inline std::string parseGivenLink(std::string_view text, GivenLink &link) {
  std::string form = "expected A-B=LATENCY,RATE, as cpu:0-cpu:1=5us,1GB/s";
  size_t equals = text.find('='), dash = text.find('-');
  if (equals == std::string_view::npos || dash == std::string_view::npos || dash > equals) return form;
  link.a = text.substr(0, dash);
  link.b = text.substr(dash + 1, equals - dash - 1);
  if (link.a.empty() || link.b.empty()) return form;
  if (link.a == link.b) return "leads back to where it begins";
  bool isHalf = false, hasLength = false;
  size_t count = 0;
  for (size_t start = equals + 1; start <= text.size(); ++count) {
    size_t comma = std::min(text.find(',', start), text.size());
    std::string part(text.substr(start, comma - start));
    start = comma + 1;
    if (count == 0) {
      auto latency = parseNanoseconds(part);
      if (!latency) return "found '" + part + "', expected " + std::string(kTimeForm);
      link.rates.latencyNs = *latency;
    } else if (count == 1) {
      auto rate = parseRate(part);
      if (!rate) return "found '" + part + "', expected " + std::string(kRateForm);
      link.rates.rate = *rate;
    } else if (part == "half") {
      if (isHalf) return "half is given twice";
      link.halfDuplex = isHalf = true;
    } else if (auto meters = parseMeters(part)) {
      if (hasLength) return "a length is given twice";
      hasLength = true;
      link.meters = *meters;
    } else {
      return "found '" + part + "', expected half, or a length as 10000km";
    }
  }
  return count < 2 ? form : "";
}

} // namespace sprig::rt

#endif
