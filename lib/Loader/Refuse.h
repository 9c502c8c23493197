// Errors of wrong use, with the caller's line.
// For what lib/Loader implements of include/sprig/data.
#pragma once
#include "sprig/error.h"
#include "sprig/source.h"
#include <string>

namespace sprig::data {

/// "train.cpp:12: ", or nothing where the line is not known.
inline std::string placeText(Source at) {
  return at.line ? std::string(at.file) + ":" + std::to_string(at.line) + ": " : "";
}

/// Throws Error (usage): "train.cpp:12: data: ...".
[[noreturn]] inline void refuse(Source at, const std::string &text) { badUse(placeText(at) + "data: " + text); }

/// What f gives; its errors get the line.
template <typename F> auto located(Source at, F f) {
  try {
    return f();
  } catch (const Error &error) {
    throw Error(error.kind(), placeText(at) + error.what());
  }
}

} // namespace sprig::data
