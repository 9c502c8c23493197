// A folder of checkpoints with a state that its step decides. For the tests of lib/Checkpoint.
#pragma once
#include "lib/Checkpoint/Writer.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sprig::checkpoints {

namespace fs = std::filesystem;

/// Arrays as a state has them, different at every step.
struct State {
  std::vector<float> weights;
  int64_t step;

  explicit State(int64_t step, size_t size = 1000) : weights(size), step(step) {
    for (size_t i = 0; i < size; ++i) weights[i] = float(i) + float(step) * 0.5f;
  }
  std::vector<ArrayView> views() const {
    auto bytes = [](const void *data, size_t size) { return std::span(static_cast<const char *>(data), size); };
    return {{"0.weight", data::DType::f32, {int64_t(weights.size())}, bytes(weights.data(), weights.size() * 4)},
            {"optimizer/step", data::DType::i64, {}, bytes(&step, 8)}};
  }
};

inline Manifest manifestOf(int64_t step) {
  return {step, step / 10, step % 10, 42, "config", "model", R"({"optimizer":{"lr":0.1}})"};
}

/// Whether a checkpoint has all of a step's state.
inline void expectState(const Checkpoint &checkpoint, const State &state) {
  EXPECT_EQ(checkpoint.manifest, manifestOf(state.step));
  ASSERT_EQ(checkpoint.arrays.size(), 2u);
  std::vector<ArrayView> views = state.views();
  for (size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(checkpoint.arrays[i].name, views[i].name);
    EXPECT_EQ(checkpoint.arrays[i].dtype, views[i].dtype);
    EXPECT_EQ(checkpoint.arrays[i].shape, views[i].shape);
    EXPECT_TRUE(std::equal(views[i].bytes.begin(), views[i].bytes.end(), checkpoint.arrays[i].bytes.begin(),
                           checkpoint.arrays[i].bytes.end()));
  }
}

template <typename Run> std::string refusal(Run run, ErrorKind kind = ErrorKind::badInput) {
  try {
    run();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

class Checkpoints : public ::testing::Test {
protected:
  fs::path root = fs::temp_directory_path() / ("sprig-checkpoint-test-" + std::to_string(::getpid()));
  fs::path folder = root / "run";
  void SetUp() override { fs::create_directories(root); }
  void TearDown() override { fs::remove_all(root); }

  void save(std::vector<int64_t> steps, int keep = 3) {
    Writer writer(folder, keep);
    for (int64_t step : steps) writer.save(manifestOf(step), State(step).views());
    writer.wait();
  }
  bool nothingAside() {
    for (auto &entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with(".")) return false;
    return true;
  }
};

} // namespace sprig::checkpoints
