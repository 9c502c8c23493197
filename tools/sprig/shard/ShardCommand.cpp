// sprig shard: a model split over a mesh, as a table or as the program of one rank.
#include "lib/Data/File.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/shard/ShardModel.h"
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace sprig::cli {
namespace {

struct ShardOptions {
  CommonOptions common;
  Settings settings;
  std::string model, output;
  ShardRequest request;
};

void printShardReport(const ShardOptions &options, const ShardReport &report) {
  if (options.common.json()) {
    Json values = Json::array(), collectives = Json::array();
    for (const ShardReport::Value &value : report.values)
      values.push_back({{"what", value.what},
                        {"name", value.name},
                        {"type", value.type},
                        {"sharding", value.sharding},
                        {"part", value.part}});
    for (const ShardReport::Collective &each : report.collectives)
      collectives.push_back({{"kind", each.kind}, {"count", each.count}, {"bytes", each.bytes}});
    std::cout << toText(Json{{"ranks", report.ranks},
                             {"rank", options.request.rank},
                             {"values", values},
                             {"collectives", collectives},
                             {"parameter_bytes", report.parameterBytes},
                             {"whole_parameter_bytes", report.wholeParameterBytes}})
              << '\n';
    return;
  }
  std::cout << "rank " << options.request.rank << " of " << report.ranks << ": "
            << formatBytes(double(report.parameterBytes)) << " of " << formatBytes(double(report.wholeParameterBytes))
            << " of parameters\n";
  Table values({"", "name", "whole", "sharding", "part"}, Table::Cells::text);
  for (const ShardReport::Value &value : report.values)
    values.add({value.what, value.name, value.type, value.sharding, value.part});
  values.print();
  if (report.collectives.empty()) {
    std::cout << "no collectives\n";
    return;
  }
  Table collectives({"collective", "calls", "size"});
  for (const ShardReport::Collective &each : report.collectives)
    collectives.add({each.kind, std::to_string(each.count), formatBytes(double(each.bytes))});
  collectives.print();
}

int shard(const ShardOptions &options) {
  Model model = openModel(options.model);
  if (model.kind == ModelKind::package)
    badUse(options.model + ": is a package already; a model is split before it is compiled");
  ShardReport report = shardModel(model, entryToSplit(model, options.settings), options.settings, options.request);
  if (!options.output.empty()) data::writeFile(options.output, report.program);
  printShardReport(options, report);
  return kDone;
}

} // namespace

EntryRequest entryToSplit(const Model &model, const Settings &settings) {
  auto specs = inputsOfCalls(model, settings);
  auto dims = settings.entryDims();
  if (dims.size() > 1) badUse("--dim: gives " + std::to_string(dims.size()) + " entries, and one is split at a time");
  EntryRequest entry{dims.empty() ? std::map<std::string, int64_t>() : dims.front(), settings.inputShapes(), {}};
  bindShapes(specs, entry.shapes, entry.dims);
  requireSizes(model.path, specs, entry.dims);
  return entry;
}

void addShard(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<ShardOptions>();
  CLI::App *command =
      addCommand(app, "shard", "Splits a model over a mesh: what each rank has, and what ranks tell each other",
                 "  sprig shard examples/digits/model.onnx --dim batch=64 --mesh data=4 --shard image=data,-,-,-\n"
                 "  sprig shard mlp.mlir --mesh data=2,model=2 --shard w=-,model --rank 3 -o rank3.mlir",
                 options->common);
  command->add_option("MODEL", options->model, "an ONNX file, or MLIR in the nn dialect (- reads standard input)")
      ->required();
  addText(*command, "--mesh", "AXIS=N,...", options->request.mesh, "axes and how many ranks each has: data=2,model=4")
      ->required();
  addShardings(*command, options->request.shardings);
  command->add_option("--rank", options->request.rank, "whose program and parts (default 0)")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 20));
  command->add_option("-o,--output", options->output, "writes the rank's program, as MLIR, to FILE.mlir");
  addSettings(*command, options->settings);
  onRun(*command, invocation, [=] { return shard(*options); });
}

} // namespace sprig::cli
