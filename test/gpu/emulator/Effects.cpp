#include "test/gpu/emulator/Effects.h"
#include <algorithm>

using namespace sprig::gpu;

void Effects::mark(Pages<Page> &pages, uint64_t address, uint32_t bytes) {
  while (bytes) {
    uint64_t bit = address % 64;
    uint32_t here = uint32_t(std::min<uint64_t>(bytes, 64 - bit));
    uint64_t mask = (here == 64 ? ~uint64_t(0) : (uint64_t(1) << here) - 1) << bit;
    pages.at(address).bits[address % 4096 / 64] |= mask;
    address += here, bytes -= here;
  }
}

std::vector<Update> Effects::updateRanges() const {
  std::vector<Update> result;
  for (const auto &[kind, pages] : updates) result.push_back({kind, ranges(pages)});
  return result;
}

std::vector<Range> Effects::ranges(const Pages<Page> &pages) {
  std::vector<uint64_t> numbers;
  for (const auto &[number, page] : pages.all()) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  std::vector<Range> result;
  auto add = [&](uint64_t begin, uint64_t end) {
    if (!result.empty() && result.back().end == begin)
      result.back().end = end;
    else
      result.push_back({begin, end});
  };
  for (uint64_t number : numbers) {
    const Page &page = *pages.all().at(number);
    for (unsigned word = 0; word < 64; ++word) {
      uint64_t bits = page.bits[word], base = number * 4096 + word * 64;
      if (bits == ~uint64_t(0)) {
        add(base, base + 64);
        continue;
      }
      while (bits) {
        unsigned begin = unsigned(__builtin_ctzll(bits));
        uint64_t rest = ~(bits >> begin);
        unsigned length = rest ? unsigned(__builtin_ctzll(rest)) : 64 - begin;
        length = std::min(length, 64 - begin);
        add(base + begin, base + begin + length);
        bits &= ~((length == 64 ? ~uint64_t(0) : (uint64_t(1) << length) - 1) << begin);
      }
    }
  }
  return result;
}
