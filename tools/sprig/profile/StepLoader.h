// Gives the calls of a profile their batches as a program's loop would: from a loader, whose workers load the next ones
// meanwhile. The samples are those of the profiled arrays, again and again, so the values are the same.
// For sprig profile --workers, --prefetch and --io-delay.
#pragma once
#include "tools/sprig/LoaderFlags.h"
#include "tools/sprig/run/Runner.h"
#include <memory>
#include <optional>
#include <string>

namespace sprig::cli {

class StepLoader {
public:
  /// Of the arrays whose first dimension is the batch. Throws usage errors where there are none.
  StepLoader(const LoaderFlags &flags, const std::map<std::string, data::Array> &arrays);

  /// Waits for the next batch and makes the call read it, where it lies, until the next one.
  void next(PreparedCall &call);
  /// Batches that may have been loaded while nobody asked for any.
  int64_t ahead() const;
  std::string describe() const { return cli::describe(loader->options()); }

private:
  std::vector<std::string> names; ///< of the inputs, by field
  std::unique_ptr<data::Loader> loader;
  std::optional<data::Loader::Iterator<data::Batch>> at;
};

} // namespace sprig::cli
