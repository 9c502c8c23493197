#include "tools/sprig/WrongUse.h"
#include "lib/Data/Listed.h"
#include "lib/Data/Suggestion.h"
#include <algorithm>
#include <vector>

namespace sprig::cli {
namespace {

// Long names, without their dashes.
std::vector<std::string> optionsOf(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_group().empty()) continue; // hidden
    for (const std::string &name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

// CLI11 lists all that is left over, values of unknown options among it, in another order.
std::string unexpected(const CLI::App &command, const std::string &name, std::span<const char *const> words) {
  std::vector<std::string> left = command.remaining();
  auto first = std::find_if(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(left.begin(), left.end(), word) != left.end();
  });
  std::string word = first != words.end() ? *first : left.empty() ? "" : left.front();
  if (!word.starts_with('-')) return "'" + word + "': " + name + " takes no such argument";
  word = word.substr(0, word.find('='));
  return name + " has no option '" + word + "'" +
         data::suggestion(word.substr(std::min(word.size(), word.find_first_not_of('-'))), optionsOf(command), "--");
}

// CLI11's text, but for values that are no number, of which it says "Could not convert: --seed = x".
std::string textOf(const CLI::Error &error) {
  std::string text = error.what();
  constexpr std::string_view start = "Could not convert: ";
  size_t equals = text.find(" = ");
  if (!text.starts_with(start) || equals == std::string::npos) return text;
  return text.substr(start.size(), equals - start.size()) + ": expected a number, found '" + text.substr(equals + 3) +
         "'";
}

} // namespace

std::optional<std::string> wrongFirstWord(const CLI::App &app, std::string_view word) {
  if (word.starts_with('-')) {
    if (app.get_option_no_throw(std::string(word))) return std::nullopt;
    return "'" + std::string(word) + "': expected a command first, whose flags follow it";
  }
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return std::nullopt;
    names.push_back(command->get_name());
  }
  std::string text(word), meant = data::suggestion(text, names);
  return "there is no command '" + text + "'" +
         (meant.empty() ? "; there are " + data::listed(names, names.size()) : meant);
}

CLI::Validator positiveNumber() {
  return CLI::Validator(
      [](std::string &text) {
        double number;
        bool isPositive = CLI::detail::lexical_cast(text, number) && number > 0;
        return isPositive ? std::string() : "expected a number above 0, found " + text;
      },
      "POSITIVE");
}

std::optional<std::string> emptyValue(const CLI::App &app) {
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::Option *option : command->get_options()) {
      if (!option->nonpositional() || option->get_items_expected_max() == 0) continue;
      const std::vector<std::string> &values = option->results();
      if (std::find(values.begin(), values.end(), "") != values.end())
        return option->get_name() + ": the value is empty; leave the option out for its default";
    }
  return std::nullopt;
}

std::string textOf(const CLI::App &app, const CLI::Error &error, std::span<const char *const> words) {
  std::vector<CLI::App *> given = app.get_subcommands(); // of the command line
  const CLI::App &command = given.empty() ? app : *given.front();
  std::string name = given.empty() ? app.get_name() : app.get_name() + " " + command.get_name();
  bool isExtra = dynamic_cast<const CLI::ExtrasError *>(&error);
  return (isExtra ? unexpected(command, name, words) : textOf(error)) + "\nRun '" + name +
         " --help' for what is there.";
}

} // namespace sprig::cli
