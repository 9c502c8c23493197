// JSON that others wrote. Its library reads and frees by recursion, so nesting has a limit that every stack holds, and
// it converts a number to any integer without asking whether that holds it.
#pragma once
#include "include/sprig/error.h"
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sprig {

using Json = nlohmann::ordered_json;

/// Reads JSON. Throws Error of `kind` that begins with `what` where lists and objects are nested deeper than 64 levels,
/// Json::exception where the text is no JSON. `watch` sees each event of the parser, as that of Json::parse does.
Json parseJson(std::string_view text, const std::string &what, ErrorKind kind = ErrorKind::badInput,
               const Json::parser_callback_t &watch = nullptr);

/// Reads a file. Throws Error (badInput) that begins with `file` where the text is no JSON, with the line and
/// the column, or has a field twice: which one counts would be a guess.
Json parseJsonFile(std::string_view text, const std::string &file);

/// A whole number that T holds; none for everything else, numbers with a fraction or exponent included.
template <std::integral T> std::optional<T> wholeNumber(const Json &json) {
  bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                        : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
  return fits ? std::optional(json.get<T>()) : std::nullopt;
}

} // namespace sprig
