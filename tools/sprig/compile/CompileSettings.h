// The compiler's options of a command's settings. For what compiles.
#pragma once
#include "sprig/options.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Where remarks go: those that a flag asks for are printed with -q, too.
using LineSink = void (*)(const std::string &line);
LineSink remarkSink(const Settings &settings);

/// `cpus` is what to make code for when the settings do not say.
CompileOptions compileOptions(const Model &model, const Settings &settings, const std::vector<std::string> &cpus);

} // namespace sprig::cli
