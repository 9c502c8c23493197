#include "tools/sprig/PackageReport.h"
#include <algorithm>
#include <iostream>
#include <map>

namespace sprig::cli {
namespace {

sprig_rt_package_info describe(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  return info;
}

sprig_rt_entry_info entryInfo(const Runner &runner, size_t entry) {
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(runner.package(), uint32_t(entry), &info));
  return info;
}

std::vector<sprig_rt_command_info> commands(const Runner &runner, size_t entry) {
  std::vector<sprig_rt_command_info> all;
  for (uint32_t lane = 0; lane < entryInfo(runner, entry).lane_count; ++lane) {
    uint32_t count = 0;
    check(sprig_rt_package_lane(runner.package(), uint32_t(entry), lane, &count));
    for (uint32_t i = 0; i < count; ++i) {
      sprig_rt_command_info info;
      check(sprig_rt_package_command(runner.package(), uint32_t(entry), lane, i, &info));
      all.push_back(info);
    }
  }
  return all;
}

std::string tensorText(const TensorSpec &spec) { return spec.name + ": " + data::describe(spec.dtype, spec.shape); }

Json tensorJson(const std::vector<TensorSpec> &specs) {
  Json list = Json::array();
  for (auto &spec : specs)
    list.push_back({{"name", spec.name}, {"dtype", data::name(spec.dtype)}, {"shape", spec.shape}});
  return list;
}

std::string escapeXml(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

} // namespace

MemoryPlan memoryPlan(const Runner &runner, size_t entry) {
  sprig_rt_entry_info info = entryInfo(runner, entry);
  MemoryPlan plan;
  plan.entry = info.name;
  plan.arenaBytes = info.arena_bytes;
  auto all = commands(runner, entry);
  plan.commandCount = all.size();
  std::map<uint32_t, ArenaBuffer> used;
  for (size_t at = 0; at < all.size(); ++at)
    for (uint32_t i = 0; i < all[at].buffer_count; ++i) {
      uint32_t index = all[at].buffers[i];
      sprig_rt_buffer_info buffer;
      check(sprig_rt_package_buffer(runner.package(), uint32_t(entry), index, &buffer));
      if (std::string(buffer.kind) != "arena") continue;
      auto [found, isNew] = used.try_emplace(index, ArenaBuffer{buffer.name, buffer.offset, buffer.size, at, at});
      found->second.lastCommand = at;
    }
  std::vector<uint64_t> live(all.size(), 0);
  // Views share bytes: those at one offset with overlapping lives count once, by the largest.
  for (auto &[index, buffer] : used) plan.buffers.push_back(buffer);
  for (size_t at = 0; at < all.size(); ++at) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (auto &buffer : plan.buffers)
      if (buffer.firstCommand <= at && at <= buffer.lastCommand)
        ranges.emplace_back(buffer.offset, buffer.offset + buffer.size);
    std::sort(ranges.begin(), ranges.end());
    uint64_t end = 0;
    for (auto &[from, to] : ranges) {
      live[at] += to > end ? to - std::max(from, end) : 0;
      end = std::max(end, to);
    }
    plan.lowerBound = std::max(plan.lowerBound, live[at]);
  }
  return plan;
}

Json packageToJson(const Runner &runner) {
  auto info = describe(runner);
  Json json = {{"producer", info.producer},
               {"format", std::to_string(info.format_major) + "." + std::to_string(info.format_minor)},
               {"bytes", info.file_bytes}};
  Json entries = Json::array(), sections = Json::array(), images = Json::array(), kernels = Json::array(),
       facts = Json::object();
  for (size_t i = 0; i < info.entry_count; ++i) {
    auto entry = entryInfo(runner, i);
    MemoryPlan plan = memoryPlan(runner, i);
    Json list = Json::array();
    for (auto &command : commands(runner, i))
      list.push_back({{"name", command.name},
                      {"kernel", command.kernel},
                      {"tiles", command.tiles},
                      {"flops", command.flops},
                      {"bytes", command.bytes}});
    entries.push_back({{"name", entry.name},
                       {"inputs", tensorJson(runner.inputs(i))},
                       {"outputs", tensorJson(runner.outputs(i))},
                       {"independent_samples", entry.independent_samples != 0},
                       {"flops", entry.flops},
                       {"bytes", entry.bytes},
                       {"arena_bytes", entry.arena_bytes},
                       {"arena_lower_bound", plan.lowerBound},
                       {"commands", list}});
  }
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    sections.push_back({{"kind", section.kind}, {"offset", section.offset}, {"bytes", section.size}});
  }
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    images.push_back({{"isa", image.isa}, {"features", image.features}, {"code_bytes", image.code_bytes}});
  }
  for (uint32_t i = 0; i < info.kernel_count; ++i) {
    sprig_rt_kernel_info kernel;
    check(sprig_rt_package_kernel(runner.package(), i, &kernel));
    kernels.push_back(
        {{"name", kernel.name}, {"scratch_bytes", kernel.scratch_bytes}, {"code_bytes", kernel.code_bytes}});
  }
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key, *value;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    facts[key] = value;
  }
  json.update(
      {{"entries", entries}, {"sections", sections}, {"images", images}, {"kernels", kernels}, {"facts", facts}});
  return json;
}

void printPackage(const Runner &runner) {
  auto info = describe(runner);
  std::cout << "package of " << info.producer << ", format " << info.format_major << '.' << info.format_minor << ", "
            << formatBytes(double(info.file_bytes)) << '\n';
  for (uint32_t i = 0; i < info.fact_count; ++i) {
    const char *key, *value;
    check(sprig_rt_package_fact(runner.package(), i, &key, &value));
    std::cout << "  " << key << ": " << value << '\n';
  }
  for (size_t i = 0; i < info.entry_count; ++i) {
    auto entry = entryInfo(runner, i);
    std::cout << "\nentry '" << entry.name << "'" << (entry.independent_samples ? ", samples are independent" : "")
              << '\n';
    for (auto &spec : runner.inputs(i)) std::cout << "  input   " << tensorText(spec) << '\n';
    for (auto &spec : runner.outputs(i)) std::cout << "  output  " << tensorText(spec) << '\n';
    std::cout << "  " << formatCount(double(entry.flops), "FLOP") << ", " << formatBytes(double(entry.bytes))
              << " moved, arena " << formatBytes(double(entry.arena_bytes)) << '\n';
    Table table({"  command", "tiles", "flop", "bytes"});
    for (auto &command : commands(runner, i))
      table.add({std::string("  ") + command.name, std::to_string(command.tiles),
                 formatCount(double(command.flops), ""), formatBytes(double(command.bytes))});
    table.print();
  }
  std::cout << '\n';
  Table sections({"section", "offset", "size"});
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    sections.add({section.kind, std::to_string(section.offset), formatBytes(double(section.size))});
  }
  sections.print();
  std::cout << '\n';
  Table images({"instruction set", "features", "code"});
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    images.add({image.isa, image.features, formatBytes(double(image.code_bytes))});
  }
  images.print();
}

void printMemoryPlan(const MemoryPlan &plan) {
  std::cout << "\nmemory of entry '" << plan.entry << "': arena " << formatBytes(double(plan.arenaBytes))
            << ", at most " << formatBytes(double(plan.lowerBound)) << " in use at once\n";
  Table table({"  buffer", "offset", "size", "commands"});
  for (auto &buffer : plan.buffers)
    table.add({"  " + buffer.name, std::to_string(buffer.offset), formatBytes(double(buffer.size)),
               std::to_string(buffer.firstCommand) + "-" + std::to_string(buffer.lastCommand)});
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
    svg += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" text-anchor=\"" + anchor + "\">" +
           escapeXml(what) + "</text>\n";
  };
  text(kLeft, 24, "start",
       "arena of entry '" + plan.entry + "': " + formatBytes(double(plan.arenaBytes)) + " over " +
           std::to_string(plan.commandCount) + " commands");
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    auto &buffer = plan.buffers[i];
    double x = kLeft + step * double(buffer.firstCommand),
           width = step * double(buffer.lastCommand - buffer.firstCommand + 1);
    double height = scale * double(buffer.size), y = kHeight - kBottom - scale * double(buffer.offset) - height;
    svg += "<g><title>" +
           escapeXml(buffer.name + ": " + formatBytes(double(buffer.size)) + " at " + std::to_string(buffer.offset)) +
           "</title><rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
           std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" fill=\"" +
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
