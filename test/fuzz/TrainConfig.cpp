// Training configurations: what is read is written and read again the same, and resolves against any number of samples.
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/Schedule.h"
#include "test/fuzz/TextMutator.h"
#include <vector>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  accepts([&] {
    training::TrainConfig config = training::parseTrainConfig({file.data(), file.size()}, "fuzz.json");
    require(training::parseTrainConfig(training::toJson(config), "again.json") == config,
            "a configuration that is written reads back the same");
    for (int64_t samples : {int64_t(0), int64_t(1), int64_t(60000), INT64_MAX})
      accepts([&] {
        training::TrainConfig resolved = config;
        training::resolve(resolved, samples);
        require(resolved.steps && *resolved.steps >= 0, "a run has a number of steps");
        for (int64_t step : {int64_t(0), *resolved.steps / 2, *resolved.steps}) training::lrAt(resolved, step);
      });
  });
  return 0;
}

// The fields and kinds of the schema itself.
static const std::vector<std::string_view> &schemaWords() {
  static const std::string schema = training::schemaAsJson();
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> found = {"{", "}", "[", "]", ",", ":", "\"", "null", "true", "false", "1e309", "-1"};
    for (size_t at = 0; (at = schema.find('"', at)) != std::string::npos;) {
      size_t end = schema.find('"', at + 1);
      if (end == std::string::npos) break;
      if (end - at < 32) found.push_back(std::string_view(schema).substr(at, end + 1 - at));
      at = end + 1;
    }
    return found;
  }();
  return words;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return mutateAsText(data, size, maxSize, seed, schemaWords());
}
