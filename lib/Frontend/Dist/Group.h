// A rank's end of a group, as the public Group has it.
#pragma once
#include "lib/Frontend/Engine/RankEnd.h"
#include "sprig/dist.h"
#include <chrono>

namespace sprig::dist {

struct Group::Impl {
  explicit Impl(std::shared_ptr<rt::comm::RankGroup> group) : end(frontend::RankEnd::open(std::move(group))) {}
  ~Impl() { end->close(); }
  Impl(const Impl &) = delete;

  rt::comm::RankGroup &group() const { return *end->group; }
  const std::shared_ptr<frontend::RankEnd> end;
};

} // namespace sprig::dist

namespace sprig::frontend {

/// What can be counted in nanoseconds; more is as long as it takes, which is zero.
inline std::chrono::nanoseconds boundedTimeout(std::chrono::milliseconds timeout) {
  constexpr auto kLongest = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max());
  return timeout > kLongest ? std::chrono::nanoseconds::zero() : std::chrono::nanoseconds(timeout);
}

} // namespace sprig::frontend
