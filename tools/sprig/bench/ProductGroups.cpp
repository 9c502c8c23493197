#include "tools/sprig/bench/ProductGroups.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <map>
#include <sstream>

namespace sprig::cli {

Model squareProduct(int64_t n, const std::string &element) {
  std::string type = "tensor<" + std::to_string(n) + "x" + std::to_string(n) + "x" + element + ">";
  return textModel("product", "func.func @main(%a: " + type + ", %b: " + type + ") -> " + type +
                                  " {\n  %c = nn.matmul %a, %b : " + type + ", " + type + "\n  return %c : " + type +
                                  "\n}\n");
}

Model groupsModel(int64_t n, int groups, int products) {
  std::string type = "tensor<" + std::to_string(n) + "x" + std::to_string(n) + "xf32>", arguments, body, results, types;
  for (int g = 0; g < groups; ++g) {
    std::string x = "%x" + std::to_string(g), w = "%w" + std::to_string(g);
    arguments += (g ? ", " : "") + x + ": " + type + ", " + w + ": " + type;
    for (int p = 0; p < products; ++p) {
      std::string product = "%p" + std::to_string(g) + "_" + std::to_string(p);
      body += "  " + product + " = nn.matmul " + x + ", " + w + " : " + type + ", " + type + "\n";
      x = product;
    }
    results += (g ? ", " : "") + x;
    types += (g ? ", " : "") + type;
  }
  return textModel("groups of products of " + std::to_string(n), "func.func @main(" + arguments + ") -> (" + types +
                                                                     ") {\n" + body + "  return " + results + " : " +
                                                                     types + "\n}\n");
}

namespace {

// The buffers that a command names in front of its types.
std::vector<std::string> buffersOf(const std::string &command) {
  std::vector<std::string> found;
  for (size_t at = command.find('%'); at != std::string::npos && at < command.find(" : ");
       at = command.find('%', at + 1))
    found.push_back(command.substr(at, command.find_first_not_of("0123456789", at + 1) - at));
  return found;
}

} // namespace

std::string spreadOverLanes(const std::string &program, int lanes) {
  std::istringstream lines(program);
  std::string text, line;
  std::vector<std::string> commands;
  std::map<std::string, size_t> groupOf; // of buffers
  std::vector<std::string> groups;
  std::string header; // "    exec.lane on @cpu {"
  bool inLane = false;
  while (std::getline(lines, line)) {
    if (line.find("exec.lane on") != std::string::npos) {
      inLane = true;
      header = line;
      text += "@lanes@\n";
    } else if (inLane && line == "    }") {
      inLane = false;
    } else if (inLane) {
      commands.push_back(line);
    } else {
      text += line + "\n";
    }
  }
  // Until nothing moves: a command's buffers are of one group.
  std::vector<size_t> own(commands.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = i;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < commands.size(); ++i)
      for (const std::string &buffer : buffersOf(commands[i])) {
        size_t least = std::min(groupOf.try_emplace(buffer, own[i]).first->second, own[i]);
        moved |= least != own[i] || least != groupOf[buffer];
        own[i] = groupOf[buffer] = least;
      }
  }
  std::map<size_t, std::string> byGroup;
  for (size_t i = 0; i < commands.size(); ++i) byGroup[own[i]] += commands[i] + "\n";
  std::vector<std::string> ofLane(static_cast<size_t>(lanes));
  size_t next = 0;
  for (auto &[group, list] : byGroup) ofLane[next++ % ofLane.size()] += list;
  std::string all;
  for (const std::string &list : ofLane)
    if (!list.empty()) all += header + "\n" + list + "    }\n";
  size_t place = text.find("@lanes@\n");
  return place == std::string::npos ? program : text.replace(place, 8, all);
}

Model onLanes(const Model &model, const Settings &settings, int lanes) {
  Settings scheduled = settings;
  scheduled.compileTo = "schedule";
  return textModel(model.path + " on lanes",
                   spreadOverLanes(compileToText(model, {EntryRequest{}}, scheduled, ""), lanes));
}

} // namespace sprig::cli
