#include "tools/sprig/LoaderFlags.h"
#include <CLI/CLI.hpp>

namespace sprig::cli {

void addLoaderFlags(CLI::App &command, LoaderFlags &flags, const std::string &what) {
  command
      .add_option("--workers", flags.workers,
                  what + " from a loader with so many threads; 0: the calling thread loads; auto: the least of 0, 1, "
                         "2, 4 and 8 that load as quickly as any, by a short measurement (default with --prefetch or "
                         "--io-delay: half of the processors, 1 to 8)")
      ->check(CLI::Validator(
          [](const std::string &text) {
            int workers = -1;
            bool fits = text == "auto" || (CLI::detail::lexical_cast(text, workers) && workers >= 0 && workers <= 1024);
            return fits ? std::string() : "expected auto or a number from 0 to 1024, found '" + text + "'";
          },
          "N|auto"));
  command.add_option("--prefetch", flags.prefetch, "the same: batches that each worker may be ahead (default: 2)");
  command.add_option("--io-delay", flags.ioDelay,
                     "the same: simulated storage, hdd, hdd:RPM, ssd, nvme or the time of each sample, as 2ms "
                     "(default: none)");
}

data::LoaderOptions loaderOptions(const LoaderFlags &flags) {
  data::LoaderOptions options;
  if (flags.workers == "auto")
    options.workers = data::kMeasuredWorkers;
  else if (!flags.workers.empty())
    CLI::detail::lexical_cast(flags.workers, options.workers); // as the check has read it
  if (flags.prefetch) options.prefetch = *flags.prefetch;
  if (!flags.ioDelay.empty()) options.ioDelay = data::parseIoDelay(flags.ioDelay);
  return options;
}

std::string describe(const data::LoaderOptions &options) {
  return "batches from a loader with " + std::to_string(options.workers) +
         (options.workers == 1 ? " worker" : " workers") +
         (options.workers ? ", each up to " + std::to_string(options.prefetch) + " batches ahead" : "");
}

} // namespace sprig::cli
