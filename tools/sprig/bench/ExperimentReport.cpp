#include "tools/sprig/bench/Experiment.h"
#include "sprig/error.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {

// JSON has tables and cells by name: of two with one name, one would be lost.
void ExperimentReport::table(const std::string &name, std::vector<std::string> header) {
  auto refuse = [&](const std::string &what) { internalError("the experiment's table '" + name + "' " + what); };
  for (const Section &section : sections)
    if (section.name == name) refuse("is there twice");
  for (auto column = header.begin(); column != header.end(); ++column)
    if (std::find(header.begin(), column, *column) != column) refuse("has two columns '" + *column + "'");
  sections.push_back({name, std::move(header), {}});
}

void ExperimentReport::row(std::vector<Json> cells) {
  Section &section = sections.back();
  if (cells.size() > section.header.size())
    internalError("the experiment's table '" + section.name + "' has " + std::to_string(section.header.size()) +
                  " columns, and a row of " + std::to_string(cells.size()) + " cells");
  section.rows.push_back(std::move(cells));
}

void ExperimentReport::bothAtOnce(double first, double second, double both) {
  double longer = std::max(first, second), sum = first + second;
  auto ms = [](double seconds) { return formatDouble(seconds * 1e3, 4) + " ms"; };
  // Clocks and caches give and take a few per cent.
  timed("both at once take no less than the longer of the two alone, within 3%",
        ms(both) + ", alone " + ms(first) + " and " + ms(second), both >= 0.97 * longer);
  timed("both at once take less than one after the other", ms(both) + ", in turn " + ms(sum), both < sum);
  timed("both at once take at most 15% longer than the longer one alone",
        formatDouble(both / longer, 3) + " times as long", both <= 1.15 * longer);
}

void ExperimentReport::verdict(const std::string &relation, const std::string &figures, bool holds) {
  verdicts.push_back({relation, figures, holds, false});
}

void ExperimentReport::timed(const std::string &relation, const std::string &figures, bool holds) {
  verdicts.push_back({relation, figures, holds, true});
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
    json["verdicts"].push_back({{"relation", verdict.relation},
                                {"figures", verdict.figures},
                                {"holds", verdict.holds},
                                {"timed", verdict.isTimed}});
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
