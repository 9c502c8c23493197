// A sparse array over addresses: pages of 4096 bytes' worth of data, made where an address is first asked for.
#ifndef SPRIG_TEST_GPU_EMULATOR_PAGES_H
#define SPRIG_TEST_GPU_EMULATOR_PAGES_H

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace sprig::gpu {

template <class Page> class Pages {
public:
  static constexpr uint64_t bytes = 4096;
  Page &at(uint64_t address) {
    uint64_t number = address / bytes;
    // Accesses come in runs: a few recent pages are found without the table.
    auto &recent = cache[number % 64];
    if (recent.first != number || !recent.second) {
      std::unique_ptr<Page> &page = pages[number];
      if (!page) page = std::make_unique<Page>();
      recent = {number, page.get()};
    }
    return *recent.second;
  }
  const std::unordered_map<uint64_t, std::unique_ptr<Page>> &all() const { return pages; }

private:
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  std::pair<uint64_t, Page *> cache[64] = {};
};

} // namespace sprig::gpu
#endif
