// The flags of commands whose steps may take their batches from a loader: --workers, --prefetch, --io-delay.
// For sprig train and sprig profile. With none of them there is no loader.
#pragma once
#include "sprig/data.h"
#include "tools/sprig/Command.h"
#include <optional>
#include <string>

namespace sprig::cli {

struct LoaderFlags {
  std::string workers;         ///< a number, or auto; "": the loader's own
  std::optional<int> prefetch; ///< none: the loader's own
  std::string ioDelay;         ///< as data::parseIoDelay; "": none
  bool wanted() const { return !workers.empty() || prefetch || !ioDelay.empty(); }
};

/// `what` is the beginning of the sentence that tells of --workers.
void addLoaderFlags(CLI::App &command, LoaderFlags &flags, const std::string &what);

/// What the flags say; the rest is the caller's. Throws usage errors.
data::LoaderOptions loaderOptions(const LoaderFlags &flags);

/// "batches from a loader with 2 workers, each up to 2 batches ahead"
std::string describe(const data::LoaderOptions &options);

} // namespace sprig::cli
