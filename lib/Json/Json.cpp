#include "lib/Json/Json.h"
#include <algorithm>
#include <vector>

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

Json sprig::parseJsonFile(std::string_view text, const std::string &file) {
  std::vector<std::vector<std::string>> seen;
  std::string repeated;
  auto watch = [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      seen.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      seen.pop_back();
    else if (event == Json::parse_event_t::key) {
      auto &keys = seen.back();
      std::string key = value.get<std::string>();
      if (std::find(keys.begin(), keys.end(), key) != keys.end() && repeated.empty()) repeated = key;
      keys.push_back(key);
    }
    return true;
  };
  Json document;
  try {
    document = parseJson(text, file, ErrorKind::badInput, watch);
  } catch (const Json::exception &error) {
    std::string what = error.what();
    if (size_t end = what.find("] "); what.starts_with('[') && end != std::string::npos) what.erase(0, end + 2);
    badInput(file + ": not JSON: " + what);
  }
  if (!repeated.empty()) badInput(file + ": the field '" + repeated + "' is there twice");
  return document;
}
