// What the JIT takes for a model, and what packages that it makes say of their training: the reader is the command
// line's (test/Cli/model-kinds.test has the same of it).
#include "lib/JIT/ContextPool.h"
#include "lib/Model/ReadModel.h"
#include "lib/Model/TrainNote.h"
#include "lib/Pipeline/ReadText.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "sprig/train.h"
#include <gtest/gtest.h>

using namespace sprig;

static const char kRelu[] =
    R"(func.func @main(%x: tensor<2x3xf32> {nn.name = "x"}) -> (tensor<2x3xf32> {nn.name = "y"}) {
  %0 = nn.relu %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})";

// A layer of four samples, and what it may be trained by.
static const char kLayer[] = R"(nn.param @weight = dense<0.5> : tensor<3x2xf32>
func.func @main(%x: tensor<4x3xf32> {nn.name = "x"}) -> (tensor<4x2xf32> {nn.name = "y"}) {
  %w = nn.get_param @weight : tensor<3x2xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  return %0 : tensor<4x2xf32>
})";
static const char kConfig[] =
    R"({"loss": "mse", "optimizer": {"name": "sgd", "lr": 0.1}, "batch": 4, "steps": 5, "trainable": ["weight"]REMAT})";

static std::string config(const std::string &remat) {
  std::string text = kConfig;
  return text.replace(text.find("REMAT"), 5, remat.empty() ? "" : ", \"remat\": " + remat);
}

static std::string bytecodeOf(const std::string &text) {
  auto lease = ContextPool::instance().take();
  auto module = readText(*lease.context, text, "text", "");
  std::string code;
  llvm::raw_string_ostream stream(code);
  EXPECT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
  return code;
}

template <typename F> static std::string errorOf(F &&f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

static std::string errorOfModel(const std::string &content) {
  return errorOf([&] { compileToPackage(Model::text(content, "m")); });
}

static std::vector<float> run(const Model &model) {
  Program program = compile(model);
  std::vector<float> x = {-2, -1, 0, 1, 2, 3};
  auto outputs = program({rt::TensorView(x.data(), {2, 3})});
  return {outputs[0].as<float>(), outputs[0].as<float>() + 6};
}

TEST(ReadModel, BytecodeIsWhatItsTextIs) {
  std::string code = bytecodeOf(kRelu);
  ASSERT_EQ(code.substr(0, 4), "ML\xefR");
  std::vector<float> expected = {0, 0, 0, 1, 2, 3};
  EXPECT_EQ(run(Model::text(kRelu)), expected);
  EXPECT_EQ(run(Model::bytes({reinterpret_cast<const uint8_t *>(code.data()), code.size()})), expected);
}

TEST(ReadModel, WhatIsNoModelIsToldFromABrokenOne) {
  EXPECT_EQ(errorOfModel(""), "m: the file is empty, expected a model");
  EXPECT_EQ(errorOfModel("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"),
            "m: not a model but a Git LFS pointer to one: fetch the file with 'git lfs pull'");
  EXPECT_EQ(errorOfModel("Notes on a network, which are none."),
            "m: not a model: neither a package, nor ONNX, nor MLIR text with a function or a program");
  std::string binary("\x08\x07garbage\0\1\2", 12);
  EXPECT_EQ(modelKind(binary, "m"), ModelKind::onnx);
  EXPECT_EQ(modelKind("SPRIGPKG", "m"), ModelKind::package);
}

TEST(ReadModel, PackagesThatTrainSayWhatTheyWereMadeOf) {
  for (const std::string &remat : {std::string(), std::string("4096")}) {
    auto bytes = compileTraining(Model::text(kLayer, "layer"), config(remat), {.steps = {4}});
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    size_t begin = text.find("{\"config\"");
    ASSERT_NE(begin, text.npos) << "no fact of training";
    TrainNote note = parseTrainNote(text.substr(begin, text.find('\0', begin) - begin), "layer");
    EXPECT_EQ(note.trainable, std::vector<std::string>{"weight"});
    EXPECT_EQ(note.samples, 4);
    EXPECT_EQ(note.config.steps, 5);
    EXPECT_EQ(note.config.rematBytes, remat.empty() ? std::optional<int64_t>() : 4096);
  }
}

TEST(ReadModel, TrainingRefusesWhatTheCommandLineDoes) {
  auto package = compileToPackage(Model::text(kRelu));
  EXPECT_EQ(errorOf([&] { compileTraining(Model::bytes(package, "p"), config(""), {.steps = {4}}); }),
            "p: is a package already; what it trains is compiled in");
  EXPECT_EQ(errorOf([&] { compileTraining(Model::text(kLayer, "layer"), config(""), {.steps = {3}}); }),
            "layer: has no function for a batch of 3 samples");
  EXPECT_EQ(errorOf([&] {
              compileTraining(Model::text(kLayer, "layer"), config(""), {.steps = {4}}, {.dims = {{"batch", {4}}}});
            }),
            "layer: is MLIR text, whose inputs and their shapes are fixed; dims, ranges, sums, shapes and values are "
            "for ONNX models");
  EXPECT_EQ(errorOf([&] {
              compileTraining(Model::text(kLayer, "layer"), config(""), {.steps = {4}}, {.states = {{"x", "y"}}});
            }),
            "states 'x': a training step takes sequences from their beginning");
  EXPECT_EQ(
      errorOf([&] { compileTraining(Model::text(kLayer, "layer"), config(""), {.steps = {4}}, {.mesh = "data=2"}); }),
      "mesh 'data=2': is for inference; 'sprig compile --train --mesh' makes steps of ranks, and Trainer trains "
      "on them");
}
