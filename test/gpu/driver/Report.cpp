#include "test/gpu/driver/Report.h"

#include <cstdio>

namespace sprig::cuda {

void Report::complain(const std::string &key, const std::string &text) {
  auto [it, isNew] = known.emplace(key, list.size());
  if (!isNew) {
    ++list[it->second].times;
    return;
  }
  list.push_back({text});
  std::fprintf(stderr, "stand-in: %s\n", text.c_str());
}

} // namespace sprig::cuda
