#include "test/fuzz/TextMutator.h"
#include <algorithm>
#include <cctype>
#include <cstring>
#include <vector>

namespace sprig::fuzz {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t length = 1;
    if (isWord(text[0]))
      while (length < text.size() && isWord(text[length])) ++length;
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

std::string someNumber(const std::string &old, Choices &choose) {
  uint64_t value = mutatedNumber(std::strtoull(old.c_str(), nullptr, 10), choose);
  switch (choose.below(8)) {
  case 0: return "-" + std::to_string(value);
  case 1: return std::to_string(value) + "." + std::to_string(choose.below(1000));
  case 2: return "1e" + std::to_string(int(choose.below(700)) - 350);
  default: return std::to_string(value);
  }
}

// A run of words between brackets that match, or a few words.
std::pair<size_t, size_t> someRange(const std::vector<std::string> &words, Choices &choose) {
  size_t begin = choose.below(words.size()), end = begin + 1;
  if (std::string_view("([{<").find(words[begin][0]) == std::string_view::npos)
    return {begin, std::min(words.size(), begin + 1 + choose.below(8))};
  for (int depth = 1; end < words.size() && depth > 0; ++end) {
    depth += std::string_view("([{<").find(words[end][0]) != std::string_view::npos;
    depth -= std::string_view(")]}>").find(words[end][0]) != std::string_view::npos;
  }
  return {begin, end};
}

void changeOnce(std::vector<std::string> &words, std::span<const std::string_view> known, Choices &choose) {
  if (words.empty()) words.emplace_back(" ");
  auto at = words.begin() + ptrdiff_t(choose.below(words.size()));
  auto [begin, end] = someRange(words, choose);
  std::vector<std::string> range(words.begin() + ptrdiff_t(begin), words.begin() + ptrdiff_t(end));
  switch (choose.below(9)) {
  case 0: words.erase(at); break;
  case 1: words.erase(words.begin() + ptrdiff_t(begin), words.begin() + ptrdiff_t(end)); break;
  case 2: words.insert(at, range.begin(), range.end()); break;
  case 3: std::swap(*at, words[choose.below(words.size())]); break;
  case 4: *at = words[choose.below(words.size())]; break;
  case 5: *at = choose.of(known); break;
  case 6: words.insert(at, std::string(choose.of(known))); break;
  case 7: { // a number of the text, where there is one near
    auto number = std::find_if(at, words.end(), [](auto &w) { return std::isdigit(static_cast<unsigned char>(w[0])); });
    if (number != words.end()) *number = someNumber(*number, choose);
    break;
  }
  case 8: // nesting
    for (size_t i = choose.below(6); i-- > 0;) {
      words.insert(words.begin() + ptrdiff_t(end), words[end - 1]);
      words.insert(words.begin() + ptrdiff_t(begin), words[begin]);
      end += 2;
    }
    break;
  }
}

} // namespace

std::string mutateText(std::string_view text, std::span<const std::string_view> words, Choices &choose) {
  std::vector<std::string> parts = split(text);
  for (size_t i = 1 + choose.below(4); i-- > 0;) changeOnce(parts, words, choose);
  std::string result;
  for (const std::string &part : parts) result += part;
  return result;
}

size_t mutateAsText(uint8_t *data, size_t size, size_t maxSize, unsigned seed,
                    std::span<const std::string_view> words) {
  Choices choose(seed);
  if (choose.oneIn(8)) return LLVMFuzzerMutate(data, size, maxSize);
  std::string text = mutateText({reinterpret_cast<char *>(data), size}, words, choose);
  size_t length = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), length);
  return length;
}

} // namespace sprig::fuzz
