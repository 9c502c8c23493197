#include "tools/sprig/profile/MemoryReport.h"
#include "lib/Plot/SvgText.h"
#include "runtime/base/Decimal.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {

uint64_t mostInUse(const MemoryPlan &plan) {
  uint64_t most = 0;
  for (size_t at = 0; at < plan.commandCount; ++at) {
    // Views share bytes: what overlaps counts once.
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (auto &buffer : plan.buffers)
      if (buffer.firstCommand <= at && at <= buffer.lastCommand)
        ranges.emplace_back(buffer.offset, buffer.offset + (buffer.size + 63) / 64 * 64);
    std::sort(ranges.begin(), ranges.end());
    uint64_t end = 0, live = 0;
    for (auto &[from, to] : ranges) {
      live += to > end ? to - std::max(from, end) : 0;
      end = std::max(end, to);
    }
    most = std::max(most, live);
  }
  return most;
}

Json toJson(const MemoryNeeds &needs) {
  Json entries = Json::array();
  for (const MemoryPlan &plan : needs.entries) {
    Json buffers = Json::array();
    for (auto &buffer : plan.buffers)
      buffers.push_back({{"name", buffer.name},
                         {"offset", buffer.offset},
                         {"bytes", buffer.size},
                         {"first_command", buffer.firstCommand},
                         {"last_command", buffer.lastCommand}});
    entries.push_back({{"entry", plan.entry},
                       {"arena_bytes", plan.arenaBytes},
                       {"lower_bound", plan.lowerBound},
                       {"ratio", plan.ratio()},
                       {"commands", plan.commandCount},
                       {"pieces", plan.pieces},
                       {"buffers", buffers}});
  }
  Json copies = Json::array();
  for (auto &[entry, list] : needs.copies) copies.push_back({{"entry", entry}, {"copies", toJson(list)}});
  const sprig_rt_memory_plan &r = needs.runtime;
  return {{"entries", entries},
          {"copies", copies},
          {"threads", needs.threads},
          {"arena_bytes", r.arena},
          {"scratch_bytes", r.scratch},
          {"state_bytes", r.states},
          {"constants_repeated_bytes", r.constants_repeated},
          {"constants_copied_bytes", r.constants_copied},
          {"constants_mapped_bytes", r.constants_mapped},
          {"allocated_bytes", needs.allocated()},
          {"input_output_bytes", needs.arrays},
          {"total_bytes", needs.total()}};
}

void printMemory(const MemoryNeeds &needs) {
  for (const MemoryPlan &plan : needs.entries) {
    std::cout << "\nmemory of entry '" << plan.entry << "'";
    if (plan.pieces > 1) std::cout << ", of a thread for one of " << plan.pieces << " pieces of the samples";
    std::cout << ": arena " << formatBytes(double(plan.arenaBytes)) << " for " << plan.buffers.size()
              << (plan.buffers.size() == 1 ? " buffer; " : " buffers; ") << formatBytes(double(plan.lowerBound))
              << " are in use at once (" << formatDouble(plan.ratio(), 4) << " times that)\n";
    if (plan.buffers.empty()) continue;
    Table table({"  buffer", "offset", "size", "commands"});
    for (auto &buffer : plan.buffers)
      table.add({"  " + buffer.name, std::to_string(buffer.offset), formatBytes(double(buffer.size)),
                 std::to_string(buffer.firstCommand) + "-" + std::to_string(buffer.lastCommand)});
    table.print();
  }
  for (auto &[entry, copies] : needs.copies) printCopies(entry, copies);
  const sprig_rt_memory_plan &r = needs.runtime;
  std::cout << '\n';
  Table table({"memory of a context", "bytes", ""});
  auto add = [&](const std::string &what, uint64_t bytes, const std::string &note) {
    if (bytes) table.add({what, std::to_string(bytes), note});
  };
  add("  arena", r.arena, needs.entries.size() > 1 ? "of the entry that needs the most" : "");
  add("  scratch", r.scratch, std::to_string(needs.threads) + (needs.threads == 1 ? " thread" : " threads"));
  add("  state", r.states, "");
  add("  constants, made at load", r.constants_repeated, "of fewer bytes in the file");
  add("  constants, copied", r.constants_copied, "to large pages; mapped from the file if asked for");
  table.add({"  allocated by the runtime", std::to_string(needs.allocated()), ""});
  add("  constants, mapped", r.constants_mapped, "pages of the file, which contexts and processes share");
  add("  inputs and outputs", needs.arrays, "the caller's");
  table.add({"  in all", std::to_string(needs.total()), formatBytes(double(needs.total()))});
  table.print();
}

std::string memoryPlanToSvg(const MemoryPlan &plan) {
  constexpr double kWidth = 960, kHeight = 480, kLeft = 90, kTop = 40, kRight = 20, kBottom = 50;
  double step = (kWidth - kLeft - kRight) / double(std::max<size_t>(plan.commandCount, 1));
  double scale = (kHeight - kTop - kBottom) / double(std::max<uint64_t>(plan.arenaBytes, 1));
  const char *colours[] = {"#4e79a7", "#59a14f", "#f28e2b", "#b07aa1", "#76b7b2", "#edc948", "#e15759", "#9c755f"};
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 480\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"960\" height=\"480\" fill=\"white\"/>\n";
  auto text = [&](double x, double y, const std::string &anchor, const std::string &what) {
    svg += "<text x=\"" + decimal::shortest(x) + "\" y=\"" + decimal::shortest(y) + "\" text-anchor=\"" + anchor +
           "\">" + plot::escape(what) + "</text>\n";
  };
  text(kLeft, 24, "start",
       "arena of entry '" + plan.entry + "': " + formatBytes(double(plan.arenaBytes)) + " over " +
           std::to_string(plan.commandCount) + " commands");
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    auto &buffer = plan.buffers[i];
    double x = kLeft + step * double(buffer.firstCommand),
           width = step * double(buffer.lastCommand - buffer.firstCommand + 1);
    double height = scale * double(buffer.size), y = kHeight - kBottom - scale * double(buffer.offset) - height;
    svg +=
        "<g><title>" +
        plot::escape(buffer.name + ": " + formatBytes(double(buffer.size)) + " at " + std::to_string(buffer.offset)) +
        "</title><rect x=\"" + decimal::shortest(x) + "\" y=\"" + decimal::shortest(y) + "\" width=\"" +
        decimal::shortest(width) + "\" height=\"" + decimal::shortest(height) + "\" fill=\"" +
        colours[i % std::size(colours)] + "\" fill-opacity=\"0.8\" stroke=\"white\"/></g>\n";
    if (height > 14 && width > 8.0 * double(buffer.name.size()))
      text(x + width / 2, y + height / 2 + 4, "middle", buffer.name);
  }
  for (int tick = 0; tick <= 4; ++tick) {
    double bytes = double(plan.arenaBytes) * tick / 4;
    text(kLeft - 8, kHeight - kBottom - scale * bytes + 4, "end", formatBytes(bytes));
  }
  text(kLeft + (kWidth - kLeft - kRight) / 2, kHeight - 16, "middle", "command");
  return svg + "</svg>\n";
}

} // namespace sprig::cli
