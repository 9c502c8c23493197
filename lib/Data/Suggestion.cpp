#include "lib/Data/Suggestion.h"
#include <algorithm>

namespace sprig::data {

// Edits that turn one word into the other.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string suggestion(const std::string &name, const std::vector<std::string> &known, const std::string &before) {
  const std::string *best = nullptr;
  size_t least = name.size() / 3 + 1;
  if (name.size() > 64) return "";
  for (const std::string &word : known)
    if (size_t d = distance(name, word); d <= least && (!best || d < least)) {
      best = &word;
      least = d;
    }
  return best ? "; did you mean '" + before + *best + "'?" : "";
}

} // namespace sprig::data
