// Changes of text by its words: what grammars are made of, so that more of it still parses than of changed bytes.
#pragma once
#include "test/fuzz/Fuzz.h"
#include <string_view>

namespace sprig::fuzz {

/// A copy of `text` in which one to four words (names, numbers, single other characters) are removed, repeated,
/// exchanged, moved, nested, or replaced by a word of `words`, by another of the text, or by a number.
std::string mutateText(std::string_view text, std::span<const std::string_view> words, Choices &choose);

/// A custom mutator for text: mostly mutateText, else libFuzzer's own changes.
size_t mutateAsText(uint8_t *data, size_t size, size_t maxSize, unsigned seed, std::span<const std::string_view> words);

} // namespace sprig::fuzz
