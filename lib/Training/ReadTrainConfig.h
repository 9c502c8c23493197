// A training configuration from JSON, held to one table (ConfigSchema.h) that `--config-help` prints too.
// For `sprig train`. Throws sprig::Error (badInput for a file, usage for a flag) that names the file, the field's path,
// what stands there and what was expected.
#pragma once
#include "lib/Training/TrainConfig.h"
#include <filesystem>
#include <span>
#include <string_view>

namespace sprig::training {

/// A flag that sets a field: {"--batch", "batch", "64"}. The text is JSON; a path has dots ("optimizer.lr").
struct Override {
  std::string flag, path, json;
};

TrainConfig parseTrainConfig(std::string_view json, const std::string &file, std::span<const Override> overrides = {});
TrainConfig readTrainConfig(const std::filesystem::path &file, std::span<const Override> overrides = {});

/// The fields "optimizer" and "lr_schedule" by themselves, of whoever `place` names in errors, as a file is named.
OptimizerConfig parseOptimizer(std::string_view json, const std::string &place);
ScheduleConfig parseSchedule(std::string_view json, const std::string &place);
/// Hold a struct that was not read to the same table, with the errors of the JSON that it would be.
void check(const OptimizerConfig &config, const std::string &place);
void check(const ScheduleConfig &config, const std::string &place);

/// Fills in what depends on the data: steps of the run, of an epoch, of the schedule. A step takes accumulate × batch
/// samples, and an epoch ends with a smaller one unless dropLast. badInput where an epoch would have no step at all.
void resolve(TrainConfig &config, int64_t samples);

/// Steps of one epoch over so many samples.
int64_t stepsPerEpoch(const TrainConfig &config, int64_t samples);

/// The whole schema for people (`sprig train --config-help`), and as a JSON document.
std::string describeSchema();
std::string schemaAsJson();

/// The configuration as JSON that reads back to the same structs; fields in the schema's order, so equal configurations
/// give equal text.
std::string toJson(const TrainConfig &config);
/// The same of one field, in a line.
std::string toJson(const OptimizerConfig &config);
std::string toJson(const ScheduleConfig &config);

} // namespace sprig::training
