#include "runtime/device/null/NullOptions.h"

#include <charconv>
#include <cstdlib>

namespace sprig::rt::core {

Status nullOptionsOfEnvironment(NullOptions &options) {
  const char *given = std::getenv("SPRIG_NULL_MODE");
  std::string_view mode = given ? given : "reference";
  if (mode != "reference" && mode != "time")
    return {SPRIG_RT_INVALID_ARGUMENT, concat("SPRIG_NULL_MODE: expected reference or time, found '", mode, "'")};
  options.computes = mode == "reference";
  given = std::getenv("SPRIG_NULL_SEED");
  std::string_view seed = given ? given : "0";
  auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), options.seed);
  if (error != std::errc() || end != seed.data() + seed.size())
    return {SPRIG_RT_INVALID_ARGUMENT, concat("SPRIG_NULL_SEED: expected a whole number, found '", seed, "'")};
  if ((given = std::getenv("SPRIG_NULL_LINK"))) {
    options.link = parseLink(given);
    if (!options.link)
      return {SPRIG_RT_INVALID_ARGUMENT, concat("SPRIG_NULL_LINK: expected ", kLinkForm, ", found '", given, "'")};
  }
  return {};
}

} // namespace sprig::rt::core
