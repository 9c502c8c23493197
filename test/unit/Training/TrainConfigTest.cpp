#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/ConfigSchema.h"
#include "lib/Training/Patterns.h"
#include "lib/Training/Schedule.h"
#include "sprig/error.h"
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

using namespace sprig;
using namespace sprig::training;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

Json minimal() {
  return Json::parse(R"({"loss": "mse", "optimizer": {"name": "sgd", "lr": 0.1}, "batch": 4, "steps": 3})");
}

TrainConfig parse(const Json &json, std::vector<Override> overrides = {}) {
  return parseTrainConfig(json.dump(), "c.json", overrides);
}

// The text of the error that a document gives, which must be of this kind.
std::string refused(const std::string &text, std::vector<Override> overrides = {},
                    ErrorKind kind = ErrorKind::badInput) {
  try {
    parseTrainConfig(text, "c.json", overrides);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}
std::string refusedWith(const char *pointer, const char *value) {
  Json json = minimal();
  json[Json::json_pointer(pointer)] = Json::parse(value);
  return refused(json.dump());
}

} // namespace

TEST(TrainConfig, AbsentFieldsAreZeroOrPyTorchs) {
  TrainConfig config = parse(minimal());
  EXPECT_EQ(config.losses.size(), 1u);
  LossConfig loss;
  loss.kind = LossKind::mse;
  EXPECT_EQ(config.losses[0], loss);
  EXPECT_EQ(config.optimizer, (OptimizerConfig{.kind = OptimizerKind::sgd, .lr = 0.1}));
  EXPECT_EQ(config.schedule, ScheduleConfig{});
  EXPECT_EQ(config.accumulate, 1);
  EXPECT_EQ(config.steps, 3);
  EXPECT_FALSE(config.shuffle || config.trainable || config.gradClipNorm || config.emaDecay || config.rematBytes);
  EXPECT_TRUE(config.dropout);

  Json json = minimal();
  json["optimizer"] = {{"name", "adagrad"}, {"lr", 1}};
  EXPECT_EQ(parse(json).optimizer, (OptimizerConfig{.kind = OptimizerKind::adagrad, .lr = 1, .eps = 1e-10}));
  json["optimizer"]["name"] = "adamw";
  EXPECT_EQ(parse(json).optimizer,
            (OptimizerConfig{.kind = OptimizerKind::adamw, .lr = 1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}));
  json["optimizer"]["name"] = "lion";
  EXPECT_EQ(parse(json).optimizer,
            (OptimizerConfig{.kind = OptimizerKind::lion, .lr = 1, .beta1 = 0.9, .beta2 = 0.99}));
}

TEST(TrainConfig, EveryFieldOfEveryKindArrives) {
  TrainConfig config = parseTrainConfig(R"({
    "net": "n", "batch": 8, "epochs": 5, "accumulate": 2, "shuffle": false, "drop_last": true, "seed": 7,
    "trainable": ["a", "b.*"], "grad_clip_norm": 1.5, "grad_clip_value": 0.5, "ema": 0.999, "dropout": false,
    "remat": 1e6, "remat_layers": ["fc?", "block*"], "batch_norm": {"momentum": 0.8, "frozen": ["bn?.weight", "s"]},
    "eval": {"every": 0, "batch": 100},
    "loss": [{"name": "softmax_cross_entropy", "label_smoothing": 0.1, "class_weights": [1, 0.5], "ignore_index": -100,
              "reduction": "sum", "scale": 2}, "l1", {"name": "huber", "delta": 2},
             {"name": "kl", "log_target": true, "reduction": "batch_mean"}, {"name": "bce_with_logits", "positive_weight": 3}],
    "optimizer": {"name": "sgd", "lr": 0.5, "momentum": 0.9, "nesterov": true, "weight_decay": 0.01},
    "groups": [{"match": "*.bias", "weight_decay": 0}, {"match": ["a"], "lr": 0.25}, {"match": ["c"], "lr_scale": 0}],
    "lr_schedule": {"name": "one_cycle", "max_lr": 1, "anneal": "linear", "total_steps": 9}})",
                                        "c.json");
  EXPECT_EQ(config.net, "n");
  EXPECT_EQ(config.epochs, 5);
  EXPECT_EQ(config.seed, 7u);
  EXPECT_TRUE(config.dropLast && !config.shuffle && !config.dropout);
  EXPECT_EQ(config.trainable, (std::vector<std::string>{"a", "b.*"}));
  EXPECT_EQ(config.gradClipNorm, 1.5);
  EXPECT_EQ(config.gradClipValue, 0.5);
  EXPECT_EQ(config.emaDecay, 0.999);
  EXPECT_EQ(config.rematBytes, 1000000);
  EXPECT_EQ(config.rematLayers, (std::vector<std::string>{"fc?", "block*"}));
  EXPECT_EQ(config.batchNormMomentum, 0.8);
  EXPECT_EQ(config.frozenNorms, (std::vector<std::string>{"bn?.weight", "s"}));
  EXPECT_EQ(config.evalEvery, 0);
  EXPECT_EQ(config.evalBatch, 100);
  ASSERT_EQ(config.losses.size(), 5u);
  EXPECT_EQ(config.losses[0].labelSmoothing, 0.1);
  EXPECT_EQ(config.losses[0].classWeights, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(config.losses[0].ignoreIndex, -100);
  EXPECT_EQ(config.losses[0].reduction, Reduction::sum);
  EXPECT_EQ(config.losses[0].scale, 2);
  EXPECT_EQ(config.losses[2].delta, 2);
  EXPECT_EQ(config.losses[3].reduction, Reduction::batchMean);
  EXPECT_TRUE(config.losses[3].logTarget);
  EXPECT_EQ(config.losses[4].positiveWeight, 3);
  ASSERT_EQ(config.groups.size(), 3u);
  EXPECT_EQ(config.groups[0], (ParameterGroup{{"*.bias"}, 1, 0.0}));
  EXPECT_EQ(config.groups[1], (ParameterGroup{{"a"}, 0.5, std::nullopt}));
  EXPECT_EQ(config.groups[2].lrScale, 0);
  EXPECT_EQ(config.schedule.kind, ScheduleKind::oneCycle);
  EXPECT_TRUE(config.schedule.linearAnneal);
  // What is written reads back the same, and the same again.
  std::string text = toJson(config);
  EXPECT_EQ(parseTrainConfig(text, "again"), config) << text;
  EXPECT_EQ(toJson(parseTrainConfig(text, "again")), text);
}

// What is written is what checkpoints know a configuration by: a field that came later is absent unless it says more.
TEST(TrainConfig, FieldsWithoutAFallbackAreAbsent) {
  auto written = [](const std::string &batchNorm) {
    return toJson(parseTrainConfig(
        R"({"loss": "mse", "optimizer": {"name": "sgd", "lr": 0.1}, "batch": 4, "steps": 1)" + batchNorm + "}",
        "given"));
  };
  std::string absent = written("");
  EXPECT_EQ(absent.find("statistics"), std::string::npos) << absent;
  EXPECT_NE(absent.find("\"batch_norm\": {}"), std::string::npos) << absent;
  EXPECT_EQ(written(R"(, "batch_norm": {"statistics": "all"})"), absent);
  std::string replica = written(R"(, "batch_norm": {"statistics": "replica"})");
  EXPECT_NE(replica.find(R"("statistics": "replica")"), std::string::npos) << replica;
  EXPECT_EQ(toJson(parseTrainConfig(replica, "again")), replica);
}

TEST(TrainConfig, EveryKindWritesWhatItReads) {
  auto check = [](const char *field, Json value, const auto &kinds) {
    for (auto &kind : kinds) {
      Json json = minimal();
      value["name"] = kind.name;
      json[field] = value;
      for (auto &f : kind.fields)
        if (f.required() && !json[field].contains(f.name))
          json[field][f.name] =
              std::string(f.name) == "milestones" || std::string(f.name) == "values" ? Json{1, 2} : Json(1);
      TrainConfig config = parse(json);
      EXPECT_EQ(parseTrainConfig(toJson(config), "again"), config) << kind.name;
    }
  };
  check("optimizer", {{"lr", 0.1}}, optimizerKinds());
  check("loss", Json::object(), lossKinds());
  check("lr_schedule", Json::object(), scheduleKinds());
}

TEST(TrainConfig, ErrorsNameFileFieldAndBothFacts) {
  EXPECT_EQ(refusedWith("/batch", "0"), "c.json: batch: found 0, expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refusedWith("/batch", "2.5"), "c.json: batch: found 2.5, expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refusedWith("/batch", "\"x\""),
            "c.json: batch: found \"x\", expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refusedWith("/batch", "99999999999999999999"),
            "c.json: batch: found 1e+20, expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refusedWith("/optimizer/lr", "-1"), "c.json: optimizer.lr: found -1, expected a number of at least 0");
  EXPECT_EQ(refusedWith("/optimizer/nesterov", "1"), "c.json: optimizer.nesterov: found 1, expected true or false");
  EXPECT_EQ(refusedWith("/optimizer/nesterov", "true"),
            "c.json: optimizer.nesterov: found true, expected a momentum above 0 and no dampening beside it");
  EXPECT_EQ(refusedWith("/optimizer", R"({"name": "adam", "lr": 1, "betas": [0.9, 1]})"),
            "c.json: optimizer.betas: found [0.9,1], expected a list of two numbers, each of at least 0 and below 1");
  EXPECT_EQ(refusedWith("/optimizer", R"({"name": "adam"})"),
            "c.json: optimizer.lr: is missing, expected a number of at least 0");
  EXPECT_EQ(refusedWith("/optimizer", R"({"name": "lbfgs", "lr": 1})"),
            "c.json: optimizer.name: found \"lbfgs\", expected an optimizer whose step evaluates the loss once; "
            "optim::Lbfgs of sprig/lbfgs.h is for loops of programs");
  EXPECT_EQ(refusedWith("/optimizer", "[]"), "c.json: optimizer: found [], expected a name, or an object with `name`");
  EXPECT_EQ(refusedWith("/loss", "[]"), "c.json: loss: found [], expected a loss for each output");
  EXPECT_EQ(refusedWith("/loss", R"(["mse", {"name": "mse", "reduction": "none"}])"),
            "c.json: loss[1].reduction: found \"none\", expected \"mean\" or \"sum\": a step minimises one number");
  EXPECT_EQ(refusedWith("/loss", R"({"name": "mse", "reduction": "batch_mean"})"),
            "c.json: loss.reduction: found \"batch_mean\", expected \"mean\" or \"sum\"");
  EXPECT_EQ(refusedWith("/epochs", "2"), "c.json: epochs: found 2, expected no epochs beside steps (3)");
  EXPECT_EQ(refusedWith("/trainable", "[\"a\", 1]"),
            "c.json: trainable: found [\"a\",1], expected a string or a list of strings");
  EXPECT_EQ(refusedWith("/remat_layers", "[]"), "c.json: remat_layers: found [], expected at least one name or glob");
  EXPECT_EQ(refusedWith("/batch_norm", R"({"frozen": []})"),
            "c.json: batch_norm.frozen: found [], expected at least one name or glob");
  EXPECT_EQ(refusedWith("/groups", R"([{"match": "a", "lr": 1, "lr_scale": 1}])"),
            "c.json: groups[0].lr_scale: found 1, expected one of lr and lr_scale");
  EXPECT_EQ(refusedWith("/lr_schedule", R"({"name": "warmup_cosine", "warmup_steps": 3, "total_steps": 3})"),
            "c.json: lr_schedule.total_steps: found 3, expected more than the 3 of warmup_steps");
  EXPECT_EQ(refusedWith("/lr_schedule", R"({"name": "multi_step", "milestones": [3, 2]})"),
            "c.json: lr_schedule.milestones: found [3,2], expected ascending times");
  EXPECT_EQ(refusedWith("/lr_schedule", R"({"name": "plateau", "metric": "accuracy"})"),
            "c.json: lr_schedule.metric: found \"accuracy\", expected \"loss\": no loss of the configuration is one of "
            "classes");
  EXPECT_EQ(refusedWith("/lr_schedule", R"({"name": "plateau", "factor": 1})"),
            "c.json: lr_schedule.factor: found 1, expected a number above 0 and below 1");
  EXPECT_EQ(refusedWith("/lr_schedule", R"({"name": "warm_restarts", "period": 0})"),
            "c.json: lr_schedule.period: found 0, expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refusedWith("/lr_schedule", "[]"), "c.json: lr_schedule.values: found [], expected at least one rate");
  Json huge = minimal();
  huge["batch"] = huge["accumulate"] = int64_t(1) << 40;
  EXPECT_EQ(refused(huge.dump()), "c.json: accumulate: found 1099511627776, expected a step of fewer samples (batch is "
                                  "1099511627776)");
}

TEST(TrainConfig, UnknownNamesComeWithANearOne) {
  EXPECT_TRUE(refusedWith("/bacth", "1").starts_with("c.json: unknown field 'bacth'; did you mean 'batch'?\nnote: "));
  EXPECT_TRUE(refusedWith("/optimizer/name", "\"adem\"")
                  .starts_with("c.json: optimizer: unknown optimizer 'adem'; did you mean 'adam'?\nnote: there are: "
                               "sgd, adam, adamw, "));
  EXPECT_EQ(
      refusedWith("/optimizer/betas", "[0, 0]"),
      "c.json: optimizer: unknown field 'betas'\nnote: sgd has: lr, weight_decay, momentum, dampening, nesterov, name");
  EXPECT_TRUE(refusedWith("/loss", "\"cross\"").starts_with("c.json: loss: unknown loss 'cross'\nnote: there are: "));
  EXPECT_TRUE(refusedWith("/lr_schedule", "\"cosin\"")
                  .starts_with("c.json: lr_schedule: unknown lr_schedule 'cosin'; did you mean 'cosine'?"));
}

TEST(TrainConfig, NotAConfiguration) {
  EXPECT_EQ(refused("[1]"), "c.json: found [1], expected an object with the fields of a configuration");
  EXPECT_NE(refused("{\"batch\": }").find("c.json: not JSON: parse error at line 1, column 11"), std::string::npos);
  EXPECT_NE(refused("").find("c.json: not JSON"), std::string::npos);
  EXPECT_NE(refused("{\"batch\": 1e999}").find("c.json: not JSON"), std::string::npos);
  EXPECT_EQ(refused(R"({"batch": 1, "loss": {"a": 1, "a": 2}})"), "c.json: the field 'a' is there twice");
  EXPECT_EQ(refused("{\"steps\": 1}"), "c.json: batch: is missing, expected an integer of at least 1");
  EXPECT_EQ(refused(R"({"batch": 1, "steps": 1})"), "c.json: loss: is missing, expected the name of a loss");
  EXPECT_EQ(refused(std::string(60, '[')).substr(0, 16), "c.json: not JSON");
  EXPECT_THROW(readTrainConfig("/no/such/file.json"), Error);
}

TEST(TrainConfig, FlagsOverrideFields) {
  TrainConfig config = parse(minimal(), {{"--batch", "batch", "16"}, {"--lr", "optimizer.lr", "0.5"}});
  EXPECT_EQ(config.batch, 16);
  EXPECT_EQ(config.optimizer.lr, 0.5);
  config = parse(minimal(), {{"--epochs", "epochs", "2"}}); // in place of the file's steps
  EXPECT_EQ(config.epochs, 2);
  EXPECT_FALSE(config.steps);
  EXPECT_TRUE(config.shuffle);
  config = parse(minimal(), {{"--set", "loss.reduction", "sum"}, {"--set", "lr_schedule.name", "constant"}});
  EXPECT_EQ(config.losses[0].reduction, Reduction::sum);
  EXPECT_EQ(refused(minimal().dump(), {{"--batch", "batch", "-1"}}, ErrorKind::usage),
            "--batch: found -1, expected an integer from 1 to 9007199254740992");
  EXPECT_EQ(refused(minimal().dump(), {{"--set", "steps.x", "1"}}, ErrorKind::usage),
            "--set: cannot set steps.x: the configuration has no object there");
  EXPECT_TRUE(refused(minimal().dump(), {{"--set", "optimizer.rate", "1"}}, ErrorKind::usage)
                  .starts_with("--set: unknown field 'rate'"));
}

TEST(TrainConfig, StepsComeFromTheData) {
  Json json = minimal();
  json.erase("steps");
  json["epochs"] = 3;
  TrainConfig config = parse(json);
  resolve(config, 10); // 4 + 4 + 2
  EXPECT_EQ(config.steps, 9);
  json["drop_last"] = true;
  config = parse(json);
  resolve(config, 10);
  EXPECT_EQ(config.steps, 6);
  EXPECT_THROW(resolve(config, 3), Error);
  EXPECT_THROW(resolve(config, 0), Error);
  json["accumulate"] = 2;
  config = parse(json);
  EXPECT_EQ(stepsPerEpoch(config, 17), 2);
  json["lr_schedule"] = {{"name", "warmup_cosine"}, {"warmup_steps", 100}};
  config = parse(json);
  EXPECT_THROW(resolve(config, 16), Error);
}

TEST(TrainConfig, NamesAndGlobs) {
  EXPECT_TRUE(matches("0.weight", "0.weight"));
  EXPECT_FALSE(matches("0.weight", "10.weight"));
  EXPECT_TRUE(matches("*.weight", "a.b.weight"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "axxbyybzc"));
  EXPECT_FALSE(matches("a*b*c", "axxbyybzcd"));
  EXPECT_TRUE(matches("?.bias", "3.bias"));
  EXPECT_FALSE(matches("?.bias", "33.bias"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("w*", "w*"));
  EXPECT_TRUE(matches("*a", "a*aa"));
}

TEST(TrainConfig, TheSchemaShowsWhatIsRead) {
  std::string text = describeSchema();
  Json json = Json::parse(schemaAsJson());
  auto shows = [&](const auto &fields) {
    for (auto &field : fields) EXPECT_NE(text.find(field.name), std::string::npos) << field.name;
  };
  shows(configFields());
  shows(groupFields());
  for (auto &kind : lossKinds()) {
    EXPECT_NE(text.find(std::string("  ") + kind.name + ": "), std::string::npos);
    EXPECT_EQ(json["loss"][kind.name]["fields"].size(), kind.fields.size());
    shows(kind.fields);
  }
  for (auto &kind : optimizerKinds()) EXPECT_EQ(json["optimizer"][kind.name]["fields"].size(), kind.fields.size());
  for (auto &kind : scheduleKinds()) EXPECT_EQ(json["lr_schedule"][kind.name]["fields"].size(), kind.fields.size());
  EXPECT_EQ(json["optimizer"]["adam"]["fields"]["betas"]["default"], (Json{0.9, 0.999}));
}

TEST(TrainConfig, TheGuideNamesEveryField) {
  std::ifstream file(SPRIG_SOURCE_DIR "/docs/training.md");
  std::string guide(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(guide.empty());
  auto named = [&](const std::string &name) {
    EXPECT_NE(guide.find("`" + name + "`"), std::string::npos) << "docs/training.md does not have `" << name << "`";
  };
  auto all = [&](const auto &fields) {
    for (auto &field : fields) named(field.name);
  };
  all(configFields());
  all(groupFields());
  for (auto &section : configSections()) named(section.name), all(section.fields);
  for (auto &kind : lossKinds()) named(kind.name), all(kind.fields);
  for (auto &kind : optimizerKinds()) named(kind.name), all(kind.fields);
  for (auto &kind : scheduleKinds()) named(kind.name), all(kind.fields);
}

// The reference runs beside the checkout, where they are.
TEST(TrainConfig, ReferenceConfigurations) {
  const char *shared = std::getenv("SPRIG_SHARED_DIR");
  fs::path folder = fs::path(shared ? shared : SPRIG_SOURCE_DIR "/../shared") / "training";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  for (auto &entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    TrainConfig config = readTrainConfig(entry.path() / "config.json");
    resolve(config, *config.steps * config.accumulate * config.batch);
    std::ifstream file(entry.path() / "reference.json");
    Json lr = Json::parse(file)["lr"];
    for (size_t t = 0; t < lr.size(); ++t)
      EXPECT_NEAR(lrAt(config, int64_t(t)), lr[t].get<double>(), 1e-15) << entry.path() << " step " << t;
  }
}

// Structs that programs fill in are held to the table that JSON is held to, with the same errors.
TEST(TrainConfig, FieldsByThemselves) {
  auto errorOf = [](auto body) -> std::string {
    try {
      body();
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::badInput);
      return error.what();
    }
    return "none";
  };
  const std::map<std::string, Json> required = {{"lr", 0.25},     {"step_size", 3},    {"milestones", {2, 5}},
                                                {"gamma", 0.5},   {"warmup_steps", 2}, {"period", 4},
                                                {"max_lr", 0.75}, {"values", {0.5, 1}}};
  auto jsonOf = [&](const auto &kind) {
    Json json = {{"name", kind.name}};
    for (auto &field : kind.fields)
      if (field.required()) json[field.name] = required.at(field.name);
    return json;
  };
  for (auto &kind : optimizerKinds()) {
    Json json = jsonOf(kind), whole = minimal();
    whole["optimizer"] = json;
    OptimizerConfig config = parseOptimizer(json.dump(), "here");
    EXPECT_EQ(config, parseTrainConfig(whole.dump(), "c.json").optimizer) << kind.name;
    EXPECT_EQ(parseOptimizer(toJson(config), "here"), config) << kind.name;
    check(config, "here");
    json["lr"] = -1.5, config.lr = -1.5;
    EXPECT_EQ(errorOf([&] { check(config, "here"); }), errorOf([&] { parseOptimizer(json.dump(), "here"); }));
    EXPECT_EQ(errorOf([&] { check(config, "here"); }),
              "here: optimizer.lr: found -1.5, expected a number of at least 0");
    config.lr = std::nan("");
    EXPECT_EQ(errorOf([&] { check(config, "here"); }),
              "here: optimizer.lr: found null, expected a number of at least 0");
  }
  for (auto &kind : scheduleKinds()) {
    Json json = jsonOf(kind), whole = minimal();
    whole["lr_schedule"] = json;
    ScheduleConfig config = parseSchedule(json.dump(), "here");
    EXPECT_EQ(config, parseTrainConfig(whole.dump(), "c.json").schedule) << kind.name;
    EXPECT_EQ(parseSchedule(toJson(config), "here"), config) << kind.name;
    if (config.kind == ScheduleKind::oneCycle) config.maxLr = 0.75; // absent: the optimizer's rate
    if (hasTotal(config.kind)) {
      EXPECT_EQ(errorOf([&] { check(config, "here"); }),
                "here: lr_schedule.total_steps: found 0, expected an integer from 1 to 9007199254740992");
      config.totalSteps = 9;
    }
    check(config, "here");
  }
  EXPECT_EQ(errorOf([] { check(ScheduleConfig{.kind = ScheduleKind::list}, "here"); }),
            "here: lr_schedule.values: found [], expected at least one rate");
  EXPECT_EQ(errorOf([] { parseSchedule("[1, 2", "here"); }).substr(0, 6), "here: ");
}

TEST(TrainConfig, NestingBeyondTheSchemaIsRefused) {
  for (size_t levels : {size_t(70), size_t(200'000)}) {
    std::string nested = std::string(levels, '[') + std::string(levels, ']');
    std::string text =
        R"({"loss": )" + nested + R"(, "optimizer": {"name": "sgd", "lr": 0.1}, "batch": 4, "steps": 3})";
    EXPECT_EQ(refused(text), "c.json: is nested deeper than 64 levels");
    EXPECT_EQ(refused(minimal().dump(), {{"--set", "loss", nested}}, ErrorKind::usage),
              "--set: is nested deeper than 64 levels");
  }
}
