// Sizes that are sums of others: `past + 1`, as exporters name dimensions and users give them (--dim all=past+1). For
// whoever binds sizes of dimensions; knows nothing of MLIR.
#pragma once
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sprig {

/// What stands between the `+`s, without spaces around it.
inline std::vector<std::string_view> termsOf(std::string_view text) {
  std::vector<std::string_view> terms;
  for (bool isLast = false; !isLast;) {
    size_t plus = text.find('+');
    isLast = plus == std::string_view::npos;
    std::string_view term = text.substr(0, plus);
    text.remove_prefix(isLast ? text.size() : plus + 1);
    while (term.starts_with(' ')) term.remove_prefix(1);
    while (term.ends_with(' ')) term.remove_suffix(1);
    terms.push_back(term);
  }
  return terms;
}

/// The value of a sum with one `+` at least, whose terms are numbers and names of sizes; nothing where a term has none
/// yet, or the text is no such sum.
inline std::optional<int64_t> sizeOfSum(std::string_view text, const std::map<std::string, int64_t> &sizes) {
  if (text.find('+') == std::string_view::npos) return std::nullopt;
  int64_t sum = 0;
  for (std::string_view term : termsOf(text)) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(term.data(), term.data() + term.size(), value);
    if (error != std::errc() || end != term.data() + term.size()) {
      auto found = sizes.find(std::string(term));
      if (found == sizes.end()) return std::nullopt;
      value = found->second;
    }
    if (value < 0 || value > INT64_MAX - sum) return std::nullopt;
    sum += value;
  }
  return sum;
}

/// What may be given a size: dimensions, and the names in sums that are given or that dimensions are called.
inline std::set<std::string> sizeNames(const std::set<std::string> &dimensions,
                                       const std::map<std::string, std::string> &sums) {
  std::set<std::string> names = dimensions;
  auto addTerms = [&](const std::string &text) {
    for (std::string_view term : termsOf(text))
      if (term.find_first_not_of("0123456789") != std::string_view::npos) names.emplace(term);
  };
  for (const std::string &dimension : dimensions) addTerms(dimension);
  for (const auto &[name, sum] : sums) addTerms(sum);
  return names;
}

} // namespace sprig
