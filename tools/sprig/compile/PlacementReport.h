// What --explain-placement prints: for each decision, what was weighed.
// For all commands that compile, in both halves of the command line.
#pragma once
#include "sprig/options.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {

Json toJson(const std::vector<Placement> &placements);

/// A line to standard error of what a flag asks to be explained: -q leaves it.
void say(const std::string &line);

/// A table of decisions for each, with a line about the whole call above it, goes to standard error, as remarks do;
/// JSON into the command's document, as "placement".
void explain(const std::vector<Placement> &placements, Json *document);

} // namespace sprig::cli
