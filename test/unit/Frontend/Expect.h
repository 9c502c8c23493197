// What a piece of code throws, what a text has, and whether two tensors are the same to the last bit: for tests of the
// front-end.
#pragma once
#include "sprig/tensor.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace sprig {

/// The text of the sprig::Error that f throws, or "no error".
template <typename F> std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

inline bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

inline void expectSameBits(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(describe(a.type()), describe(b.type()));
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), size_t(a.type().bytes())), 0) << a.text() << " and " << b.text();
}

} // namespace sprig
