#include "lib/Model/TrainNote.h"
#include "lib/Json/Json.h"
#include "lib/Training/ReadTrainConfig.h"
#include "sprig/error.h"

using namespace sprig;

// Samples and classes, from 0 to 2^48: sums of them are numbers, too.
static int64_t countIn(const Json &json) {
  std::optional<int64_t> count = wholeNumber<int64_t>(json);
  if (!count || *count < 0 || *count > int64_t(1) << 48) badInput("found " + json.dump() + ", expected a count");
  return *count;
}

std::string sprig::toText(const TrainNote &note) {
  Json json = {{"config", Json::parse(training::toJson(note.config))},
               {"samples", note.samples},
               {"classes", note.classes},
               {"trainable", note.trainable}};
  if (note.zero) json["zero"] = note.zero;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace); // names may be no UTF-8
}

TrainNote sprig::parseTrainNote(std::string_view text, const std::string &package) try {
  Json json = parseJson(text, "it");
  TrainNote note;
  note.config = training::parseTrainConfig(json.at("config").dump(), package);
  note.samples = countIn(json.at("samples"));
  for (const Json &classes : json.at("classes")) note.classes.push_back(countIn(classes));
  note.trainable = json.at("trainable").get<std::vector<std::string>>();
  if (json.contains("zero")) note.zero = int(countIn(json.at("zero")));
  return note;
} catch (const std::exception &error) {
  badInput(package + ": what it says of its training cannot be read: " + error.what());
}
