#include "lib/Json/Json.h"

using namespace sprig;

namespace {
// Far more than anything that is read here has.
constexpr int kMostNesting = 64;
} // namespace

Json sprig::parseJson(std::string_view text, const std::string &what, ErrorKind kind,
                      const Json::parser_callback_t &watch) {
  return Json::parse(text, [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > kMostNesting)
      throw Error(kind, what + ": is nested deeper than " + std::to_string(kMostNesting) + " levels");
    return !watch || watch(depth, event, value);
  });
}
