#include "tools/sprig/bench/Experiment.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {

void ExperimentReport::table(const std::string &name, std::vector<std::string> header) {
  sections.push_back({name, std::move(header), {}});
}

void ExperimentReport::row(std::vector<Json> cells) { sections.back().rows.push_back(std::move(cells)); }

void ExperimentReport::verdict(const std::string &relation, const std::string &figures, bool holds) {
  verdicts.push_back({relation, figures, holds});
}

Json ExperimentReport::toJson(const std::string &experiment) const {
  Json json = {{"experiment", experiment}, {"tables", Json::object()}, {"verdicts", Json::array()}};
  for (const Section &section : sections) {
    Json rows = Json::array();
    for (auto &cells : section.rows) {
      Json row = Json::object();
      for (size_t i = 0; i < cells.size(); ++i) row[section.header[i]] = cells[i];
      rows.push_back(row);
    }
    json["tables"][section.name] = rows;
  }
  for (const Verdict &verdict : verdicts)
    json["verdicts"].push_back(
        {{"relation", verdict.relation}, {"figures", verdict.figures}, {"holds", verdict.holds}});
  json["notes"] = notes;
  return json;
}

void ExperimentReport::print() const {
  for (const Section &section : sections) {
    Table table(section.header);
    for (auto &cells : section.rows) {
      std::vector<std::string> texts;
      for (const Json &cell : cells)
        texts.push_back(cell.is_string()           ? cell.get<std::string>()
                        : cell.is_number_integer() ? std::to_string(cell.get<int64_t>())
                        : cell.is_null()           ? ""
                                                   : formatDouble(cell.get<double>(), 4));
      table.add(texts);
    }
    table.print();
    std::cout << '\n';
  }
  for (const Verdict &verdict : verdicts)
    std::cout << (verdict.holds ? "PASS  " : "FAIL  ") << verdict.relation << ": " << verdict.figures << '\n';
  for (const std::string &note : notes) std::cout << "note: " << note << '\n';
}

bool ExperimentReport::holds() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &verdict) { return verdict.holds; });
}

} // namespace sprig::cli
