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

namespace sprig {

/// The value of a sum with one `+` at least, whose terms are numbers and names of sizes; nothing where a term has none
/// yet, or the text is no such sum.
inline std::optional<int64_t> sizeOfSum(std::string_view text, const std::map<std::string, int64_t> &sizes) {
  if (text.find('+') == std::string_view::npos) return std::nullopt;
  int64_t sum = 0;
  for (bool isLast = false; !isLast;) {
    size_t plus = text.find('+');
    isLast = plus == std::string_view::npos;
    std::string_view term = text.substr(0, plus);
    text.remove_prefix(isLast ? text.size() : plus + 1);
    while (term.starts_with(' ')) term.remove_prefix(1);
    while (term.ends_with(' ')) term.remove_suffix(1);
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

/// Adds the terms of a sum that are no numbers, or the text itself where it is no sum.
inline void addTerms(std::string_view text, std::set<std::string> &names) {
  for (bool isLast = false; !isLast;) {
    size_t plus = text.find('+');
    isLast = plus == std::string_view::npos;
    std::string_view term = text.substr(0, plus);
    text.remove_prefix(isLast ? text.size() : plus + 1);
    while (term.starts_with(' ')) term.remove_prefix(1);
    while (term.ends_with(' ')) term.remove_suffix(1);
    if (term.find_first_not_of("0123456789") != std::string_view::npos) names.emplace(term);
  }
}

} // namespace sprig
