// The word that somebody may have meant, for errors.
#pragma once
#include <string>
#include <vector>

namespace sprig::data {

/// "; did you mean 'word'?" for the word that is nearest to the name by edits, of which a third of its letters may be
/// wrong; empty where none is.
std::string suggestion(const std::string &name, const std::vector<std::string> &known, const std::string &before = "");

} // namespace sprig::data
