// What the loader's tests share.
#pragma once
#include "sprig/data.h"
#include <gtest/gtest.h>

namespace sprig::data {

/// The text of the sprig::Error that a call throws.
template <typename Run> std::string refusal(Run run, ErrorKind kind = ErrorKind::usage) {
  try {
    run();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

inline void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

template <typename T> std::vector<T> numbersOf(const Field &field) {
  auto numbers = field.numbers<T>();
  return {numbers.begin(), numbers.end()};
}

} // namespace sprig::data
