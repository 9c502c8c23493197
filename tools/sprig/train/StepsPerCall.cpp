#include "tools/sprig/train/StepsPerCall.h"
#include "tools/sprig/Report.h"
#include <CLI/CLI.hpp>

namespace sprig::cli {

// As the pass that repeats programs takes (lib/Schedule/Passes.h); a program that is so long is a slip.
constexpr int64_t kMostSteps = 256;

void StepsPerCall::addTo(CLI::App &command) {
  command
      .add_option("--steps-per-call,--steps-per-execution", steps,
                  "training steps that one call of the program takes (Keras: steps_per_execution; default 1): less is "
                  "handed over for small networks, and of ranks the next step begins while gradients are on their way. "
                  "Bits do not depend on it")
      ->check(CLI::Range(int64_t(1), kMostSteps));
}

int64_t StepsPerCall::count(const Settings &settings) const {
  int64_t count = steps.value_or(1);
  if (count == 1) return 1;
  std::string flag = "--steps-per-call " + std::to_string(count);
  if (settings.lanes > 1)
    badUse(flag + ": repeats programs of one lane, and --lanes asks for " + std::to_string(settings.lanes));
  rt::core::GivenDevices given = settings.parsedDevices();
  if (!given.threads && given.list.size() > 1)
    badUse(flag + ": repeats programs of one device, and --devices " + settings.givenDevices() + " names " +
           std::to_string(given.list.size()));
  return count;
}

void StepsPerCall::refuseOf(const std::string &package) const {
  if (!steps) return;
  badUse("--steps-per-call " + std::to_string(*steps) + ": " + package +
         " is a package, which has the calls that it was compiled with");
}

} // namespace sprig::cli
