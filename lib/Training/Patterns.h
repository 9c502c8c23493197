// Names and globs (`*` any characters, `?` one) by which a configuration chooses parameters and layers.
// For the step builder.
#pragma once
#include <string>
#include <vector>

namespace sprig::training {

/// Whether `pattern` (a name or a glob) has `text`.
bool matches(const std::string &pattern, const std::string &text);
bool matchesAny(const std::vector<std::string> &patterns, const std::string &text);

/// Throws badInput: a pattern of the field has none of the names. `absent` is what the error says before the pattern:
/// "model.onnx has no layer".
[[noreturn]] void refusePattern(const std::string &field, const std::string &absent, const std::string &pattern,
                                const std::vector<std::string> &names);

} // namespace sprig::training
