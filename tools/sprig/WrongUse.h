// What is wrong with a command line, in one line that says what was meant or what is there.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sprig::cli {

/// What the first word says that is neither a command nor a flag of the program's own; CLI11 would say that a
/// subcommand is required.
std::optional<std::string> wrongFirstWord(const CLI::App &app, std::string_view word);

/// For CLI::PositiveNumber, whose refusal spells out the largest number that there is.
CLI::Validator positiveNumber();

/// What an option has been given that is no value, as where a shell's variable is not set.
std::optional<std::string> emptyValue(const CLI::App &app);

/// Of an error with these words behind the program's name, and whose help to ask for.
std::string textOf(const CLI::App &app, const CLI::Error &error, std::span<const char *const> words);

} // namespace sprig::cli
