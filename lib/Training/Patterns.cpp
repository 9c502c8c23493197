#include "lib/Training/Patterns.h"
#include "include/sprig/error.h"
#include "lib/Data/Listed.h"
#include "lib/Data/Suggestion.h"
#include <algorithm>

namespace sprig::training {

bool matches(const std::string &pattern, const std::string &text) {
  // Goes back to the last star only: a longer match of an earlier one cannot help.
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    // A star is one first, so that a name with a star in it matches its own pattern all the same.
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == text[t] || pattern[p] == '?')) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matchesAny(const std::vector<std::string> &patterns, const std::string &text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string &p) { return matches(p, text); });
}

void refusePattern(const std::string &field, const std::string &absent, const std::string &pattern,
                   const std::vector<std::string> &names) {
  badInput(field + ": " + absent + " '" + pattern + "'" + data::suggestion(pattern, names) +
           "\nnote: " + (names.empty() ? "there are none" : "there are: " + data::listed(names)));
}

} // namespace sprig::training
