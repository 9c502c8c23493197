// Two shares of the processor, and comparisons of what is on them. For tests of devices.
#pragma once
#include "lib/Frontend/Record.h"
#include "sprig/sprig.h"
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace sprig::frontend {

inline const Device kFirst("cpu:0"), kSecond("cpu:1");

inline LaneId laneOf(const Device &device) { return computeLane(openDevice(device, "test", {})); }

/// The same type and the same bits.
inline void expectSame(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(describe(a.type()), describe(b.type()));
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), size_t(a.type().bytes())), 0) << a.text() << "\n" << b.text();
}
inline void expectAllSame(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i);
    expectSame(a[i], b[i]);
  }
}

} // namespace sprig::frontend
